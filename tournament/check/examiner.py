"""One request to the checked bot, judged: what was sent, what came, which rule was broken."""

from __future__ import annotations

import secrets
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

from games import IllegalMove
from tournament.bot.player import Failure, illegal_move
from tournament.bot.protocol import end_request, move_request, start_request
from tournament.check.advice import Advice, advice, died
from tournament.check.positions import Question
from tournament.check.target import Connection, Subject
from tournament.records import Answer, FaultKind

_NO_SENSE_IN_GOING_ON = (FaultKind.TIMEOUT, FaultKind.UNREACHABLE)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A failure: the request, what came back, the rule, the mend.

    `problem` is a sentence; `body` the JSON that was sent ("" for GET); `output` the end of what
    the bot wrote, where it was started here.
    """

    problem: str
    method: str
    url: str
    body: str
    answer: Answer
    elapsed_ms: float
    rule: str
    mend: str
    output: str = ""
    kind: FaultKind | None = None

    @property
    def final(self) -> bool:
        """Whether asking more of the same would only cost another deadline."""
        return self.kind in _NO_SENSE_IN_GOING_ON

    @property
    def curl(self) -> str:
        """A command that sends the same request again."""
        words = ["curl", "-sS", "-i", "-m", "60"]
        if self.method != "GET":
            words += ["-H", "Content-Type: application/json", "-d", self.body]
        return " ".join(shlex.quote(word) for word in [*words, self.url])


@dataclass(frozen=True, slots=True)
class Asked:
    """A request to POST /move, what came back and when, and what was wrong with it.

    `written` is how many bytes the bot wrote to stdout and stderr meanwhile.
    """

    body: bytes
    answer: Answer
    elapsed_ms: float
    failure: Evidence | None = None
    written: int = 0


@dataclass
class Sitting:
    """A match as one seat sees it: its name, and how many requests it has had."""

    match: str
    game: str
    seat: int
    turn: int = 0


@dataclass
class Clock:
    """The time a bot has in a check: `move_ms` for each answer, and one bank for all of it."""

    move_ms: int
    bank_ms: float
    _lock: Lock = field(default_factory=Lock)

    def wire(self) -> dict[str, int]:
        """As a request says it."""
        return {"move_ms": self.move_ms, "bank_ms": int(self.bank_ms)}

    @property
    def seconds(self) -> float:
        """Until the deadline of a request that begins now."""
        return (self.move_ms + self.bank_ms) / 1000

    def charge(self, elapsed_ms: float) -> None:
        """Take from the bank what went over `move_ms`."""
        with self._lock:
            self.bank_ms = max(0.0, self.bank_ms - max(0.0, elapsed_ms - self.move_ms))


class Examiner:
    """Asks one bot and judges its answers. Safe for several threads, each with its connection.

    `times` are those of whole answers to single questions, in milliseconds, the first one first;
    `slowest` is the slowest of the others, `loudest` the one at which the bot wrote most, `asked`
    how many were asked. `answered` is called with every question.
    """

    def __init__(
        self, subject: Subject, clock: Clock, answered: Callable[[], None] = lambda: None
    ) -> None:
        self.subject = subject
        self._answered = answered
        self.clock = clock
        self.times: list[float] = []
        self.slowest: Asked | None = None
        self.loudest: Asked | None = None
        self.asked = 0
        self._run = secrets.token_hex(4)
        self._matches = 0
        self._lock = Lock()

    def connect(self) -> Connection:
        """A connection to the bot."""
        return self.subject.connect()

    def match(self) -> str:
        """A name that no other match has, not of this check nor of another of the same bot."""
        with self._lock:
            self._matches += 1
            return f"{self._run}{self._matches:04x}"

    def sitting(self, question: Question) -> Sitting:
        """A match in which this is the first question."""
        return Sitting(self.match(), question.view["game"], question.view["seat"])

    def starting(self, sitting: Sitting, question: Question) -> bytes:
        """The request to /start for the match."""
        view = question.view
        return start_request(
            sitting.match,
            sitting.game,
            sitting.seat,
            players=view["players"],
            options=view["options"],
            clock=self.clock.wire(),
        )

    def ending(self, sitting: Sitting, question: Question) -> bytes:
        """The request to /end for the match."""
        return end_request(sitting.match, sitting.game, sitting.seat, question.record.scores)

    def sit(self, bot: Connection, question: Question) -> Sitting:
        """Begin a match, as a runner does, and tell the bot; what it says to that is ignored."""
        sitting = self.sitting(question)
        bot.notify("/start", self.starting(sitting, question), self.clock.move_ms / 1000)
        return sitting

    def rise(self, bot: Connection, sitting: Sitting, question: Question) -> None:
        """End the match of a question, and tell the bot."""
        bot.notify("/end", self.ending(sitting, question), self.clock.move_ms / 1000)

    def body(
        self, sitting: Sitting, question: Question, more: Mapping[str, Any] | None = None
    ) -> bytes:
        """The match's next request, with further fields if wanted."""
        sitting.turn += 1
        return move_request(
            sitting.match,
            sitting.turn,
            question.view,
            question.moves,
            self.clock.wire(),
            **(more or {}),
        )

    def ask(
        self,
        bot: Connection,
        sitting: Sitting,
        question: Question,
        more: Mapping[str, Any] | None = None,
    ) -> Asked:
        """Ask, and judge what comes."""
        body = self.body(sitting, question, more)
        before = self.subject.written() or 0
        self._answered()
        found = self._judged(bot, question, body)
        found = replace(found, written=(self.subject.written() or 0) - before)
        with self._lock:
            self.asked += 1
            if self.loudest is None or found.written > self.loudest.written:
                self.loudest = found
        return found

    def _judged(self, bot: Connection, question: Question, body: bytes) -> Asked:
        outcome = bot.move(body, self.clock.seconds)
        found = Asked(body, bot.answer(), outcome.elapsed_s * 1000)
        self.clock.charge(found.elapsed_ms)
        if not isinstance(outcome, Failure):
            self._timed(found)
            try:
                question.position.check(outcome.move)
            except IllegalMove as error:
                outcome = illegal_move(outcome, error, found.answer)
            else:
                return found
        failure = self.evidence(outcome.kind, outcome.detail, body, found.answer, found.elapsed_ms)
        return replace(found, failure=failure)

    def _timed(self, found: Asked) -> None:
        """Note the time of an answer; the first one is a case of its own."""
        with self._lock:
            self.times.append(found.elapsed_ms)
            if len(self.times) > 1 and (
                self.slowest is None or found.elapsed_ms > self.slowest.elapsed_ms
            ):
                self.slowest = found

    def evidence(
        self, kind: FaultKind, detail: str, body: bytes, answer: Answer, elapsed_ms: float
    ) -> Evidence:
        """What a fault at POST /move shows."""
        received = answer.size + len(answer.headers) + (answer.status is not None)
        told = advice(kind, detail, received)
        return self.found(f"{kind}: {detail}", "/move", body, answer, elapsed_ms, told, kind)

    def shown(self, problem: str, asked: Asked, told: Advice) -> Evidence:
        """A failure of many answers, with one of them."""
        found = self.found(problem, "/move", asked.body, asked.answer, asked.elapsed_ms, told)
        return replace(found, mend=told.mend)

    def found(
        self,
        problem: str,
        path: str,
        body: bytes,
        answer: Answer,
        elapsed_ms: float,
        told: Advice,
        kind: FaultKind | None = None,
    ) -> Evidence:
        """A failure at any path; GET where there is no body."""
        ended, output = self.subject.ended(), self.subject.output()
        if ended is not None:
            problem = f"{problem} The bot has ended: {ended}."
            if kind is FaultKind.UNREACHABLE or (kind is None and answer.status is None):
                told = Advice(told.rule, died(ended, output))
        return Evidence(
            problem=problem,
            method="POST" if body else "GET",
            url=f"{self.subject.url}{path}",
            body=body.decode("ascii"),
            answer=answer,
            elapsed_ms=elapsed_ms,
            rule=told.rule,
            mend=told.mend,
            output=output,
            kind=kind,
        )
