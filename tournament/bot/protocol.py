"""The bot protocol (docs/bots.md): what a bot is sent, and how strictly its answers are read."""

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from itertools import islice

import msgspec

from tournament.bot.client import ExchangeError, Reply

PROTOCOL = 1
UNSUPPORTED = (404, 405, 501)
"""The HTTP statuses with which a bot declines POST /start or /end."""

_MAX_COMMENT = 2000
_MAX_NUMBERS = 16
_LARGEST = 1e15  # so that sums and estimates stay finite
_MAX_FALLBACK = 200
_CUT = " […]"  # ends a comment that was cut


class InvalidAnswer(ExchangeError):
    """The answer does not conform to the protocol. The text says why, and `fix` says what to do."""

    def __init__(self, text: str, fix: str) -> None:
        super().__init__(text)
        self.fix = fix


@dataclass(slots=True)
class TimeBank:
    """A seat's time in milliseconds: `move_ms` for each move, and what is left of its bank."""

    move_ms: int
    bank_ms: float

    @property
    def deadline_ms(self) -> float:
        """The milliseconds that the bot has for its next answer."""
        return self.move_ms + self.bank_ms

    def charge(self, elapsed_ms: float) -> None:
        """Subtract the part of `elapsed_ms` beyond `move_ms` from the bank, but not below 0."""
        self.bank_ms = max(0.0, self.bank_ms - max(0.0, elapsed_ms - self.move_ms))

    def to_dict(self) -> dict[str, int]:
        """Return the `clock` field of a request, in milliseconds rounded down."""
        return {"move_ms": self.move_ms, "bank_ms": int(self.bank_ms)}


def request(match: str, **fields: object) -> bytes:
    """Return the JSON body of POST /move, /start or /end. `match` is the id of the match, and
    `fields` are the other fields except `protocol`."""
    return msgspec.json.encode({"protocol": PROTOCOL, "match": match, **fields})


@dataclass(frozen=True, slots=True)
class Info:
    """The part of an answer's `info` to keep, and sentences about what was dropped or cut."""

    values: Mapping[str, str | float] = field(default_factory=dict)
    dropped: tuple[str, ...] = ()


NOTHING = Info()


@dataclass(frozen=True, slots=True)
class Choice:
    """A move, legal or not, that arrived `elapsed_s` seconds after the request. `fallback` says why
    the bot did not choose the move itself, or is None if it did."""

    move: str
    elapsed_s: float
    info: Info = NOTHING
    fallback: str | None = None


def read_info(value: object) -> Info:
    """Return the parts of an answer's `info` that fit the protocol, and sentences that say what was
    dropped or cut."""
    if not isinstance(value, dict):
        return Info(dropped=('"info" must be an object.',))
    values: dict[str, str | float] = {}
    dropped = []
    if "comment" in value:
        comment = value["comment"]
        if isinstance(comment, str):
            text = _one_line(comment)
            if len(text) > _MAX_COMMENT:
                text = text[: _MAX_COMMENT - len(_CUT)] + _CUT
                dropped.append(f"The comment has more than {_MAX_COMMENT} characters.")
            values["comment"] = text
        else:
            dropped.append('"comment" must be a string.')
    numbers = ((name, item) for name, item in value.items() if name != "comment")
    for name, item in islice(numbers, _MAX_NUMBERS):
        if not re.fullmatch("[a-z][a-z0-9_]{0,31}", name):
            dropped.append(f"{name[:40]!a} is no name: write [a-z][a-z0-9_]{{0,31}}.")
        elif type(item) in (int, float) and abs(item) <= _LARGEST:
            values[name] = float(item)
        else:
            dropped.append(f'"{name}" must be a number from -1e15 to 1e15.')
    if len(value) - ("comment" in value) > _MAX_NUMBERS:
        dropped.append(f"There are more than {_MAX_NUMBERS} numbers.")
    return Info(values, tuple(dropped))


