// Your bot: it chooses one of `moves`, given `view`.
import { serve } from "./server.mjs";

/** The number of cards in a move: "play:3s3h" has two. */
const cards = (move) => (move.split(":")[1] ?? "").split("=")[0].length / 2;

/**
 * Choose one of `moves`, exactly as written.
 *
 * @param {object} view  what your seat knows: game, phase, seat, hand, counts, table, history, …
 * @param {string[]} moves  every legal move; `pass` first,
 *   then plays in order of number of cards and rank
 * @param {object} request  the whole request: match, turn, clock: {move_ms, bank_ms}, …
 * @returns {string | [string, object]}  the move, or [move, {comment: "a bluff", nodes: 480}]
 */
function choose(view, moves, request) {
  const plays = moves.filter((move) => move !== "pass");
  if (plays.length === 0) return "pass";
  if (view.phase === "auction") return plays[0] === "bid:1" ? "bid:1" : "pass";
  if (view.table?.seat === view.seat) return "pass"; // Zheng Fen: take my trick
  if (view.table) return plays[0]; // the lowest play that wins
  const most = Math.max(...plays.map(cards));
  return plays.find((move) => cards(move) === most); // lead as many cards as possible
}

serve({
  name: "my-javascript-bot",
  version: "0.1",
  games: ["doudizhu", "dasan", "zhengfen", "ninefivetwo"],
  choose,
});
