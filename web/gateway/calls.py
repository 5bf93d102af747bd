"""What the program of an author asks the pages of an arena, and what it and the gateway share."""

from collections.abc import Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final
from urllib.request import getproxies

import msgspec
import requests
from websockets.exceptions import InvalidURI

from tournament.errors import StichError
from tournament.text import printable

ANSWER_LIMIT: Final = 288 * 1024
"""Bytes of a bot's answer; the runner refuses shorter ones already."""
ALIVE_S: Final = 5.0
"""How often the gateway and the program of an author ask whether the other is there."""
CONNECT_S: Final = 10
_ANSWER_S: Final = 60  # a busy machine writes it into its store
_LIMIT: Final = 64 * 1024


class Refused(StichError):
    """The arena refuses this program; the text is a sentence."""


def ask_ladder(url: str, call: Mapping[str, Any]) -> dict[str, Any]:
    """Join a ladder, or leave it: what its arena answers. Refused."""
    try:
        status, about = _call("POST", url.rstrip("/") + "/join", call)
    except requests.RequestException as error:
        raise Refused(f"{url}: {reason(error)}; check the address, and try again.") from None
    if "detail" in about:
        raise Refused(printable(str(about["detail"])[:500]))
    if status != HTTPStatus.OK or not about:
        fix = "check the address; to a cup, connect with `stich connect`"
        raise Refused(f"{url}: no ladder answers there; {fix}.")
    return about


def gateway_port(url: str) -> int | None:
    """The port of the gateway of an arena, which its pages know."""
    with suppress(requests.RequestException):
        port = _call("GET", url + "/connect")[1].get("port")
        return port if isinstance(port, int) else None
    return None


def _call(
    method: str, url: str, body: Mapping[str, Any] | None = None
) -> tuple[int, dict[str, Any]]:
    """Call an arena: the status, and the object that it answers. RequestException."""
    with requests.request(
        method,
        url,
        json=body,
        timeout=(CONNECT_S, _ANSWER_S),
        allow_redirects=False,
        stream=True,
    ) as found:
        return found.status_code, json_object(next(found.iter_content(_LIMIT), b""))


def json_object(body: bytes) -> dict[str, Any]:
    """The object that an arena answers; empty if it is none."""
    try:
        return msgspec.json.decode(body, type=dict[str, Any])
    except (msgspec.DecodeError, RecursionError):
        return {}


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
