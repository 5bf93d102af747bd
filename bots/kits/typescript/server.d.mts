// The types of server.mjs, the HTTP server of bot.ts.
import type { EndRequest, Game, Info, Move, MoveRequest, StartRequest, View } from "./src/protocol.js";

/** A move, or a move with a comment and numbers. */
export type Chosen = Move | [Move, Info];

export interface Bot {
  name: string;
  version: string;
  author?: string;
  games: Game[];
  choose(view: View, moves: readonly Move[], request: MoveRequest): Chosen | Promise<Chosen>;
  start?(request: StartRequest): void | Promise<void>;
  end?(request: EndRequest): void | Promise<void>;
}

/** Listen on 127.0.0.1 at $PORT (default 9000) until the process ends. */
export function serve(bot: Bot): void;
