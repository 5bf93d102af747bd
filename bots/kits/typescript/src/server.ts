// The HTTP server of bot.ts: implements the bot protocol.
import { createServer, type IncomingMessage } from "node:http";
import type { Card, EndRequest, Game, Info, Move, MoveRequest, StartRequest, View } from "./protocol.js";

const LIMIT = 16 * 1024 * 1024; // bytes of one request; far above the longest list of moves

/** A move, or with it what to say beside it. */
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

/** A response other than 200: its status and message. */
class HttpError extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

async function readJson(request: IncomingMessage): Promise<object> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > LIMIT) throw new HttpError(413, "The request is too large.");
    chunks.push(chunk);
  }
  let body: unknown;
  try {
    body = JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    throw new HttpError(400, "The request is not JSON.");
  }
  if (body === null || typeof body !== "object" || Array.isArray(body)) {
    throw new HttpError(400, "The request is not a JSON object.");
  }
  return body;
}

/** Checks only what a decision needs: the runner conforms to the contract. */
function isMoveRequest(body: object): body is MoveRequest {
  const { view, moves } = body as Partial<MoveRequest>;
  return typeof view === "object" && view !== null && Array.isArray(moves) && moves.length > 0;
}

/** The port to listen on: $PORT, or 9000 without it. Ends the process if it is not a port number. */
function portNumber(name: string): number {
  const port = process.env["PORT"] || "9000";
  if (/^\d{1,5}$/.test(port) && Number(port) <= 65535) return Number(port);
  console.error(`${name}: PORT must be a number from 0 to 65535, not "${port}"`);
  process.exit(2);
}

/** Listen on 127.0.0.1 at $PORT (9000 without it) until the process ends. */
export function serve(bot: Bot): void {
  const { name, version, author, games } = bot;
  const about: Card = { name, version, ...(author === undefined ? {} : { author }), protocol: 1, games };

  async function answer(request: IncomingMessage): Promise<object> {
    const path = (request.url ?? "/").split("?")[0];
    if (path === "/") {
      if (request.method !== "GET" && request.method !== "HEAD") throw new HttpError(405, "GET only.");
      return about;
    }
    if (path !== "/move" && path !== "/start" && path !== "/end") {
      throw new HttpError(404, "The paths are GET / and POST /move, /start and /end.");
    }
    if (request.method !== "POST") throw new HttpError(405, "POST only.");
    const body = await readJson(request);
    if (path === "/start") await bot.start?.(body as StartRequest);
    if (path === "/end") await bot.end?.(body as EndRequest);
    if (path !== "/move") return {};
    if (!isMoveRequest(body)) {
      throw new HttpError(400, "A move request needs view and moves.");
    }
    const [move, info]: unknown[] = [await bot.choose(body.view, body.moves, body)].flat();
    if (typeof move !== "string") throw new TypeError(`choose must return a string, not ${move}`);
    return { move, info };
  }

  const server = createServer(async (request, response) => {
    let status = 200;
    let body: object;
    try {
      body = await answer(request);
    } catch (error) {
      status = error instanceof HttpError ? error.status : 500;
      body = { error: error instanceof Error ? error.message : String(error) };
      if (status === 500) console.error(error);
    }
    const bytes = Buffer.from(JSON.stringify(body));
    response.writeHead(status, {
      "Content-Type": "application/json",
      "Content-Length": bytes.length,
      // Close the connection if the rest of a rejected request is still to come.
      ...(request.complete ? {} : { Connection: "close" }),
    });
    response.end(bytes);
  });
  server.keepAliveTimeout = 0; // the runner keeps its connection between moves: never close it first
  const port = portNumber(name);
  server.on("error", (error) => {
    console.error(`${name}: ${error.message}; set PORT to another port`);
    process.exit(1);
  });
  server.listen(port, "127.0.0.1", () => {
    const address = server.address();
    const bound = typeof address === "object" ? address?.port : port;
    console.error(`${name} ${version} listens on http://127.0.0.1:${bound}`);
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(0));
}
