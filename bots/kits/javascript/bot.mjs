// Your bot. Everything it may know is in `view`, everything it may do in `moves`.
import { serve } from "./server.mjs";

/** The cards of a move: "play:3s3h" has two. */
const cards = (move) => (move.split(":")[1] ?? "").split("=")[0].length / 2;

/**
 * Choose one of `moves`, letter by letter as it stands there.
 *
 * @param {object} view  what your seat knows: game, phase, seat, hand, counts, table, history, …
 * @param {string[]} moves  every legal move; `pass` first, plays by number of cards, then rank
 * @param {object} request  the whole request: match, turn, clock: {move_ms, bank_ms}, …
 * @returns {string}
 */
function choose(view, moves, request) {
  const plays = moves.filter((move) => move !== "pass");
  if (plays.length === 0) return "pass";
  if (view.phase === "auction") return plays[0] === "bid:1" ? "bid:1" : "pass";
  if (view.table?.seat === view.seat) return "pass"; // Zheng Fen: the trick is mine
  if (view.table) return plays[0]; // follow with the least that wins
  const most = Math.max(...plays.map(cards));
  return plays.find((move) => cards(move) === most); // lead with as many cards as go
}

serve({ name: "my-javascript-bot", version: "0.1", choose });
