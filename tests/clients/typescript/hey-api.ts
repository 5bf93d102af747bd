import { client } from "./hey-api/client.gen.js";
import { listGames, listMoves, makeMoves, startGame, validateMove } from "./hey-api/index.js";
import type { StartRequest, State } from "./hey-api/index.js";
import { ok, play, url } from "./play.js";

client.setConfig({ baseUrl: url });
const starts: StartRequest[] = [
  { game: "doudizhu", players: 3, seed: "walk", options: { spring: true } },
  { game: "dasan", players: null, options: { deals: 1 } },
  { game: "zhengfen", options: { deals: 1 } },
  { game: "ninefivetwo", options: { deals: 1 } },
];

await play<State>({
  games: async () => ok((await listGames()).data).games.map(({ game }) => game),
  async start(game) {
    const body = ok(starts.find((start) => start.game === game));
    return ok((await startGame({ body })).data).state;
  },
  async moves(state) {
    const { data } = await listMoves({ body: { state, details: true } });
    return { moves: ok(data).moves, categories: ok(ok(data).details).map((one) => one.category) };
  },
  isLegal: async (state, move) => ok((await validateMove({ body: { state, move } })).data).legal,
  async advance(state, move) {
    return ok((await makeMoves({ body: { state, moves: [move] } })).data).state;
  },
  refusal: async () => ok((await startGame({ body: { game: "dasan", players: 9 } })).error).code,
});
