// Your bot: it chooses one of `moves`, given `view`.
import type { Move, MoveRequest, View } from "./protocol.js";
import { serve } from "../server.mjs";

/** The number of cards in a move: "play:3s3h" has two. */
const cards = (move: Move): number =>
  ((move.split(":")[1] ?? "").split("=")[0] ?? "").length / 2;

/**
 * Choose one of `moves`, exactly as written.
 *
 * `moves` are all legal moves: `pass` first, then plays in order of number of cards and rank.
 * Return `[move, { comment: "a bluff", nodes: 480 }]` to add a comment and numbers.
 * Compare `view.game` to narrow the type of `view` to one game.
 */
function choose(view: View, moves: readonly Move[], _request: MoveRequest): Move {
  const plays = moves.filter((move) => move !== "pass");
  const least = plays[0];
  if (least === undefined) return "pass";
  if (view.phase === "auction") return least === "bid:1" ? "bid:1" : "pass";
  if (view.game !== "ninefivetwo" && view.table !== null) {
    return view.table.seat === view.seat ? "pass" : least; // Zheng Fen: take my trick; else the lowest play
  }
  const most = Math.max(...plays.map(cards));
  return plays.find((move) => cards(move) === most) ?? least; // lead as many cards as possible
}

serve({
  name: "my-typescript-bot",
  version: "0.1",
  games: ["doudizhu", "dasan", "zhengfen", "ninefivetwo"],
  choose,
});
