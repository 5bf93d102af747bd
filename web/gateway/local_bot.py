"""The bot of an author, on the author's machine: one that is running, or a command."""

from __future__ import annotations

from typing import Protocol

from tournament.bot.dial import dial_url
from tournament.bot.http_client import HttpConnection
from tournament.bot.player import HttpBot
from tournament.bot.process import LaunchSettings
from tournament.bot.started_bot import start
from tournament.config import Bot


class LocalBot(Protocol):
    """The bot as one table uses it."""

    def reconnect(self) -> HttpConnection:
        """A new connection in place of the one before; StartError if the bot is not there."""

    def renew(self) -> None:
        """Start a bot again that was too late, before the next match; StartError."""

    def output(self) -> str:
        """The end of what the bot has written, "" if that cannot be seen."""

    def close(self) -> None:
        """End what was started."""


class RunningBot(HttpBot):
    """A bot that is running at a URL. OSError if there is no such host."""

    def __init__(self, url: str) -> None:
        super().__init__(url, dial_url(url))

    def renew(self) -> None:
        """Do nothing: its author started it."""


class CommandBot:
    """A bot that is started by a command; it is started again when it has ended. StartError."""

    def __init__(self, command: str, launch: LaunchSettings) -> None:
        self._about = Bot(command, command=command)
        self._launch = launch
        self._bot = start(self._about, launch)

    def reconnect(self) -> HttpConnection:
        """A new connection; StartError if the bot has ended and does not start again."""
        if not self._bot.running:
            self.renew()
        return self._bot.reconnect()

    def renew(self) -> None:
        """Start it again; StartError."""
        self._bot.close()
        self._bot = start(self._about, self._launch)

    def output(self) -> str:
        """The end of what it has written."""
        return self._bot.output()

    def close(self) -> None:
        """End it."""
        self._bot.close()
