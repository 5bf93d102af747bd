"""Calls from an author's program to an arena, and types that it shares with the gateway."""

from contextlib import suppress
from http import HTTPStatus
from socket import gaierror
from typing import Annotated, Final, Literal, TypeVar
from urllib.request import getproxies

import msgspec
import requests
from websockets.exceptions import InvalidURI

from tournament.errors import StichError
from tournament.model import Identity
from tournament.records import prepare
from tournament.store.chain import Digest
from tournament.text import printable

ANSWER_LIMIT: Final = 288 * 1024  # bytes of a bot's answer; the runner's own limit is lower
REQUEST_LIMIT: Final = 8 * 1024 * 1024  # bytes; the longest lists of moves have 800 KiB
CHALLENGE: Final = "challenge "  # begins the call of a request that belongs to a challenge
Request = tuple[int, str, bytes]
"""A request to a program, in MessagePack: a number, a call (method and path), and a body."""
Answer = tuple[int, bytes, bool]
"""The answer: the request's number, the bytes of the bot's HTTP answer, whether all have come."""
ALIVE_S: Final = 5.0  # between pings of the gateway and an author's program
CONNECT_S: Final = 10
_ANSWER_S: Final = 60  # for a busy machine that writes into its store
_RECEIPT_S: Final = 3  # an author's program waits for the last receipt before it ends
_LIMIT: Final = 64 * 1024
_Kind = TypeVar("_Kind")

Wants = Literal["join", "new-version", "leave", "token"]


class LadderCall(msgspec.Struct, frozen=True):
    """A request from an author's program to a ladder, about the bot `name`."""

    name: str
    key: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]  # the author's, for this arena
    wants: Wants = "join"
    code: str = ""  # the organiser's code for joining, if there is one
    about: Identity = Identity()  # what the bot states about itself


prepare(LadderCall)


class LadderAnswer(msgspec.Struct, frozen=True):
    """A ladder's answer: the bot's name in the ladder, its token, and the ladder's name."""

    bot: str
    token: str
    ladder: str


class Terms(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The game of a challenge, and its clock in milliseconds."""

    game: str
    players: int
    options: dict[str, int | bool | None]
    move_ms: int
    bank_ms: int


class Opponent(msgspec.Struct, frozen=True):
    """The challenged bot, the challenger's bot, and the terms of a challenge."""

    opponent: str
    bot: str
    terms: Terms


class Asked(msgspec.Struct, frozen=True):
    """The parts of a request to a bot that the gateway and an author's program read."""

    match: Annotated[str, msgspec.Meta(max_length=64)] = ""
    clock: dict[str, Annotated[float, msgspec.Meta(ge=0, le=3_600_000)]] = {}  # milliseconds

    @property
    def seconds(self) -> float:
        """The time for the answer in seconds: the sum of `clock`, or 60 if the sum is 0."""
        return sum(self.clock.values()) / 1000 or 60.0


class _Refusal(msgspec.Struct):
    detail: str
    code: str = ""  # only from a rules service


class _GatewayPort(msgspec.Struct):
    port: int


class _ShownDigest(msgspec.Struct):
    entries: Annotated[int, msgspec.Meta(ge=1, lt=2**53)]
    digest: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]


class EntryRefused(StichError):
    """An arena refuses an author's program, or cannot be reached. The message says why."""


def ask_ladder(url: str, call: LadderCall) -> LadderAnswer:
    """Send a request to the ladder at `url`, and return its answer, made printable. Each wait for
    the ladder is limited to a minute.

    Raises:
        EntryRefused: if the ladder refuses the call, or no ladder can be reached at this URL.
    """
    try:
        status, body = _call("POST", url.rstrip("/") + "/join", msgspec.json.encode(call))
    except requests.RequestException as error:
        raise EntryRefused(f"{url}: {reason(error)}; check the address, and try again.") from None
    if (refused := _decode(body, _Refusal)) and refused.code:
        what = "a rules service (`stich serve`) answers there, not an arena"
        raise EntryRefused(f"{url}: {what}; give the address of the ladder's pages.")
    if why := refusal(body):
        raise EntryRefused(why)
    answer = _decode(body, LadderAnswer)
    if status != HTTPStatus.OK or answer is None:
        fix = "check the address; to a cup, connect with `stich connect`"
        raise EntryRefused(f"{url}: no ladder answers there; {fix}.")
    return LadderAnswer(*map(printable, (answer.bot, answer.token, answer.ladder)))


def gateway_port(url: str) -> int | None:
    """Ask an arena's web server for the port of the gateway. Return None if there is no valid
    answer. Each wait for the server is limited to a minute. `url` must not end with a slash."""
    answer = _get(f"{url}/connect", _GatewayPort, _ANSWER_S)
    return None if answer is None else answer.port


def ask_digest(url: str) -> Digest | None:
    """Ask an arena's web server for the digest of the run. Return None if there is no valid answer.
    Each wait for the server is limited to three seconds. `url` must not end with a slash."""
    answer = _get(f"{url}/digest", _ShownDigest, _RECEIPT_S)
    return None if answer is None else Digest(answer.entries, answer.digest)


def _get(url: str, kind: type[_Kind], seconds: float) -> _Kind | None:
    with suppress(requests.RequestException):
        return _decode(_call("GET", url, seconds=seconds)[1], kind)
    return None


def refusal(body: bytes) -> str:
    """Return the sentence with which an arena refuses a request, cut to 500 characters and made
    printable, or "" if `body`, the body of the arena's answer, has no such sentence."""
    answer = _decode(body, _Refusal)
    return "" if answer is None else printable(answer.detail[:500])


def _call(
    method: str, url: str, body: bytes | None = None, seconds: float = _ANSWER_S
) -> tuple[int, bytes]:
    with requests.request(
        method,
        url,
        data=body,
        headers={"Content-Type": "application/json"},
        timeout=(min(CONNECT_S, seconds), seconds),
        allow_redirects=False,
        stream=True,
    ) as response:
        body = b""
        for part in response.iter_content(_LIMIT):  # a chunked answer comes in parts
            body += part
            if len(body) >= _LIMIT:
                break
        return response.status_code, body[:_LIMIT]


def _decode(body: bytes, kind: type[_Kind]) -> _Kind | None:
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, RecursionError):
        return None


def reason(error: Exception) -> str:
    """Return why a connection to an arena failed, as a clause such as "no answer in time"."""
    message = str(error)
    if isinstance(error, InvalidURI):  # the target of a redirect
        return "it sends on to another address; perhaps its own begins with https://"
    if "CERTIFICATE_VERIFY_FAILED" in message:
        return "its certificate is not accepted"
    if "SSL" in message:
        return "it does not speak TLS there; perhaps its address begins with http://"
    if "Proxy" in type(error).__name__:
        return "the proxy does not connect"
    if isinstance(error, gaierror) or "NameResolutionError" in message:
        return "its host is not found"
    if isinstance(error, TimeoutError | requests.Timeout):
        return "no answer in time"
    return "it does not answer" + (", or the proxy does not" if getproxies() else "")
