// The HTTP server of the bot: implements the bot protocol.
import { createServer } from "node:http";

const LIMIT = 16 * 1024 * 1024; // bytes of one request; far above the longest list of moves

/** A response other than 200: its status and message. */
class HttpError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

async function readJson(request) {
  const chunks = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > LIMIT) throw new HttpError(413, "The request is too large.");
    chunks.push(chunk);
  }
  let body;
  try {
    body = JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    throw new HttpError(400, "The request is not JSON.");
  }
  if (!isObject(body)) throw new HttpError(400, "The request is not a JSON object.");
  return body;
}

/** The port to listen on: $PORT, or 9000 without it. Ends the process if it is not a port number. */
function portNumber(name) {
  const port = process.env.PORT || "9000";
  if (/^\d{1,5}$/.test(port) && Number(port) <= 65535) return Number(port);
  console.error(`${name}: PORT must be a number from 0 to 65535, not "${port}"`);
  process.exit(2);
}

/**
 * Listen on 127.0.0.1 at $PORT (9000 without it) until the process ends.
 *
 * `choose(view, moves, request)` returns a move, or [move, info], or a promise of one; `start(request)` and
 * `end(request)`, if given, are called when a match starts and ends.
 */
export function serve({ name, version, author, games, choose, start, end }) {
  const hooks = { "POST /start": start, "POST /end": end };

  async function answer(request) {
    const call = `${request.method} ${request.url.split("?")[0]}`;
    if (call === "GET /") return { name, version, author, protocol: 1, games };
    if (call !== "POST /move" && !hooks[call]) {
      throw new HttpError(404, `There is no ${call}; this bot has GET / and POST /move.`);
    }
    const body = await readJson(request);
    if (hooks[call]) {
      await hooks[call](body);
      return {};
    }
    if (!Array.isArray(body.moves) || body.moves.length === 0 || !isObject(body.view)) {
      throw new HttpError(400, "A move request needs view and moves.");
    }
    const [move, info] = [await choose(body.view, body.moves, body)].flat();
    if (typeof move !== "string") throw new TypeError(`choose must return a string, not ${move}`);
    return { move, info };
  }

  const server = createServer(async (request, response) => {
    let status = 200;
    let body;
    try {
      body = await answer(request);
    } catch (error) {
      status = error instanceof HttpError ? error.status : 500;
      body = { error: error instanceof Error ? error.message : String(error) };
      if (status === 500) console.error(error);
    }
    const bytes = Buffer.from(JSON.stringify(body));
    const headers = { "Content-Type": "application/json", "Content-Length": bytes.length };
    if (!request.complete) headers.Connection = "close"; // the rest of it is still on the way
    response.writeHead(status, headers);
    response.end(bytes);
  });
  server.keepAliveTimeout = 0; // the runner keeps its connection between moves: never close it first
  server.on("error", (error) => {
    console.error(`${name}: ${error.message}; set PORT to another port`);
    process.exit(1);
  });
  server.listen(portNumber(name), "127.0.0.1", () => {
    console.error(`${name} ${version} listens on http://127.0.0.1:${server.address().port}`);
  });
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(0));
}
