"""A table for browsers: serves the page, starts the game, and passes on the token of the game.

Usage: python relay.py [--port 8000] [--service URL] [--game doudizhu] [--players 3]

The relay never sees a key or a hidden card, only the hashes of the players' secrets and the tokens.
"""

import argparse
import contextlib
import http.client
import json
import re
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

PAGE = Path(__file__).with_name("table.html")
MAX_BODY = 1024 * 1024


class Refused(Exception):
    """The table does not accept a request. The message says why."""


class Table:
    """The players' hashes, the token of the game, and its public view."""

    def __init__(self, service: str, game: str, players: int) -> None:
        self.service, self.game, self.players = service, game, players
        self.hashes: list[str] = []
        self.sealed: str | None = None
        self.view: dict[str, Any] = {}
        self.lock = threading.Lock()

    def ask(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """Return the JSON with which the rules service answers a request.

        Raises:
            Refused: if the service answers with a problem, or does not answer.
        """
        request = urllib.request.Request(
            self.service + path, json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        try:
            with urllib.request.urlopen(request, timeout=10) as response:
                answer: dict[str, Any] = json.load(response)
        except urllib.error.HTTPError as error:
            raise Refused(json.load(error)["detail"]) from None
        except (OSError, http.client.HTTPException):
            raise Refused("The rules service does not answer.") from None
        return answer

    def show(self) -> dict[str, Any]:
        """Return the token (None before the game), the service's URL, and how many have joined."""
        return {"sealed": self.sealed, "service": self.service, "joined": len(self.hashes)}

    def join(self, secret_hash: str) -> dict[str, Any]:
        """Return the seat of the player with this hash, who joins if new. The last starts the game.

        Raises:
            Refused: if the hash is new and not a SHA-256 or the table is full, or if `ask` fails.
        """
        with self.lock:
            if secret_hash not in self.hashes:
                if not re.fullmatch("[0-9a-f]{64}", secret_hash):
                    raise Refused("This is not a SHA-256 hash.")
                if len(self.hashes) == self.players:
                    raise Refused("The table is full.")
                self.hashes.append(secret_hash)
            if self.sealed is None and len(self.hashes) == self.players:
                game = {"game": self.game, "players": self.players, "key_hashes": self.hashes}
                self.pass_on(self.ask("/v1/sealed/start", game)["sealed"])
            return {"seat": self.hashes.index(secret_hash)}

    def pass_on(self, sealed: str) -> None:
        """Make `sealed` the token of the table. The caller must hold `lock`.

        Raises:
            Refused: if the token is not one move after the present token, or if `ask` fails.
        """
        view = self.ask("/v1/sealed/view", {"sealed": sealed})["view"]
        if self.sealed is not None and not follows(self.view, view):
            raise Refused("The table is not where this move was made.")
        self.sealed, self.view = sealed, view


def follows(old: dict[str, Any], new: dict[str, Any]) -> bool:
    """Return whether the view `new` is one move after the view `old`."""
    if new["deal"] == old["deal"]:
        return bool(new["history"] and new["history"][:-1] == old["history"])
    return bool(new["deal"] == old["deal"] + 1 and not new["history"])


class Handler(BaseHTTPRequestHandler):
    """Answers the requests of browsers: for the page, the table, a seat, and a new token."""

    table: Table
    timeout = 10  # seconds that a browser may take to send its request

    def do_GET(self) -> None:
        """Answer with the page or the table, or with 404."""
        if self.path == "/":
            self.answer(200, PAGE.read_bytes(), "text/html; charset=utf-8")
        elif self.path == "/table":
            self.answer(200, json.dumps(self.table.show()).encode())
        else:
            self.answer(404, b"{}")

    def do_POST(self) -> None:
        """Give a player a seat, or pass on a token. Answer 400 or 409 if that is not possible."""
        try:
            length = int(self.headers["Content-Length"])
            if not 0 <= length <= MAX_BODY:
                raise ValueError("the body is too long")
            body = json.loads(self.rfile.read(length))
            if self.path == "/join":
                done = self.table.join(str(body["hash"]))
            else:
                with self.table.lock:
                    self.table.pass_on(str(body["sealed"]))
                done = {}
        except Refused as refused:
            self.answer(409, json.dumps({"detail": str(refused)}).encode())
        except (KeyError, TypeError, ValueError):
            self.answer(400, b'{"detail": "Send a JSON object with hash or sealed."}')
        else:
            self.answer(200, json.dumps(done).encode())

    def answer(self, status: int, body: bytes, media_type: str = "application/json") -> None:
        """Send a response."""
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Log nothing."""


def make_server(port: int, service: str, game: str, players: int) -> ThreadingHTTPServer:
    """Return the server of a new table, which listens on 127.0.0.1. Port 0 takes a free port.

    Raises:
        OSError: if the port is not available.
    """
    handler = type("TableHandler", (Handler,), {"table": Table(service, game, players)})
    return ThreadingHTTPServer(("127.0.0.1", port), handler)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--service", default="http://127.0.0.1:8080")
    parser.add_argument("--game", default="doudizhu")
    parser.add_argument("--players", type=int, default=3)
    options = parser.parse_args()
    try:
        server = make_server(options.port, options.service, options.game, options.players)
    except OSError as error:
        raise SystemExit(f"Port {options.port}: {error.strerror}; name another --port.") from None
    print(f"The table is at http://127.0.0.1:{server.server_port} (Ctrl-C stops).", flush=True)
    with contextlib.suppress(KeyboardInterrupt):
        server.serve_forever()
