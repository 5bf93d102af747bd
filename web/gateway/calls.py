"""What the program of an author asks the pages of an arena, and what it and the gateway share."""

from contextlib import suppress
from http import HTTPStatus
from typing import Annotated, Final, Literal, TypeVar
from urllib.request import getproxies

import msgspec
import requests
from websockets.exceptions import InvalidURI

from tournament.errors import StichError
from tournament.model import Identity
from tournament.store.chain import Digest
from tournament.text import printable

ANSWER_LIMIT: Final = 288 * 1024
"""Bytes of a bot's answer; the runner refuses shorter ones already."""
REQUEST_LIMIT: Final = 8 * 1024 * 1024
"""Bytes of a request to a bot; the longest lists of moves have 800 KiB."""
CHALLENGE: Final = "challenge "
"""Begins the call of a request that belongs to a challenge."""
ALIVE_S: Final = 5.0
"""How often the gateway and the program of an author ask whether the other is there."""
CONNECT_S: Final = 10
_ANSWER_S: Final = 60  # a busy machine writes it into its store
_RECEIPT_S: Final = 3  # the program of an author waits for the last one before it ends
_LIMIT: Final = 64 * 1024
_Answer = TypeVar("_Answer")


Wants = Literal["join", "new-version", "leave", "token"]
"""What an author may ask of a ladder."""


class LadderCall(msgspec.Struct, frozen=True):
    """A request of an author's program to a ladder. `key` is the author's secret for this arena,
    and `about` is what the bot states about itself."""

    name: str
    key: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
    wants: Wants = "join"
    code: str = ""
    about: Identity = Identity()


class LadderAnswer(msgspec.Struct, frozen=True):
    """The answer of a ladder: the bot's name in the ladder, its token, and the ladder's name."""

    bot: str
    token: str
    ladder: str


class Terms(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The game of a challenge and its clock, in milliseconds."""

    game: str
    players: int
    options: dict[str, int | bool | None]
    move_ms: int
    bank_ms: int


class Opponent(msgspec.Struct, frozen=True):
    """The challenged bot, and the name under which the challenger plays in the same cup."""

    opponent: str
    bot: str
    terms: Terms


class _Refusal(msgspec.Struct):
    detail: str


class _GatewayPort(msgspec.Struct):
    port: int


class _ShownDigest(msgspec.Struct):
    entries: Annotated[int, msgspec.Meta(ge=1, lt=2**53)]
    digest: Annotated[str, msgspec.Meta(pattern=r"\A[0-9a-f]{64}\Z")]


class EntryRefused(StichError):
    """The arena refuses this program. The message is a sentence."""


def ask_ladder(url: str, call: LadderCall) -> LadderAnswer:
    """Join or leave a ladder, or enter a new version.

    Raises:
        EntryRefused: if the ladder refuses the call, or no ladder can be reached at this URL.
    """
    try:
        status, body = _call("POST", url.rstrip("/") + "/join", msgspec.json.encode(call))
    except requests.RequestException as error:
        raise EntryRefused(f"{url}: {reason(error)}; check the address, and try again.") from None
    if why := refusal(body):
        raise EntryRefused(why)
    answer = _decode(body, LadderAnswer)
    if status != HTTPStatus.OK or answer is None:
        fix = "check the address; to a cup, connect with `stich connect`"
        raise EntryRefused(f"{url}: no ladder answers there; {fix}.")
    return LadderAnswer(*map(printable, (answer.bot, answer.token, answer.ladder)))


def gateway_port(url: str) -> int | None:
    """Ask the pages of an arena for the port of its gateway. Return None if they do not answer."""
    with suppress(requests.RequestException):
        answer = _decode(_call("GET", url + "/connect")[1], _GatewayPort)
        return None if answer is None else answer.port
    return None


def ask_digest(url: str) -> Digest | None:
    """Ask the pages of an arena for the digest of the run. Return None if they do not show one."""
    with suppress(requests.RequestException):
        answer = _decode(_call("GET", url + "/digest", seconds=_RECEIPT_S)[1], _ShownDigest)
        return None if answer is None else Digest(answer.entries, answer.digest)
    return None


def refusal(body: bytes) -> str:
    """The sentence with which an arena refuses, printable and short, or "" if the body has none."""
    answer = _decode(body, _Refusal)
    return "" if answer is None else printable(answer.detail[:500])


def _call(
    method: str, url: str, body: bytes | None = None, seconds: float = _ANSWER_S
) -> tuple[int, bytes]:
    """Call an arena. Return the status and the first 64 KiB of the body.

    Raises:
        RequestException: if the arena does not answer.
    """
    with requests.request(
        method,
        url,
        data=body,
        headers={"Content-Type": "application/json"},
        timeout=(min(CONNECT_S, seconds), seconds),
        allow_redirects=False,
        stream=True,
    ) as found:
        return found.status_code, next(found.iter_content(_LIMIT), b"")


def _decode(body: bytes, kind: type[_Answer]) -> _Answer | None:
    """A body decoded as this type, or None if it is not valid."""
    try:
        return msgspec.json.decode(body, type=kind)
    except (msgspec.DecodeError, RecursionError):
        return None


def reason(error: Exception) -> str:
    """A short clause for why a connection failed."""
    said = str(error)
    if isinstance(error, InvalidURI):  # the one to which the arena sends on
        return "it sends on to another address; perhaps its own begins with https://"
    if "CERTIFICATE_VERIFY_FAILED" in said:
        return "its certificate is not accepted"
    if "SSL" in said:
        return "it does not speak TLS there; perhaps its address begins with http://"
    if "Proxy" in type(error).__name__:
        return "the proxy does not connect"
    if isinstance(error, TimeoutError | requests.Timeout):
        return "no answer in time"
    return "it does not answer" + (", or the proxy does not" if getproxies() else "")
