"""The challenger's side of a challenge: a server of this machine that answers as the other bot."""

import socketserver
import threading
from collections.abc import Callable
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Final, Self
from urllib.parse import quote

import msgspec
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection

from tournament.text import printable
from web.gateway.calls import REQUEST_LIMIT, EntryRefused, Opponent
from web.gateway.connector import Unreachable, open_link

_STARTS_S: Final = 90  # the other program may have to start its bot
_ANSWER_S: Final = 3700.0  # longer than any clock; the runner counts the time
_HEAD_LIMIT: Final = 16 * 1024


class ChallengedBot:
    """A bot of the arena at `url` that can be asked as a bot by URL on this machine while the
    context lasts.

    `token` is the token of the challenger's own bot. `say` is called with sentences for the author.
    """

    def __init__(self, url: str, token: str, name: str, say: Callable[[str], None]) -> None:
        """Begin the challenge.

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
        self._is_lost = False
        self._link, self.found = self._begin()
        challenge = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self) -> None:
                """Answer requests until the bot does not answer, or the runner leaves."""
                with suppress(OSError, ValueError):
                    complete = True
                    while complete and (call := self.rfile.readline(_HEAD_LIMIT).decode("latin-1")):
                        method, path, _ = call.split(" ", 2)
                        body = self.rfile.read(self._length())
                        data, complete = challenge.ask(f"{method} {path}", body)
                        self.wfile.write(data)

            def _length(self) -> int:
                """Read the rest of the head. Return the length of the body in bytes."""
                length = 0
                while (line := self.rfile.readline(_HEAD_LIMIT).strip()) != b"":
                    name, _, value = line.partition(b":")
                    if name.lower() == b"content-length":
                        length = int(value)
                return min(length, REQUEST_LIMIT)

        self._server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        """Where the runner asks the bot."""

    def _begin(self) -> tuple[ClientConnection, Opponent]:
        try:
            link = self._exits.enter_context(open_link(self._arena, "/challenge", self._headers))
        except Unreachable as error:
            raise EntryRefused(
                f"{self._arena}: {error}; check the address, and try again."
            ) from None
        try:
            message = link.recv(timeout=_STARTS_S)
            return link, msgspec.json.decode(message, type=Opponent)
        except msgspec.ValidationError:
            self._exits.close()
            raise EntryRefused(_sentence(message)) from None
        except (ConnectionClosed, TimeoutError, msgspec.DecodeError):
            self._exits.close()
            raise EntryRefused(
                f"{self._arena} does not answer a challenge; check that it is an arena of this"
                " version."
            ) from None

    def ask(self, call: str, body: bytes) -> tuple[bytes, bool]:
        """Ask the bot. Return the bytes of the answer, and whether the answer is complete."""
        with self._lock:
            try:
                if self._is_lost:
                    self._link, self.found = self._begin()
                    self._is_lost = False
                self._number += 1
                self._link.send(msgspec.msgpack.encode((self._number, call, body)))
                message = self._link.recv(timeout=_ANSWER_S)
                if isinstance(message, bytes):
                    answer: tuple[int, bytes, bool] = msgspec.msgpack.decode(
                        message, type=tuple[int, bytes, bool]
                    )
                    return answer[1:]
                self._say(_sentence(message))
            except EntryRefused as error:
                self._say(str(error))
            except (ConnectionClosed, TimeoutError, msgspec.DecodeError):
                pass
            self._exits.close()
            self._is_lost = True
            return b"", False

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._exits.close()  # so that no request waits any more
        self._server.server_close()


def _sentence(message: str | bytes) -> str:
    """Return the sentence of the arena in a message, printable and short."""
    with suppress(msgspec.DecodeError):
        said = msgspec.json.decode(message, type=dict[str, str])
        return printable(said.get("refused", "")[:500])
    return "The arena has ended the challenge."
