"""The examiner, which asks the checked bot for moves and judges its answers."""

import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from time import sleep
from typing import NamedTuple

from games import IllegalMove
from tournament.bot.client import Reply
from tournament.bot.protocol import Choice, TimeBank, request
from tournament.bot.started_bot import StartedBot
from tournament.bot.url_bot import Failure, HttpBot, illegal_move
from tournament.check.outcome import Advice, CheckFailure, Exchange, advice, died
from tournament.check.positions import Question
from tournament.records import FaultKind

_OUTPUT_SHOWN = 2000  # characters of a bot's output, with a failure
_POLL_S = 0.01
_POLLS = 50


class Verdict(NamedTuple):
    """A POST /move with its answer. `failure` is None if the bot made a legal move in time."""

    exchange: Exchange
    failure: CheckFailure | None


class Connection(HttpBot):
    """A connection to the checked bot. The examiner counts the outcomes of its POST /move.

    `exchange` is the last request with its answer. `failures` has a failure for each POST /move
    that got no move, not even an illegal one. `failed` says whether the last question in this match
    got no legal move.
    """

    def __init__(self, examiner: "Examiner") -> None:
        super().__init__(examiner.bot.url, examiner.bot.dial)
        # All connections share this set, so a bot that lets /start hang is not asked again.
        self._unsupported = examiner.unsupported
        self._examiner = examiner
        self.failures: list[Failure] = []

    def begin(self, opening: Question) -> tuple[bytes, bytes]:
        """Begin a match without notifying the bot. Return the bodies for POST /start and /end.
        `opening` is as in `match`."""
        self._match, self._turn, self.failed = secrets.token_hex(8), 0, False
        view, clock = opening.view, self._examiner.clock.to_dict()
        at = {"game": view["game"], "seat": view["seat"]}
        start = {"players": view["players"], "options": view["options"], "clock": clock}
        ended = request(self._match, **at, scores=opening.scores)
        return request(self._match, **at, **start), ended

    @contextmanager
    def match(self, opening: Question) -> Iterator[None]:
        """Notify the bot that a match starts and, at the end of the context, that the match ends.

        `opening` is the match's first question, which is not asked here. Skip a notification that
        the bot has declined (see `takes`). If the last question got no legal move or the context
        raises, do not notify the bot of the end. Wait up to `move_ms` for each answer. Ignore
        failures.
        """
        seconds = self._examiner.clock.move_ms / 1000
        start, end = self.begin(opening)
        if self.takes("/start"):
            self.notify("/start", start, seconds)
        yield
        if self.takes("/end") and not self.failed:
            self.notify("/end", end, seconds)

    def ask(self, question: Question, extra: Mapping[str, object] | None = None) -> Verdict:
        """Ask a question of the match that `begin` or `match` has begun. Return the verdict.

        The fields in `extra` are added to the request. If a move, legal or not, comes in time, the
        exchange is added to the examiner's `valid`. If no legal move comes in time, this may wait
        for the bot to end (see `Examiner.failure`).
        """
        examiner = self._examiner
        self._turn += 1
        fields = {"turn": self._turn, "view": question.view, "moves": list(question.moves)}
        body = request(self._match, **fields, clock=examiner.clock.to_dict(), **(extra or {}))
        outcome = self.move(body, examiner.clock.deadline_ms / 1000)
        exchange, self.failed = self.exchange, True
        if isinstance(outcome, Choice):
            examiner.valid.append(exchange)
            try:
                question.position.check(outcome.move)
                self.failed = False
                return Verdict(exchange, None)
            except IllegalMove as error:
                outcome = illegal_move(outcome, error, exchange.answer)
        failure = examiner.fault(outcome.kind, outcome.detail, outcome.error, exchange)
        return Verdict(exchange, failure)

    def send(self, path: str, body: bytes, seconds: float) -> Reply:
        """Send a request as `HttpBot.send` does, with the same errors. Keep the request and its
        answer, as far as it arrived, in `exchange`."""
        try:
            return super().send(path, body, seconds)
        finally:
            elapsed_ms = self.elapsed_s * 1000
            self.exchange = Exchange(f"{self.url}{path}", body, self.answer(), elapsed_ms)

    def move(self, body: bytes, seconds: float) -> Choice | Failure:
        """Ask for a move as `HttpBot.move` does, and let the examiner count the outcome. Also add a
        failure to `failures`."""
        outcome = super().move(body, seconds)
        if isinstance(outcome, Failure):
            self.failures.append(outcome)
        elif outcome.fallback is not None:
            self._examiner.last_fallback = self.exchange
        self._examiner.count(outcome)
        return outcome


