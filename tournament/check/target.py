"""The bot that is being checked, wherever it runs."""

from __future__ import annotations

import socket
from time import sleep
from typing import Protocol
from urllib.parse import urlsplit

from tournament.bot.dial import Dial, dial_inet, dial_url
from tournament.bot.http_client import Reply
from tournament.bot.player import HttpBot
from tournament.bot.process import LaunchSettings
from tournament.bot.started_bot import StartedBot, start

_SHOWN = 2000
"""Characters of a bot's own output that go with a failure."""

_MOMENT_S = 0.01
_MOMENTS = 50


class Connection(HttpBot):
    """A connection to a bot over which anything may be posted.

    `unsupported` hooks are shared by all connections of a check: a bot that lets /start hang
    does so once.
    """

    def __init__(self, url: str, dial: Dial, unsupported: set[str]) -> None:
        super().__init__(url, dial)
        self._unsupported = unsupported

    def post(self, path: str, body: bytes, seconds: float) -> Reply:
        """Its whole answer within this time.

        Raises TimeoutError, ConnectionLost, ResponseTooLarge or ProtocolError.
        """
        return self._connection.exchange("POST", path, body, seconds)


class Subject(Protocol):
    """A bot to be checked."""

    @property
    def url(self) -> str:
        """Where it answers."""

    def connect(self) -> Connection:
        """A connection of its own."""

    def output(self) -> str:
        """The end of what it has written; empty where that cannot be seen."""

    def written(self) -> int | None:
        """How many bytes it has written so far; None where that cannot be seen."""

    def ended(self) -> str | None:
        """How its process ended; None while it runs or where that cannot be seen."""

    def revive(self) -> None:
        """Start it again if it has ended; StartError."""

    def close(self) -> None:
        """End what was started."""


class Running:
    """A bot that runs already. OSError if there is no such host."""

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._dial: Dial = dial_url(url)
        self._unsupported: set[str] = set()

    def connect(self) -> Connection:
        """A connection of its own."""
        return Connection(self.url, self._dial, self._unsupported)

    def output(self) -> str:
        """A bot by URL writes elsewhere."""
        return ""

    def written(self) -> None:
        """A bot by URL writes elsewhere."""

    def ended(self) -> str | None:
        """A bot by URL is not watched."""
        return None

    def revive(self) -> None:
        """A bot by URL is not started."""

    def close(self) -> None:
        """Nothing was started."""


class Started:
    """A bot that is started here, as a runner starts it. StartError if it does not answer."""

    def __init__(self, command: str, launch: LaunchSettings) -> None:
        self._command = command
        self._launch = launch
        self._bot: StartedBot = start("bot", command, launch)
        self._earlier = 0
        self._unsupported: set[str] = set()

    @property
    def url(self) -> str:
        """Where it answers; another port after each start."""
        return self._bot.url

    def connect(self) -> Connection:
        """A connection of its own."""
        parts = urlsplit(self.url)
        dial = dial_inet((parts.hostname, parts.port), socket.AF_INET)
        return Connection(self.url, dial, self._unsupported)

    def output(self) -> str:
        """The end of what it has written."""
        return self._bot.output()[-_SHOWN:]

    def written(self) -> int:
        """How many bytes it has written so far, also before it was started again."""
        return self._earlier + self._bot.written()

    def ended(self) -> str | None:
        """How its process ended; None while it runs."""
        status = self._status()
        if status is None or isinstance(status, str):
            return status
        return f"killed by signal {-status}" if status < 0 else f"code {status}"

    def _status(self) -> int | str | None:
        """Its return code. Who hung up may be about to end: that is waited for a moment."""
        status = self._bot.status()
        for _ in range(_MOMENTS if self._hung_up() else 0):
            if status is not None:
                break
            sleep(_MOMENT_S)
            status = self._bot.status()
        return status

    def _hung_up(self) -> bool:
        """Whether nobody listens at its port."""
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", urlsplit(self.url).port)) != 0

    def revive(self) -> None:
        """Start it again if it has ended; StartError."""
        if self._status() is not None:
            self._earlier = self.written()
            self._bot.close()
            self._bot = start("bot", self._command, self._launch)

    def close(self) -> None:
        """End it with everything that it has started."""
        self._bot.close()
