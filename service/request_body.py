"""From a request's bytes to a body that a schema has taken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from flask import current_app, request
from marshmallow import ValidationError

from service import json_codec
from service.body_reader import receive
from service.problems import MOST, Problem, invalid_request
from service.schemas.requests import Taker

JSON: Final = "application/json"


def take(taker: Taker) -> dict[str, Any]:
    """The body of this request as the schema takes it; Problem if it does not."""
    environ = request.environ
    if environ.get("CONTENT_TYPE") != JSON or "HTTP_CONTENT_ENCODING" in environ:
        _check_headers()
    try:
        return read(receive(environ, current_app.config["MAX_CONTENT_LENGTH"]), taker)
    except json_codec.Malformed as error:
        raise Problem("malformed-json", str(error)) from None


def _check_headers() -> None:
    if request.mimetype != JSON:
        given = json_codec.shown(request.mimetype) if request.mimetype else "missing"
        raise Problem(
            "unsupported-media-type", f"Content-Type must be application/json; it is {given}."
        )
    charset = request.mimetype_params.get("charset", "utf-8")
    if charset.lower() not in ("utf-8", "utf8"):
        raise Problem(
            "unsupported-media-type",
            f"The body must be UTF-8, as JSON is; the charset is {json_codec.shown(charset)}.",
        )
    encoding = request.headers.get("Content-Encoding", "identity")
    if encoding.lower() != "identity":
        raise Problem(
            "unsupported-media-type",
            "The body must be sent as it is, without"
            f" Content-Encoding {json_codec.shown(encoding)}.",
        )


def read(body: bytes, taker: Taker) -> dict[str, Any]:
    """A body as the schema takes it.

    The short way is for bodies that need no conversion and surely name nothing twice; the others
    are read again, by the letter.
    """
    value = json_codec.decode_quickly(body)
    if taker.plain(value) and json_codec.surely_unique(body, value):
        return cast("dict[str, Any]", value)
    value = json_codec.decode_slowly(body)
    if type(value) is not dict:
        raise json_codec.Malformed("The body is JSON, but no object.")
    json_codec.check_depth(value)
    try:
        return cast("dict[str, Any]", taker.load(value))
    except ValidationError as error:
        raise invalid_request(flat(error.messages)) from None


def flat(messages: Any) -> dict[str, list[str]]:
    """Errors by dotted path, such as `state.hands.0`: the first of them, in order."""
    found: dict[str, list[str]] = {}
    pending = [("", messages)]
    while pending and len(found) < MOST:
        path, item = pending.pop(0)
        if isinstance(item, Mapping):
            inner = [(_step(path, key), value) for key, value in item.items()]
            pending = inner[:MOST] + pending
        else:
            found.setdefault(path, []).extend(str(message) for message in item)
    return found


def _step(path: str, key: object) -> str:
    if key == "_schema":
        return path
    # a name out of somebody else's JSON: it may be endless, or no text that UTF-8 can write
    name = str(key) if len(str(key)) <= 64 else str(key)[:61] + "..."
    name = name.encode("utf-8", "backslashreplace").decode()
    return f"{path}.{name}" if path else name
