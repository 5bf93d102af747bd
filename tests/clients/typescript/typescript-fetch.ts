import { ok, play, url } from "./play.js";
import { Configuration, GamesApi, PlayApi, ResponseError } from "./typescript-fetch/index.js";
import type { StartRequest, State } from "./typescript-fetch/index.js";

const configuration = new Configuration({ basePath: url });
const games = new GamesApi(configuration);
const api = new PlayApi(configuration);
const starts: StartRequest[] = [
  { game: "doudizhu", players: 3, seed: "walk", options: { spring: true } },
  { game: "dasan", players: null, options: { deals: 1 } },
  { game: "zhengfen", options: { deals: 1 } },
  { game: "ninefivetwo", options: { deals: 1 } },
];

await play<State>({
  games: async () => (await games.listGames()).games.map(({ game }) => game),
  async start(game) {
    const startRequest = ok(starts.find((start) => start.game === game));
    return (await api.startGame({ startRequest })).state;
  },
  async moves(state) {
    const answer = await api.listMoves({ movesRequest: { state, details: true } });
    return { moves: answer.moves, categories: ok(answer.details).map((one) => one.category) };
  },
  async isLegal(state, move) {
    return (await api.validateMove({ validateRequest: { state, move } })).legal;
  },
  async advance(state, move) {
    return (await api.makeMoves({ advanceRequest: { state, moves: [move] } })).state;
  },
  async refusal() {
    try {
      await api.startGame({ startRequest: { game: "dasan", players: 9 } });
    } catch (error) {
      if (error instanceof ResponseError) return (await error.response.json()).code;
      throw error;
    }
    throw new Error("a wrong start was accepted");
  },
});