class Examiner:
    """What is known about the checked bot from its answers. Each thread needs its own `Connection`.

    `clock` is the bot's time: the time for a move, and one bank for the whole check. `valid` lists
    the exchanges in which a question got a move, legal or not, in time. `dropped` counts the
    dropped parts of `info` by reason. While `counts_moves` is true, `moves` counts the requests for
    a move, and `fallbacks` counts, by reason, the moves that were not the bot's own.
    `last_fallback` is the last exchange with a fallback, counted or not. `failed_before` says
    whether the check of positions failed. `on_answer` is called after every request for a move.
    """

    def __init__(
        self,
        bot: HttpBot,
        clock: TimeBank,
        on_answer: Callable[[], None] = lambda: None,
        *,
        counts_moves: bool = False,
    ) -> None:
        self.bot = bot
        self.clock = clock
        self.valid: list[Exchange] = []
        self.failed_before = False
        self.unsupported: set[str] = set()
        self.dropped: Counter[str] = Counter()
        self.fallbacks: Counter[str] = Counter()
        self.counts_moves = counts_moves
        self.moves = 0
        self.last_fallback: Exchange | None = None
        self._on_answer = on_answer
        self._lock = Lock()
        # A server that takes one connection at a time should fail only the check of two at once.
        bot.disconnect()

    def count(self, outcome: Choice | Failure) -> None:
        """Count the outcome of a POST /move, charge its time, and call `on_answer`. Thread-safe."""
        self._on_answer()
        with self._lock:
            self.clock.charge(outcome.elapsed_s * 1000)
            self.moves += self.counts_moves
            if isinstance(outcome, Choice):
                self.dropped.update(outcome.info.dropped)
                if self.counts_moves and outcome.fallback:
                    self.fallbacks[outcome.fallback] += 1

    def fault(
        self, kind: FaultKind, detail: str, error: Exception | None, exchange: Exchange
    ) -> CheckFailure:
        """Return the failure, with advice, for a fault at POST /move. `error` is the exception that
        caused the fault, or None. This may wait for the bot to end (see `failure`)."""
        suggestion = advice(kind, error, exchange.answer)
        return self.failure(f"{kind}: {detail}", exchange, suggestion, kind)

    def failure(
        self, problem: str, exchange: Exchange, advice: Advice, kind: FaultKind | None = None
    ) -> CheckFailure:
        """Return a failure with the bot's output. If the bot has ended, the failure says how.

        `kind` is None if the failure would not be a fault in a match. If the bot was unreachable,
        or did not answer and `kind` is None, wait up to half a second for the bot to end. If the
        bot ends, the fix is about its end, in place of the fix in `advice`.
        """
        unanswered = kind is None and exchange.answer.status is None
        gone = unanswered or kind is FaultKind.UNREACHABLE
        ended, output = self.ended(wait=gone), self.output()
        if ended is not None:
            problem = f"{problem} The bot has ended: {ended}."
            if gone:
                advice = Advice(advice.rule, died(ended, output))
        return CheckFailure(problem, exchange, advice, kind, output)

    def output(self) -> str:
        """Return the bot's last 2,000 characters of output, or "" if it was not started here."""
        return self.bot.output()[-_OUTPUT_SHOWN:]

    def ended(self, *, wait: bool = False) -> str | None:
        """Return how the bot's process ended, such as "code 1" or "killed by signal 9".

        The result is None if the process is running or was not started here, and a clause if it
        could not be started or its supervisor is gone. With `wait`, first wait up to half a second.
        """
        if not isinstance(self.bot, StartedBot):
            return None
        polls = _POLLS if wait else 0
        while (status := self.bot.process.status()) is None and polls:
            sleep(_POLL_S)
            polls -= 1
        if status is None or isinstance(status, str):
            return status
        return f"killed by signal {-status}" if status < 0 else f"code {status}"
