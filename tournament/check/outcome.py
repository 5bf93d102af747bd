"""The results of checks: outcomes, and for each failure the request, the broken rule and a fix."""

import shlex
from dataclasses import dataclass, field
from typing import NamedTuple

from games import IllegalMove, Reason
from tournament.bot.client import Busy, ResponseTooLarge
from tournament.bot.protocol import InvalidAnswer
from tournament.records import Answer, FaultKind


@dataclass(frozen=True, slots=True)
class Advice:
    """A rule of the contract, and how to fix a bot that breaks it."""

    rule: str
    fix: str


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
    does. `kind` is the kind of fault in a match, or None if it would not be one. `output` is the
    end of the bot's output, or "" if the bot was not started here.
    """

    problem: str
    exchange: Exchange | None
    advice: Advice
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


def advice(kind: FaultKind, error: Exception | None, answer: Answer) -> Advice:
    """Return the advice for a fault at POST /move. `error` is the exception that caused the fault,
    or None."""
    begun = answer.status is not None or answer.size > 0
    match kind:
        case FaultKind.TIMEOUT if isinstance(error, Busy):
            return Advice(DEADLINE, _BUSY)
        case FaultKind.TIMEOUT:
            return Advice(DEADLINE, WHOLE if begun else _LATE)
        case FaultKind.UNREACHABLE:
            return Advice(_UNREACHABLE, WHOLE if begun else _GONE)
        case FaultKind.ILLEGAL:
            syntax = isinstance(error, IllegalMove) and error.reason is Reason.SYNTAX
            return Advice(LEGAL, _AS_WRITTEN if syntax else _OF_THIS_REQUEST)
        case FaultKind.INVALID if isinstance(error, InvalidAnswer):
            return Advice(ANSWER, _STATUS.get(answer.status or 0, error.fix))
        case FaultKind.INVALID:
            return Advice(ANSWER, _SHORT if isinstance(error, ResponseTooLarge) else _HTTP)


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
