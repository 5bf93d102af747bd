"""The Python kit: ``run`` serves a function as a bot.

    from bots import kit

    def move(view, moves):
        return moves[0]

    if __name__ == "__main__":
        kit.run(move, name="first", version="1.0", games=["doudizhu"])

``view`` is what the bot's seat may know, and ``moves`` are the legal moves, as in the request. The
function returns one of the moves, or ``(move, info)``, with a comment and numbers for replays and
standings: ``{"comment": "a bluff", "nodes": 480}``. A bot in front of another program returns
``(move, info, why)`` if the move is not that program's own. A third parameter named ``clock`` gets
``{"move_ms", "bank_ms"}``, and one named ``request`` the whole body of ``POST /move``.

The file is self-contained, since it is copied next to a bot. It uses only modules of the standard
library that import quickly, because a runner starts a bot for every table.
"""

import argparse
import contextlib
import inspect
import json
import os
import re
import socketserver
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler
from typing import Any

PROTOCOL = 1  # a literal, since the file is self-contained; a test compares it with the contract
DEFAULT_PORT = 9000
# The largest list of legal moves (Zheng Fen, both jokers) is about 1 MiB of JSON.
MAX_BODY = 16 * 1024 * 1024

Info = Mapping[str, str | float]
MoveFunction = Callable[..., str | tuple[str, Info] | tuple[str, Info, str | None]]
Hook = Callable[[dict[str, Any]], object]


class HttpError(Exception):
    """An error that is answered with a status other than 200."""

    def __init__(self, status: HTTPStatus, detail: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail


def adapt(move: MoveFunction) -> Callable[[dict[str, Any]], Any]:
    """Return a function that takes the body of ``POST /move``, and returns what ``move`` returns.

    That function calls ``move`` with the parts of the body that are named in the module docstring.
    Parameters of ``move`` that have a default keep it.

    Raises:
        TypeError: if ``move`` does not take ``(view, moves)``, with or without a third parameter
            named ``clock`` or ``request``.
    """
    wanted = [
        f"*, {name}" if parameter.kind is parameter.KEYWORD_ONLY else name
        for name, parameter in inspect.signature(move).parameters.items()
        if parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
        and parameter.default is parameter.empty
    ]
    match wanted:
        case [_, _]:
            return lambda request: move(request["view"], request["moves"])
        case [_, _, "clock"]:
            return lambda request: move(request["view"], request["moves"], request["clock"])
        case [_, _, "request"]:
            return lambda request: move(request["view"], request["moves"], request)
    raise TypeError(
        f"{getattr(move, '__name__', 'move')} must take (view, moves), (view, moves, clock) or "
        f"(view, moves, request), not ({', '.join(wanted)})"
    )


class Bot:
    """A bot's answers, without HTTP. The parameters are those of ``run``.

    ``card`` is the answer to ``GET /``. ``paths`` is a string that lists the bot's paths. Several
    threads may call ``reply`` at once.

    Raises:
        TypeError: if ``move`` has parameters that ``adapt`` rejects, or if ``games`` is a string.
    """

    def __init__(
        self,
        move: MoveFunction,
        *,
        name: str,
        version: str,
        games: Sequence[str],
        author: str | None = None,
        supports: Mapping[str, Any] | None = None,
        start: Hook | None = None,
        end: Hook | None = None,
    ) -> None:
        if isinstance(games, str):
            raise TypeError(f"games must be a list of names, as in [{games!r}]")
        self._decide = adapt(move)
        self._name = getattr(move, "__name__", "move")
        hooks = {"/start": start, "/end": end}
        self._hooks = {path: hook for path, hook in hooks.items() if hook is not None}
        about = {"name": name, "version": version, "author": author, "supports": supports}
        self.card: dict[str, Any] = {
            key: value for key, value in about.items() if value is not None
        }
        self.card |= {"protocol": PROTOCOL, "games": list(games)}
        self.paths = ", ".join(("GET /", "POST /move", *(f"POST {path}" for path in self._hooks)))

    def reply(self, path: str, body: bytes) -> Mapping[str, Any]:
        """Return the answer to a POST request.

        The answer to ``/move`` has the move, which need not be legal, and any info and fallback.
        For ``/start`` and ``/end``, it is {}. Exceptions from ``move`` and the hooks pass through.

        Raises:
            HttpError: if the bot does not have this path, or the body does not conform to the
                protocol.
            TypeError: if the result of ``move`` has no form that the module docstring lists.
        """
        if path != "/move" and path not in self._hooks:
            raise HttpError(HTTPStatus.NOT_FOUND, f"This bot has {self.paths}.")
        try:
            request = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise HttpError(HTTPStatus.BAD_REQUEST, f"The body is not JSON: {error}.") from error
        if not isinstance(request, dict):
            raise HttpError(HTTPStatus.BAD_REQUEST, "The body must be a JSON object.")
        if path == "/move":
            return self._move(request)
        self._hooks[path](request)
        return {}

    def _move(self, request: dict[str, Any]) -> Mapping[str, Any]:
        view, moves, clock = (request.get(name) for name in ("view", "moves", "clock"))
        if not (isinstance(view, dict) and isinstance(clock, dict) and isinstance(moves, list)):
            raise HttpError(HTTPStatus.UNPROCESSABLE_ENTITY, "Send view, moves and clock.")
        if not moves:
            raise HttpError(HTTPStatus.UNPROCESSABLE_ENTITY, "moves must not be empty.")
        match self._decide(request):
            case str() as move:
                return {"move": move}
            case (str() as move, dict() as info):
                return {"move": move, "info": info}
            case (str() as move, dict() as info, str() | None as fallback):
                extras = {"info": info, "fallback": fallback}
                return {"move": move, **{name: value for name, value in extras.items() if value}}
            case answer:
                raise TypeError(f"{self._name} must return a string, not {answer!r}")


class Server(socketserver.ThreadingMixIn, socketserver.TCPServer):
    """An HTTP server for one bot, with a thread for each connection.

    It listens as soon as it is created, and answers while ``serve_forever`` runs.

    Raises:
        OSError: if the server cannot listen on this host and port.
    """

    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, bot: Bot, host: str, port: int) -> None:
        self.bot = bot
        super().__init__((host, port), _Handler)

    @property
    def port(self) -> int:
        """The port that the server listens on. If port 0 was given, this is the free port taken."""
        return int(self.server_address[1])

    def handle_error(self, request: object, client_address: object) -> None:
        """Print the current exception to stderr, unless the client has disconnected."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            traceback.print_exc()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = default_request_version = "HTTP/1.1"
    wbufsize = -1  # send the head and the body of an answer together
    disable_nagle_algorithm = True
    server: Server

    def do_GET(self) -> None:
        if self._path() == "/":
            self._answer(HTTPStatus.OK, json.dumps(self.server.bot.card))
        else:
            self._reject(HTTPStatus.NOT_FOUND, f"This bot has {self.server.bot.paths}.")

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not re.fullmatch("[0-9]{1,18}", length) or int(length) > MAX_BODY:
            wanted = f"Send a body with its Content-Length, at most {MAX_BODY}."
            self.send_error(HTTPStatus.BAD_REQUEST, wanted)
            return
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise ConnectionAbortedError("the client disconnected in the middle of a body")
        try:
            answer = json.dumps(self.server.bot.reply(self._path(), body))
        except HttpError as error:
            self._reject(error.status, error.detail)
        except (Exception, SystemExit) as error:  # from the author's code; keep serving
            traceback.print_exc()
            sys.stderr.flush()
            detail = f"The bot failed: {type(error).__name__}: {error}"
            self._reject(HTTPStatus.INTERNAL_SERVER_ERROR, detail)
        else:
            self._answer(HTTPStatus.OK, answer)

    def _path(self) -> str:
        return self.path.partition("?")[0]

    def _reject(self, status: HTTPStatus, detail: str) -> None:
        self._answer(status, json.dumps({"error": detail}))

    def _answer(self, status: HTTPStatus, text: str) -> None:
        body = text.encode()
        self.send_response_only(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer a request that cannot be read, and close the connection."""
        self.close_connection = True
        self._reject(HTTPStatus(code), message or HTTPStatus(code).phrase)


