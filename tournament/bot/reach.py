"""Bots are started, or reached by URL, in one way everywhere."""

from __future__ import annotations

from time import monotonic

from tournament.bot.dial import dial_url
from tournament.bot.player import HttpBot
from tournament.bot.process import LaunchSettings
from tournament.bot.started_bot import StartedBot, StartError, start
from tournament.config import Bot

CONNECT_S = 5.0


class NotReached(StartError):
    """Nothing accepts connections at the URL of a bot; the text is a sentence that says why."""


def reach(bot: Bot, launch: LaunchSettings) -> HttpBot:
    """Start a bot by its command, or connect once to its URL; StartError, NotReached."""
    return start(bot, launch) if bot.url is None else reach_url(bot, bot.url)


def reach_url(bot: Bot, url: str) -> HttpBot:
    """A bot by URL that accepts connections; NotReached."""
    fix = "start it, or fix its url"
    where = "the end of its connection" if bot.connect else url
    try:
        dial = dial_url(url)
    except OSError as error:
        why = error.strerror or error
        raise NotReached(f"{bot.name}: its host is not known ({why}); {fix}.") from None
    try:
        dial(monotonic() + CONNECT_S).close()
    except OSError as error:
        why = error.strerror or f"no answer within {CONNECT_S:g} s"
        text = f"{bot.name}: nothing accepts connections at {where} ({why}); {fix}."
        raise NotReached(text) from None
    return HttpBot(url, dial, bot.token)


class RestartableBot:
    """A bot by command, which can be started again, or by URL. StartError if it is not there."""

    def __init__(self, bot: Bot, launch: LaunchSettings) -> None:
        self._bot = bot
        self._launch = launch
        self.player = reach(bot, launch)

    @property
    def started(self) -> StartedBot | None:
        """The bot if it was started here."""
        return self.player if isinstance(self.player, StartedBot) else None

    def restart(self) -> None:
        """Start it again if it was started here; StartError."""
        if self.started is not None:
            self.player.close()
            self.player = start(self._bot, self._launch)

    def output(self) -> str:
        """The end of what it has written; empty if that cannot be seen."""
        return self.player.output()

    def close(self) -> None:
        """Drop the connection, and end what was started here."""
        self.player.close()
