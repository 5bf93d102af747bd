"""The challenger's side of a challenge: a local server that answers in place of the other bot."""

import socketserver
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from http.server import BaseHTTPRequestHandler
from typing import Final, Self
from urllib.parse import quote

import msgspec
from websockets.exceptions import ConnectionClosed, ConnectionClosedError, ConnectionClosedOK
from websockets.sync.client import ClientConnection

from tournament.text import printable
from web.gateway.calls import REQUEST_LIMIT, Answer, EntryRefused, Opponent
from web.gateway.connector import Unreachable, open_link

_STARTS_S: Final = 90  # the other program may have to start its bot
_ANSWER_S: Final = 3700.0  # longer than any clock; the runner counts the time


class ChallengedBot:
    """Lets the runner on this machine ask a bot in an arena as if it were a bot by URL.

    The object is a context manager, which serves the bot at the address in its attribute `url` and
    ends the challenge on exit. `answer` names the two bots and has the terms of the challenge.
    """

    answer: Opponent

    def __init__(self, url: str, token: str, name: str, say: Callable[[str], None]) -> None:
        """Challenge the bot `name` in the arena at `url`, and wait up to 90 seconds for the answer.

        A `name` without a version stands for the newest version that is connected. `token` belongs
        to the challenger's own bot. `say` is called in other threads, with messages for the user.

        Raises:
            EntryRefused: if the arena refuses the challenge or cannot be reached.
        """
        self._arena = url.rstrip("/")
        self._headers = {
            "Authorization": f"Bearer {token}",
            "X-Stich-Tables": "1",
            "X-Stich-Opponent": quote(name, safe=""),
        }
        self._say = say
        self._lock = threading.Lock()
        self._number = 0
        self._exits = ExitStack()
        self._link: ClientConnection | None = self._begin()
        challenge = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"  # so that a connection carries several requests

            def handle(self) -> None:
                with suppress(OSError, ValueError):
                    super().handle()

            def do_POST(self) -> None:
                length = min(int(self.headers.get("Content-Length", 0)), REQUEST_LIMIT)
                body = self.rfile.read(length)
                data, complete = challenge.ask(f"{self.command} {self.path}", body)
                self.wfile.write(data)
                self.close_connection = not complete

            do_GET = do_POST  # noqa: N815

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def _begin(self) -> ClientConnection:
        message: str | bytes = b""
        try:
            with ExitStack() as stack:
                link = stack.enter_context(open_link(self._arena, "/challenge", self._headers))
                message = link.recv(timeout=_STARTS_S)
                self.answer = msgspec.json.decode(message, type=Opponent)
                self._exits = stack.pop_all()
                return link
        except Unreachable as error:
            why = f"{self._arena}: {error}; check the address, and try again."
        except msgspec.ValidationError:
            why = _sentence(message)
        except (ConnectionClosed, TimeoutError, msgspec.DecodeError):
            fix = "check that it is an arena of this version"
            why = f"{self._arena} does not answer a challenge; {fix}."
        raise EntryRefused(why)

    def ask(self, call: str, body: bytes) -> tuple[bytes, bool]:
        """Send `call`, a method and path, to the bot. Return the bytes of its HTTP answer, and
        whether they are complete.

        If the challenge has ended or cannot begin again, or no valid answer comes within 3,700
        seconds, tell the challenger why, if this is known, and return (b"", False). The next call
        then begins a new challenge. Threads take turns.
        """
        with self._lock:
            try:
                link = self._link = self._link or self._begin()
                self._number += 1
                link.send(msgspec.msgpack.encode((self._number, call, body)))
                message = link.recv(timeout=_ANSWER_S)
                if isinstance(message, bytes):
                    _, data, complete = msgspec.msgpack.decode(message, type=Answer)
                    return data, complete
                self._say(_sentence(message))
            except EntryRefused as error:
                self._say(str(error))
            except (ConnectionClosedError, TimeoutError, msgspec.DecodeError):
                again = "the next request begins another challenge"
                self._say(f"The connection to {self._arena} is lost; {again}.")
            except ConnectionClosedOK:  # this program leaves, or the next request finds the reason
                pass
            self._exits.close()
            self._link = None
            return b"", False

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._server.shutdown()
        self._exits.close()  # so that no request waits any more
        self._server.server_close()


def _sentence(message: str | bytes) -> str:
    with suppress(msgspec.DecodeError, KeyError):
        return printable(msgspec.json.decode(message, type=dict[str, str])["refused"][:500])
    return "The arena has ended the challenge."
