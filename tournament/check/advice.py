"""For each way in which an answer can be wrong: the rule of the contract and how to fix it."""

from __future__ import annotations

from dataclasses import dataclass

from games import IllegalMove, Reason
from tournament.bot.client import HeadersTooLarge, NotConnected, ResponseTooLarge
from tournament.bot.protocol import InvalidAnswer
from tournament.records import Answer, FaultKind


@dataclass(frozen=True, slots=True)
class Advice:
    """A rule of the contract, and how to conform to it."""

    rule: str
    fix: str


ANSWER = 'POST /move is answered with 200 and {"move": "..."}, a string, in at most 64 KiB of JSON.'
DEADLINE = (
    "One deadline holds for each POST /move: move_ms plus what is left of the bank, from before"
    " connecting until the whole answer has arrived."
)
LEGAL = "The move is one of the legal moves; the request lists them in `moves`."
ABOUT = (
    'GET / is answered with 200 and {"name", "version", "author"?, "protocol": 1, "games": [...]},'
    " each named once, in at most 64 KiB of JSON."
)
LISTEN = (
    "A bot started by a command listens on 127.0.0.1 at the port in the variable PORT; a bot with a"
    " URL is running already and listens there."
)
UNKNOWN = "A request may have fields that a bot does not know; it ignores them."
HOOKS = (
    "POST /start and POST /end are answered with anything, of which at most 64 KiB are read; 404,"
    " 405 and 501 are fine if a bot does not offer them."
)
OUTPUT = (
    "The last 64 KiB that a bot writes to stdout and stderr in a match are kept; the rest is lost,"
    " and reading it slows down the machine that the bot plays on."
)
PARALLEL = "A bot may get a request before it has answered another: the requests are independent."

_UNREACHABLE = "No connection, or one that broke, is the fault `unreachable`; one retry is made."
WHOLE = (
    "Send Content-Length, the number of bytes of the body, then all of the body at once; a"
    " web server library does this by itself."
)
"""The fix for an answer whose end did not come."""

_TOO_LARGE = 'Answer with the move and no more: {"move": "pass"}. Do not send the view back.'
_STATUS = {
    404: "Serve POST /move, exactly at that path.",
    405: "Let /move take the method POST.",
    500: "The bot failed: its own output says where. Try the request again with curl.",
}


def advice(kind: FaultKind, error: Exception | None, answer: Answer) -> Advice:
    """What to say about a fault at POST /move: its kind, its cause, and what came back."""
    received = answer.size + len(answer.headers) + (answer.status is not None)
    match kind:
        case FaultKind.TIMEOUT:
            return Advice(DEADLINE, _late(received))
        case FaultKind.UNREACHABLE:
            return Advice(_UNREACHABLE, _broken(error, received))
        case FaultKind.ILLEGAL:
            return Advice(LEGAL, _illegal(error))
        case FaultKind.INVALID:
            return Advice(ANSWER, _invalid(error, answer.status))


def _invalid(error: Exception | None, status: int | None) -> str:
    if isinstance(error, InvalidAnswer):
        return _STATUS.get(status or 0) or error.fix
    if isinstance(error, HeadersTooLarge):
        return "Send the few headers that an answer needs."
    if isinstance(error, ResponseTooLarge):
        return _TOO_LARGE
    return "Use a web server library that answers with HTTP/1.1, and write logs to stderr."


def _late(received: int) -> str:
    if received:
        return f"An answer was started ({received} bytes) but not finished in time. {WHOLE}"
    return (
        "Nothing arrived. Decide sooner: `clock` in the request says how much time there is; stop"
        " thinking well before that. If it never answers, look for a deadlock or an endless loop."
    )


def _broken(error: Exception | None, received: int) -> str:
    if received:
        return f"The connection ended in the middle of the answer. {WHOLE}"
    if isinstance(error, NotConnected):
        return f"Is the bot running? {LISTEN}"
    return (
        "The connection was closed without an answer: the bot has crashed, or its server closes"
        " reused connections without sending `Connection: close`. Its own output may say why."
    )


def died(how: str, output: str) -> str:
    """The fix for a started bot that ended instead of answering: how it ended, what it wrote."""
    where = (
        "look at the end of its output, shown here"
        if output.strip()
        else "it wrote nothing; let it write errors to stderr"
    )
    return (
        f"The bot ended ({how}) while it was asked this: {where}. Start it again with PORT set and"
        " repeat the request. In a cup it is not restarted before its next match."
    )


def _illegal(error: Exception | None) -> str:
    if isinstance(error, IllegalMove) and error.reason is Reason.SYNTAX:
        return (
            "Answer with an element of `moves`, exactly as written: no spaces, no line breaks,"
            " cards as rank then suit."
        )
    return "Choose from the `moves` of this request; do not keep them from an earlier one."
