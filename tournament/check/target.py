"""The bot to be checked: running already, or started here."""

from __future__ import annotations

from time import monotonic, sleep

from tournament.bot.dial import Dial, dial_url
from tournament.bot.http_client import Reply
from tournament.bot.player import Choice, Failure, HttpBot
from tournament.bot.process import LaunchSettings
from tournament.bot.started_bot import StartedBot, StartError, start
from tournament.config import Bot

_OUTPUT_SHOWN = 2000
"""Characters of a bot's output that go with a failure."""

_POLL_S = 0.01
_POLLS = 50
_CONNECT_S = 1.0


class NotReached(StartError):
    """Nothing answers at the URL of a bot; the text is a sentence that says why."""


class Connection(HttpBot):
    """A connection to a bot that can also send any request, and remembers its `failures`.

    All connections of a check share `unsupported`, the hooks that the bot does not answer: a bot
    that lets /start hang does so once.
    """

    def __init__(self, url: str, dial: Dial, unsupported: set[str]) -> None:
        super().__init__(url, dial)
        self._unsupported = unsupported
        self.failures: list[Failure] = []

    @property
    def elapsed_s(self) -> float:
        """How long the last request took."""
        return self._connection.elapsed_s

    def move(self, body: bytes, seconds: float) -> Choice | Failure:
        """Its answer to POST /move within this time."""
        outcome = super().move(body, seconds)
        if isinstance(outcome, Failure):
            self.failures.append(outcome)
        return outcome

    def send(self, path: str, body: bytes, seconds: float) -> Reply:
        """GET, or POST a body; the complete answer within this time.

        Raises TimeoutError, ConnectionLost, ResponseTooLarge or ProtocolError.
        """
        return self._connection.exchange("POST" if body else "GET", path, body, seconds)


class Target:
    """A bot to be checked that is running already. OSError if there is no such host."""

    def __init__(self, url: str, dial: Dial | None = None) -> None:
        self.url = url.rstrip("/")
        self._dial = dial or dial_url(url)
        self._unsupported: set[str] = set()

    def dial(self, seconds: float) -> None:
        """Connect once; OSError if nobody accepts within this time."""
        self._dial(monotonic() + seconds).close()

    def connect(self) -> Connection:
        """A new connection."""
        return Connection(self.url, self._dial, self._unsupported)

    def output(self) -> str:
        """The end of what it has written; empty if that cannot be seen."""
        return ""

    def written(self) -> int | None:
        """How many bytes it has written; None if that cannot be seen."""
        return None

    def ended(self) -> str | None:
        """How its process ended; None while it runs or if that cannot be seen."""
        return None

    def restart_if_ended(self) -> None:
        """Start it again if it has ended; StartError."""

    def close(self) -> None:
        """End what was started."""


class StartedTarget(Target):
    """A bot that is started here, as a runner starts it. StartError if it does not answer."""

    def __init__(self, command: str, launch: LaunchSettings) -> None:
        self._about = Bot(command, command=command)
        self._launch = launch
        self._bot: StartedBot = start(self._about, launch)
        self._written_earlier = 0
        super().__init__(self._bot.url, self._bot.dial)

    def output(self) -> str:
        """The end of what it has written."""
        return self._bot.output()[-_OUTPUT_SHOWN:]

    def written(self) -> int:
        """How many bytes it has written, also before it was started again."""
        return self._written_earlier + self._bot.process.written()

    def ended(self) -> str | None:
        """How its process ended; None while it runs."""
        status = self._status()
        if status is None or isinstance(status, str):
            return status
        return f"killed by signal {-status}" if status < 0 else f"code {status}"

    def _status(self) -> int | str | None:
        """Its return code. If nobody listens at its port, wait a moment for its end."""
        status = self._bot.process.status()
        for _ in range(0 if self._listens() else _POLLS):
            if status is not None:
                break
            sleep(_POLL_S)
            status = self._bot.process.status()
        return status

    def _listens(self) -> bool:
        try:
            self._dial(monotonic() + _CONNECT_S).close()
        except OSError:
            return False
        return True

    def restart_if_ended(self) -> None:
        """Start it again if it has ended; StartError."""
        if self._status() is None:
            return
        self._written_earlier = self.written()
        self._bot.close()
        self._bot = start(self._about, self._launch)
        self.url = self._bot.url
        self._dial = self._bot.dial

    def close(self) -> None:
        """End it with all its processes."""
        self._bot.close()


def open_target(url: str | None, command: str | None, launch: LaunchSettings) -> Target:
    """The bot at a URL, or else started by a command; StartError if it is not there,
    NotReached if that is at a URL."""
    if command is not None:
        return StartedTarget(command, launch)
    try:
        target = Target(str(url))
        target.dial(launch.start_ms / 1000)
    except OSError as error:
        raise NotReached(f"{url}: {error.strerror or error}.") from error
    return target
