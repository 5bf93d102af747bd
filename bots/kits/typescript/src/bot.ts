// Your bot. Everything it may know is in `view`, everything it may do in `moves`.
import type { Move, MoveRequest, View } from "./protocol.js";
import { serve } from "./server.js";

/** The number of cards in a move: "play:3s3h" has two. */
const cards = (move: Move): number =>
  ((move.split(":")[1] ?? "").split("=")[0] ?? "").length / 2;

/**
 * Choose one of `moves`, letter by letter as it stands there.
 *
 * `moves` are all legal moves: `pass` first, plays by number of cards, then rank. Where `view.game`
 * has been compared, the type of `view` is that of the one game.
 */
function choose(view: View, moves: readonly Move[], _request: MoveRequest): Move {
  const plays = moves.filter((move) => move !== "pass");
  const least = plays[0];
  if (least === undefined) return "pass";
  if (view.phase === "auction") return least === "bid:1" ? "bid:1" : "pass";
  if (view.game !== "ninefivetwo" && view.table !== null) {
    return view.table.seat === view.seat ? "pass" : least; // Zheng Fen: take the trick; else the least
  }
  const most = Math.max(...plays.map(cards));
  return plays.find((move) => cards(move) === most) ?? least; // lead with as many cards as go
}

serve({ name: "my-typescript-bot", version: "0.1", choose });
