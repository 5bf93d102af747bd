import { client } from "./hey-api/client.gen.js";
import { listGames, listMoves, makeMoves, startGame, validateMove } from "./hey-api/index.js";
import type { State } from "./hey-api/index.js";
import { ok, play, url } from "./play.js";

client.setConfig({ baseUrl: url });

await play<State>({
  games: async () => ok((await listGames()).data).games,
  start: async (body) => ok((await startGame({ body })).data).state,
  moves: async (state) => ok((await listMoves({ body: { state, details: true } })).data),
  isLegal: async (state, move) => ok((await validateMove({ body: { state, move } })).data).legal,
  async advance(state, move) {
    return ok((await makeMoves({ body: { state, moves: [move] } })).data).state;
  },
  refusal: async () => ok((await startGame({ body: { game: "dasan", players: 9 } })).error).code,
});