def run(
    move: MoveFunction,
    *,
    name: str,
    version: str,
    games: Sequence[str],
    author: str | None = None,
    supports: Mapping[str, Any] | None = None,
    start: Hook | None = None,
    end: Hook | None = None,
    argv: Sequence[str] | None = None,
) -> None:
    """Serve ``move`` over HTTP. Return when Ctrl-C is pressed.

    The port is ``--port``, else the environment variable ``PORT``, else 9000. Port 0 stands for a
    free port. The address is ``--host``, else 127.0.0.1. Both are printed to stderr. Other
    arguments are ignored, so authors may use them. ``argv`` replaces the command line's arguments.

    Several threads may call ``move`` at once. An exception in ``move`` is printed to stderr and
    answered with status 500 (an ``HttpError`` is not printed, and has its own status). A runner
    counts either answer as a fault.

    ``supports`` lists, for each game, the numbers of players and the options that the bot plays,
    as in ``{"doudizhu": {"players": [3], "options": {"single_round": [True]}}}``.
    ``start`` and ``end`` are called with the body of ``POST /start`` and ``POST /end``. Without
    them, the bot answers 404. A runner then stops sending them, which makes a match faster.

    Exit with a message and status 1 if the address or the port is not available, or status 2 if
    the port is not a number from 0 to 65535.

    Raises:
        TypeError: if ``move`` has parameters that ``adapt`` rejects, or if ``games`` is a string.
    """
    bot = Bot(
        move,
        name=name,
        version=version,
        games=games,
        author=author,
        supports=supports,
        start=start,
        end=end,
    )
    parser = argparse.ArgumentParser(
        description=f"{name} {version}: a bot that plays {', '.join(games)}.",
        epilog=f"Example: {name} --port {DEFAULT_PORT}",
        prog=name,
        allow_abbrev=False,
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1)")
    parser.add_argument(
        "--port",
        default=os.environ.get("PORT") or str(DEFAULT_PORT),
        help=f"port to listen on ($PORT, else {DEFAULT_PORT}); 0 takes a free one",
    )
    arguments, _ = parser.parse_known_args(argv)
    port = str(arguments.port)
    if not (port.isascii() and port.isdigit() and len(port) <= 5 and int(port) <= 65535):
        parser.error(f"the port must be a number from 0 to 65535, not {port!r}")
    try:
        server = Server(bot, arguments.host, int(port))
    except OSError as error:
        sys.exit(
            f"{name}: cannot listen on {arguments.host}:{port}: {error.strerror or error}; "
            "set PORT to another port"
        )
    with server:
        print(  # noqa: T201 (for authors who start the bot by hand)
            f"{name} {version} listens on http://{arguments.host}:{server.port}",
            file=sys.stderr,
            flush=True,
        )
        with contextlib.suppress(KeyboardInterrupt):
            server.serve_forever()
