// The HTTP server of the bot: implements the bot protocol.
import { createServer } from "node:http";
import { json } from "node:stream/consumers";

/**
 * Listen on 127.0.0.1 at $PORT (default 9000) until the process ends.
 *
 * `choose(view, moves, request)` returns a move, or [move, info], or a promise of either. If given,
 * `start(request)` and `end(request)` are called when a match starts and ends.
 */
export function serve({ name, version, author, games, choose, start, end }) {
  const hooks = { "POST /start": start, "POST /end": end };

  /** The status and body of the answer to a request. */
  async function decide(request) {
    const call = `${request.method} ${request.url}`;
    switch (call) {
      case "GET /":
        return [200, { name, version, author, protocol: 1, games }];
      case "POST /move": {
        const body = await json(request);
        const [move, info] = [await choose(body.view, body.moves, body)].flat();
        if (typeof move !== "string") throw new TypeError(`choose must return a string, not ${move}`);
        return [200, { move, info }];
      }
      default: // a runner that reads 404 at /start or /end does not call it again
        if (!hooks[call]) return [404, { error: "The paths are GET / and POST /move." }];
        await hooks[call](await json(request));
        return [200, {}];
    }
  }

  const server = createServer(async (request, response) => {
    const answer = (status, body) => {
      const text = JSON.stringify(body); // fails if the info has a BigInt
      response.statusCode = status;
      response.setHeader("Content-Type", "application/json");
      response.end(text);
    };
    try {
      answer(...(await decide(request)));
    } catch (error) {
      console.error(error);
      answer(500, { error: error instanceof Error ? error.message : String(error) });
    }
  });
  server.keepAliveTimeout = 0; // the runner keeps its connection between moves: never close it first
  const port = process.env.PORT || "9000";
  const refuse = (error) => {
    console.error(`${name}: cannot listen on port ${port}: ${error.message}; set PORT to another port`);
    process.exit(1);
  };
  server.on("error", refuse);
  try {
    server.listen(Number(port), "127.0.0.1", () => {
      console.error(`${name} ${version} listens on http://127.0.0.1:${server.address().port}`);
    });
  } catch (error) {
    refuse(error); // not a valid port number
  }
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit(0));
}
