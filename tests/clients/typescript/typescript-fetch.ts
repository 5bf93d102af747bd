import { play, url } from "./play.js";
import { Configuration, GamesApi, PlayApi, ResponseError } from "./typescript-fetch/index.js";
import type { State } from "./typescript-fetch/index.js";

const configuration = new Configuration({ basePath: url });
const api = new PlayApi(configuration);

await play<State>({
  games: async () => (await new GamesApi(configuration).listGames()).games,
  start: async (startRequest) => (await api.startGame({ startRequest })).state,
  moves: (state) => api.listMoves({ movesRequest: { state, details: true } }),
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