def read_move(reply: Reply, elapsed_s: float) -> Choice:
    """Return the move in an answer to POST /move, which came after `elapsed_s` seconds. Parts of
    `info` and `fallback` that do not fit the protocol are dropped or cut.

    Raises:
        InvalidAnswer: if the status is not 200, the body is compressed or not a JSON object, or
            `move` is missing, repeated or not a string.
    """
    data = read_object(reply, ("move",))
    if "move" not in data:
        raise InvalidAnswer('Its answer has no "move".', 'Name the field "move".')
    move = data["move"]
    if not isinstance(move, str):
        raise InvalidAnswer(
            f'Its "move" is not a string but {_kind(move)}.',
            "Answer with one string, an element of `moves`: not with its index, a list or null.",
        )
    info = read_info(data["info"]) if "info" in data else NOTHING
    fallback = data.get("fallback")
    if fallback is not None and not isinstance(fallback, str):
        info = replace(info, dropped=(*info.dropped, '"fallback" must be a string that says why.'))
        fallback = None
    return Choice(move, elapsed_s, info, _one_line(fallback)[:_MAX_FALLBACK] if fallback else None)


def _one_line(text: str) -> str:
    # Line breaks are control characters.
    return "".join(c for c in text if unicodedata.category(c) not in ("Cc", "Cs"))


class _Object(dict[str, object]):
    """A JSON object that remembers which names appeared more than once."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        super().__init__(pairs)
        counts = Counter(name for name, _ in pairs)
        self.repeated = {name for name, count in counts.items() if count > 1}


def read_object(reply: Reply, fields: Sequence[str]) -> dict[str, object]:
    """Return the JSON object in the body of an answer.

    Raises:
        InvalidAnswer: if the status is not 200, the body is compressed or not a JSON object, or the
            object has one of `fields` more than once.
    """
    if 300 <= reply.status < 400:
        raise InvalidAnswer(
            f"It redirects ({reply.status}); a bot must answer itself.",
            "Answer at /move itself. Mind a trailing slash that your framework adds.",
        )
    if reply.status != 200:
        raise InvalidAnswer(
            f"It answered with status {reply.status}, not 200.",
            "Answer with status 200; the body of the answer may say why not.",
        )
    if reply.encoding not in (None, "", "identity"):
        raise InvalidAnswer(
            f"Its answer is encoded as {reply.encoding[:40]}; send it plain.",
            "Do not compress: switch off gzip or br in the web server or its middleware.",
        )
    try:
        text = reply.body.decode("utf-8")
        data = json.loads(
            text, parse_int=_integer, parse_constant=Decimal, object_pairs_hook=_Object
        )
        # Python reads NaN and Infinity; here they become Decimal, which json.dumps refuses.
        json.dumps({**data, "info": None} if isinstance(data, dict) else data)
    except TypeError:
        raise InvalidAnswer(
            "Its answer is not JSON: NaN is not a JSON number, nor is Infinity.",
            "JSON has no NaN and no Infinity: leave out such numbers.",
        ) from None
    except UnicodeDecodeError:
        raise InvalidAnswer(
            "Its answer is not UTF-8.",
            "Write the answer as UTF-8; a move needs only ASCII characters.",
        ) from None
    except RecursionError:
        raise InvalidAnswer(
            "Its answer is nested too deeply.", 'Answer with one flat object: {"move": "pass"}.'
        ) from None
    except ValueError as error:
        raise InvalidAnswer(
            f"Its answer is not JSON: {error}."[:200],
            "Write the answer with a JSON library, and nothing before or after it: no log line, no"
            " page of HTML. Control characters in a string must be escaped.",
        ) from None
    if not isinstance(data, _Object):
        raise InvalidAnswer(
            f"Its answer is not a JSON object but {_kind(data)}.",
            'Answer with an object, {"move": "pass"}: not with the move alone, a list or null.',
        )
    for name in fields:
        if name in data.repeated:
            raise InvalidAnswer(
                f'Its answer names "{name}" more than once.',
                f'Write "{name}" once; other fields may contain anything.',
            )
    return data


def _integer(digits: str) -> int | float:
    # Python refuses to read very long integers, and to convert somewhat shorter ones to a float.
    return int(digits) if len(digits) < 300 else float(digits)


def _kind(value: object) -> str:
    if value is None:
        return "null"
    kinds = {bool: "true or false", str: "a string", list: "a list", _Object: "an object"}
    return kinds.get(type(value), "a number")
