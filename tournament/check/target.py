"""The bot to be checked: running already, or started here."""

from __future__ import annotations

from collections import Counter
from time import monotonic, sleep

from tournament.bot.client import Dial
from tournament.bot.started_bot import StartedBot
from tournament.bot.url_bot import Choice, Failure, HttpBot

_OUTPUT_SHOWN = 2000
"""Characters of a bot's output that go with a failure."""

_POLL_S = 0.01
_POLLS = 50
_CONNECT_S = 1.0


class Connection(HttpBot):
    """A connection to a bot that remembers its `failures`.

    All connections of a check share `unsupported`, the hooks that the bot does not answer: a bot
    that lets /start hang does so once. They share `dropped` too, which counts by the reason what
    was dropped of what the bot says beside its moves.
    """

    def __init__(self, url: str, dial: Dial, unsupported: set[str], dropped: Counter[str]) -> None:
        super().__init__(url, dial)
        self._unsupported = unsupported
        self._dropped = dropped
        self.failures: list[Failure] = []

    def move(self, body: bytes, seconds: float) -> Choice | Failure:
        """Its answer to POST /move within this time."""
        outcome = super().move(body, seconds)
        if isinstance(outcome, Failure):
            self.failures.append(outcome)
        else:
            self._dropped.update(outcome.info.dropped)
        return outcome


class Target:
    """A bot to be checked. What a bot by URL writes, and its process, cannot be seen."""

    def __init__(self, bot: HttpBot) -> None:
        self._bot = bot
        self._unsupported: set[str] = set()
        self.dropped: Counter[str] = Counter()
        self._written_earlier = 0
        # A server of one connection at a time is to fail where several are checked, not before.
        bot.reconnect()

    @property
    def url(self) -> str:
        """Where it is asked."""
        return self._bot.url

    def connect(self) -> Connection:
        """A new connection."""
        return Connection(self.url, self._bot.dial, self._unsupported, self.dropped)

    def output(self) -> str:
        """The end of what it has written; empty if that cannot be seen."""
        return self._bot.output()[-_OUTPUT_SHOWN:]

    def written(self) -> int | None:
        """How many bytes it has written, also before it was started again; None if that cannot be
        seen."""
        if not isinstance(self._bot, StartedBot):
            return None
        return self._written_earlier + self._bot.process.written()

    def ended(self) -> str | None:
        """How its process ended; None while it runs or if that cannot be seen. If nobody listens at
        its port, its end is waited for."""
        if not isinstance(self._bot, StartedBot):
            return None
        status = self._bot.process.status()
        for _ in range(0 if self._listens() else _POLLS):
            if status is not None:
                break
            sleep(_POLL_S)
            status = self._bot.process.status()
        if status is None or isinstance(status, str):
            return status
        return f"killed by signal {-status}" if status < 0 else f"code {status}"

    def _listens(self) -> bool:
        try:
            self._bot.dial(monotonic() + _CONNECT_S).close()
        except OSError:
            return False
        return True

    def restart_if_ended(self) -> None:
        """Start it again if it has ended; StartError."""
        if self.ended() is not None:
            self._written_earlier = self.written() or 0
            self._bot.restart()
            self._bot.reconnect()

    def close(self) -> None:
        """End what was started."""
        self._bot.close()
