import { listGames, listMoves, makeMoves, startGame, validateMove } from "./orval/stich.js";
import type { State } from "./orval/stich.js";
import { play, url } from "./play.js";

// The addresses of this client are relative to the page that it is part of; here there is no page.
const { fetch } = globalThis;
globalThis.fetch = (path, request) => fetch(url + String(path), request);

function data<A extends { status: number; data: unknown }, S extends A["status"]>(
  answer: A,
  status: S,
): Extract<A, { status: S }>["data"] {
  if (answer.status !== status) throw new Error(JSON.stringify(answer.data));
  return answer.data;
}

await play<State>({
  games: async () => data(await listGames(), 200).games,
  start: async (body) => data(await startGame(body), 200).state,
  moves: async (state) => data(await listMoves({ state, details: true }), 200),
  isLegal: async (state, move) => data(await validateMove({ state, move }), 200).legal,
  advance: async (state, move) => data(await makeMoves({ state, moves: [move] }), 200).state,
  refusal: async () => data(await startGame({ game: "dasan", players: 9 }), 422).code,
});
