"""The examiner, which asks the checked bot for moves and judges its answers: for each failure, the
request, the broken rule and a fix."""

import secrets
import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from time import sleep
from typing import NamedTuple

from games import IllegalMove, Reason
from tournament.bot.client import Busy, Reply, ResponseTooLarge
from tournament.bot.protocol import Choice, InvalidAnswer, TimeBank, request
from tournament.bot.started_bot import StartedBot
from tournament.bot.url_bot import Failure, HttpBot, illegal_move
from tournament.check.positions import Question
from tournament.records import Answer, FaultKind

ANSWER = 'POST /move is answered with 200 and {"move": "..."}, a string, in at most 64 KiB of JSON.'
DEADLINE = (
    "One deadline holds for each POST /move: move_ms plus what is left of the bank, from before"
    " connecting until the whole answer has arrived."
)
LEGAL = "The move is one of the legal moves; the request lists them in `moves`."
LISTEN = (
    "A bot started by a command listens on 127.0.0.1 at the port in the variable PORT; a bot with a"
    " URL is running already and listens there."
)

_UNREACHABLE = "No connection, or one that broke, is the fault `unreachable`; one retry is made."
WHOLE = (
    "Send Content-Length, the number of bytes of the body, then all of the body at once; a"
    " web server library does this by itself."
)
"""The fix for an answer whose end did not arrive."""

_BUSY = "Answer 429 or 503 only with a Retry-After that leaves time for another answer."
_LATE = (
    "Nothing arrived. Decide sooner: `clock` in the request says how much time there is; stop"
    " thinking well before that. If it never answers, look for a deadlock or an endless loop."
)
_GONE = (
    "The bot does not run or has crashed, or its server closes reused connections without"
    " sending `Connection: close`. Its own output may say why."
)
_SHORT = (
    'Answer with the move and no more: {"move": "pass"}, and with few headers. Do not send the view'
    " back."
)
_HTTP = "Use a web server library that answers with HTTP/1.1, and write logs to stderr."
_AS_WRITTEN = (
    "Answer with an element of `moves`, exactly as written: no spaces, no line breaks, cards as"
    " rank then suit."
)
_OF_THIS_REQUEST = "Choose from the `moves` of this request; do not keep them from an earlier one."
_STATUS = {
    404: "Serve POST /move, exactly at that path.",
    405: "Let /move take the method POST.",
    500: "The bot failed: its own output says where. Try the request again with curl.",
}
_OUTPUT_SHOWN = 2000  # characters of a bot's output, with a failure
_POLL_S = 0.01
_POLLS = 50


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request to the bot and its answer. The request is a POST if it has a body, else a GET."""

    url: str
    body: bytes = b""
    answer: Answer = field(default_factory=Answer)
    elapsed_ms: float = 0.0

    @property
    def method(self) -> str:
        """The HTTP method of the request: GET or POST."""
        return "POST" if self.body else "GET"

    @property
    def curl(self) -> str:
        """A shell command that sends the same request again."""
        words = ["curl", "-sS", "-i", "-m", "60"]
        if self.body:
            words += ["-H", "Content-Type: application/json", "-d", self.body.decode()]
        return shlex.join([*words, self.url])


@dataclass(frozen=True, slots=True)
class CheckFailure:
    """A failure in a check.

    `problem` has one or more sentences. `exchange` shows the problem, or is None if no request
    does. `rule` is the broken rule of the contract, and `fix` says how to fix the bot. `kind` is
    the kind of fault in a match, or None if it would not be one. `output` is the end of the bot's
    output, or "" if the bot was not started here.
    """

    problem: str
    exchange: Exchange | None
    rule: str
    fix: str
    kind: FaultKind | None = None
    output: str = ""

    @property
    def final(self) -> bool:
        """Whether the bot was late or unreachable, so that asking again would only cost time."""
        return self.kind in (FaultKind.TIMEOUT, FaultKind.UNREACHABLE)


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a check.

    `note` is a short line of facts (perhaps ""), or the reason why the check was `skipped`.
    `output` is the end of the bot's output if the check is about output and passes, else "".
    `warnings` are about probable mistakes that cost the bot nothing in a cup.
    """

    note: str
    failures: tuple[CheckFailure, ...] = ()
    skipped: bool = False
    output: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the check ran and found no failure."""
        return not (self.failures or self.skipped)


class CheckResult(NamedTuple):
    """The number (from 1), the title and the outcome of a check."""

    number: int
    title: str
    outcome: Outcome


def advice(kind: FaultKind, error: Exception | None, answer: Answer) -> tuple[str, str]:
    """Return the broken rule and the fix for a fault at POST /move. `error` is the exception that
    caused the fault, or None."""
    begun = answer.status is not None or answer.size > 0
    match kind:
        case FaultKind.TIMEOUT if isinstance(error, Busy):
            return DEADLINE, _BUSY
        case FaultKind.TIMEOUT:
            return DEADLINE, WHOLE if begun else _LATE
        case FaultKind.UNREACHABLE:
            return _UNREACHABLE, WHOLE if begun else _GONE
        case FaultKind.ILLEGAL:
            syntax = isinstance(error, IllegalMove) and error.reason is Reason.SYNTAX
            return LEGAL, _AS_WRITTEN if syntax else _OF_THIS_REQUEST
        case FaultKind.INVALID if isinstance(error, InvalidAnswer):
            return ANSWER, _STATUS.get(answer.status or 0, error.fix)
        case FaultKind.INVALID:
            return ANSWER, _SHORT if isinstance(error, ResponseTooLarge) else _HTTP


def died(how: str, output: str) -> str:
    """Return the fix for a started bot that ended instead of answering. `how` is what
    `Examiner.ended` returned."""
    where = (
        "look at the end of its output, shown here"
        if output.strip()
        else "it wrote nothing; let it write errors to stderr"
    )
    return (
        f"The bot ended ({how}) while it was asked this: {where}. Start it again with PORT set and"
        " repeat the request. In a cup it is not restarted before its next match."
    )


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
        """Ask for a move as `HttpBot.move` does. Let the examiner count the outcome and charge its
        time (see `Examiner.count`). If the outcome is a failure, also add it to `failures`."""
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
        """Return the failure, with rule and fix, for a fault at POST /move. `error` is the
        exception that caused the fault, or None. This may wait for the bot to end (see `failure`).
        """
        rule, fix = advice(kind, error, exchange.answer)
        return self.failure(f"{kind}: {detail}", exchange, rule, fix, kind)

    def failure(
        self,
        problem: str,
        exchange: Exchange,
        rule: str,
        fix: str,
        kind: FaultKind | None = None,
    ) -> CheckFailure:
        """Return a failure with the bot's output. If the bot has ended, the failure says how.

        `kind` is None if the failure would not be a fault in a match. If the bot was unreachable,
        or did not answer and `kind` is None, wait up to half a second for the bot to end. If the
        bot ends, the fix is about its end, in place of `fix`.
        """
        unanswered = kind is None and exchange.answer.status is None
        gone = unanswered or kind is FaultKind.UNREACHABLE
        ended, output = self.ended(wait=gone), self.output()
        if ended is not None:
            problem = f"{problem} The bot has ended: {ended}."
            if gone:
                fix = died(ended, output)
        return CheckFailure(problem, exchange, rule, fix, kind, output)

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
