"""Asks the checked bot for moves, and judges its answers."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from threading import Lock
from typing import Any

from games import IllegalMove
from tournament.bot.protocol import TimeBank, end_request, move_request, start_request
from tournament.bot.url_bot import Failure, illegal_move
from tournament.check.advice import Advice, advice, died
from tournament.check.outcome import CheckFailure, Exchange
from tournament.check.positions import Question
from tournament.check.target import Connection, Target
from tournament.records import FaultKind


@dataclass
class MatchSession:
    """A match as the bot sees it: its id, its first question, and how many requests it has had."""

    match: str
    opening: Question
    turn: int = 0

    def start_request(self, clock: Mapping[str, int]) -> bytes:
        """The body of POST /start."""
        view = self.opening.view
        players, options = view["players"], view["options"]
        return start_request(
            self.match, view["game"], view["seat"], players=players, options=options, clock=clock
        )

    def end_request(self) -> bytes:
        """The body of POST /end."""
        view = self.opening.view
        return end_request(self.match, view["game"], view["seat"], self.opening.record.scores)

    def move_request(
        self, question: Question, clock: Mapping[str, int], more: Mapping[str, Any]
    ) -> bytes:
        """The body of the next POST /move, with the fields in `more` added."""
        self.turn += 1
        return move_request(self.match, self.turn, question.view, question.moves, clock, **more)


@dataclass(frozen=True, slots=True)
class Verdict:
    """An exchange of POST /move, and what was wrong with it, if anything.

    `written` is how many bytes the bot wrote to stdout and stderr meanwhile.
    """

    exchange: Exchange
    failure: CheckFailure | None
    written: int = 0


class Examiner:
    """Asks one bot and judges its answers. Several threads may use it, each with its connection.

    `clock` is the time of the bot: for each answer, and one bank for the whole check.
    `asked` counts the questions. `times` are the milliseconds of the valid answers; the first one
    may include loading, so `slowest` is the slowest of the others. `loudest` is the question at
    which the bot wrote most. `failed_before`: its answers to usual requests were wrong already.
    `on_question` is called with every question.
    """

    def __init__(
        self, target: Target, clock: TimeBank, on_question: Callable[[], None] = lambda: None
    ) -> None:
        self.target = target
        self.clock = clock
        self.asked = 0
        self.times: list[float] = []
        self.slowest: Exchange | None = None
        self.loudest: Verdict | None = None
        self.failed_before = False
        self._on_question = on_question
        self._run = secrets.token_hex(4)
        self._matches = 0
        self._lock = Lock()

    @contextmanager
    def connect(self) -> Iterator[Connection]:
        """A connection to the bot, closed at the end."""
        with closing(self.target.connect()) as bot:
            yield bot

    def match_id(self) -> str:
        """An id that no other match has, in this check or another of the same bot."""
        with self._lock:
            self._matches += 1
            return f"{self._run}{self._matches:04x}"

    def start_match(self, bot: Connection, question: Question) -> MatchSession:
        """Begin a match and notify the bot, as a runner does; its answer does not matter."""
        session = MatchSession(self.match_id(), question)
        request = session.start_request(self.clock.to_dict())
        bot.notify("/start", request, self.clock.move_ms / 1000)
        return session

    def end_match(self, bot: Connection, session: MatchSession) -> None:
        """End a match and notify the bot."""
        bot.notify("/end", session.end_request(), self.clock.move_ms / 1000)

    def ask(
        self,
        bot: Connection,
        session: MatchSession,
        question: Question,
        more: Mapping[str, Any] | None = None,
    ) -> Verdict:
        """Ask for a move, with the fields in `more` added to the request, and judge the answer."""
        body = session.move_request(question, self.clock.to_dict(), more or {})
        before = self.target.written() or 0
        self._on_question()
        exchange, failure = self._judge(bot, question, body)
        verdict = Verdict(exchange, failure, (self.target.written() or 0) - before)
        with self._lock:
            self.asked += 1
            if self.loudest is None or verdict.written > self.loudest.written:
                self.loudest = verdict
        return verdict

    def _judge(
        self, bot: Connection, question: Question, body: bytes
    ) -> tuple[Exchange, CheckFailure | None]:
        outcome = bot.move(body, self.clock.deadline_ms / 1000)
        exchange = Exchange(f"{self.target.url}/move", body, bot.answer(), outcome.elapsed_s * 1000)
        self.charge(exchange.elapsed_ms)
        if not isinstance(outcome, Failure):
            self._add_time(exchange)
            try:
                question.position.check(outcome.move)
            except IllegalMove as error:
                outcome = illegal_move(outcome, error, exchange.answer)
            else:
                return exchange, None
        return exchange, self.fault(outcome.kind, outcome.detail, outcome.error, exchange)

    def charge(self, elapsed_ms: float) -> None:
        """Take from the bank what a request took beyond `move_ms`."""
        with self._lock:
            self.clock.charge(elapsed_ms)

    def _add_time(self, exchange: Exchange) -> None:
        with self._lock:
            self.times.append(exchange.elapsed_ms)
            if len(self.times) > 1 and (
                self.slowest is None or exchange.elapsed_ms > self.slowest.elapsed_ms
            ):
                self.slowest = exchange

    def fault(
        self, kind: FaultKind, detail: str, error: Exception | None, exchange: Exchange
    ) -> CheckFailure:
        """The failure of an exchange of POST /move that would be a fault in a match."""
        suggestion = advice(kind, error, exchange.answer)
        return self.failure(f"{kind}: {detail}", exchange, suggestion, kind)

    def failure(
        self, problem: str, exchange: Exchange, advice: Advice, kind: FaultKind | None = None
    ) -> CheckFailure:
        """A failure with what is known of the bot's process and its output."""
        ended, output = self.target.ended(), self.target.output()
        if ended is not None:
            problem = f"{problem} The bot has ended: {ended}."
            unanswered = kind is None and exchange.answer.status is None
            if kind is FaultKind.UNREACHABLE or unanswered:
                advice = Advice(advice.rule, died(ended, output))
        return CheckFailure(problem, exchange, advice, kind, output)
