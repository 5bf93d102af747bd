import { listGames, listMoves, makeMoves, startGame, validateMove } from "./orval/stich.js";
import type { StartRequest, State } from "./orval/stich.js";
import { ok, play, url } from "./play.js";

// The addresses of this client are relative to the page that it is part of; here there is no page.
const { fetch } = globalThis;
globalThis.fetch = (path, request) => fetch(url + String(path), request);

const starts: StartRequest[] = [
  { game: "doudizhu", players: 3, seed: "walk", options: { spring: true } },
  { game: "dasan", players: null, options: { deals: 1 } },
  { game: "zhengfen", options: { deals: 1 } },
  { game: "ninefivetwo", options: { deals: 1 } },
];


await play<State>({
  games: async () => {
    const answer = await listGames();
    if (answer.status !== 200) throw new Error(answer.data.detail);
    return answer.data.games.map(({ game }) => game);
  },
  async start(game) {
    const answer = await startGame(ok(starts.find((start) => start.game === game)));
    if (answer.status !== 200) throw new Error(answer.data.detail);
    return answer.data.state;
  },
  async moves(state) {
    const answer = await listMoves({ state, details: true });
    if (answer.status !== 200) throw new Error(answer.data.detail);
    const { moves, details } = answer.data;
    return { moves, categories: ok(details).map((one) => one.category) };
  },
  async isLegal(state, move) {
    const answer = await validateMove({ state, move });
    if (answer.status !== 200) throw new Error(answer.data.detail);
    return answer.data.legal;
  },
  async advance(state, move) {
    const answer = await makeMoves({ state, moves: [move] });
    if (answer.status !== 200) throw new Error(answer.data.detail);
    return answer.data.state;
  },
  async refusal() {
    const answer = await startGame({ game: "dasan", players: 9 });
    if (answer.status !== 422) throw new Error("a wrong start was accepted");
    return answer.data.code;
  },
});
