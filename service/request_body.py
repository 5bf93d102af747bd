"""From the bytes of a request to a body that has passed schema validation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from flask import current_app, request
from marshmallow import ValidationError
from werkzeug.exceptions import RequestEntityTooLarge
from werkzeug.wsgi import get_content_length

from service import json_codec
from service.problems import MAX_ERRORS, Problem, invalid_request
from service.schemas.requests import RequestValidator

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

JSON: Final = "application/json"


def parse_body(validator: RequestValidator) -> dict[str, Any]:
    """Read, parse and validate the body of the current request.

    Raises:
        RequestEntityTooLarge: if the body has too many bytes.
        Problem: if the body is not JSON, or does not match the schema.
    """
    environ = request.environ
    if environ.get("CONTENT_TYPE") != JSON:  # parsing the header takes 3 µs of each request
        _check_content_type()
    encoding = environ.get("HTTP_CONTENT_ENCODING", "identity")
    if encoding.lower() != "identity":
        detail = f"Content-Encoding {json_codec.quote(encoding)} is not supported."
        raise Problem("unsupported-media-type", detail)
    body = read_body(environ, current_app.config["MAX_CONTENT_LENGTH"])
    try:
        return parse(body, validator)
    except json_codec.MalformedJson as error:
        raise Problem("malformed-json", str(error)) from None


def read_body(environ: WSGIEnvironment, max_body: int) -> bytes:
    """Read the whole body.

    Werkzeug's own reader would silently cut off a body that has no length and is too large.

    Raises:
        RequestEntityTooLarge: if the body has more than `max_body` bytes.
        Problem: if the body ends before its announced length.
    """
    length = get_content_length(environ)
    if length is None and not environ.get("wsgi.input_terminated"):
        return b""  # the body has no end to read to
    read = environ["wsgi.input"].read
    wanted = max_body + 1 if length is None else length
    if wanted > max_body + 1:
        raise RequestEntityTooLarge
    try:
        body: bytes = read(wanted)
        while len(body) < wanted and (piece := read(wanted - len(body))):
            body += piece
    except OSError:
        body = b""
    if len(body) > max_body:
        raise RequestEntityTooLarge
    if length is not None and len(body) < length:
        raise Problem("malformed-json", "The body ends before its announced length.")
    return body


def _check_content_type() -> None:
    if request.mimetype != JSON:
        given = json_codec.quote(request.mimetype) if request.mimetype else "missing"
        detail = f"Content-Type must be application/json; it is {given}."
        raise Problem("unsupported-media-type", detail)
    charset = request.mimetype_params.get("charset", "utf-8")
    if charset.lower() not in ("utf-8", "utf8"):
        detail = f"JSON must be UTF-8; the charset is {json_codec.quote(charset)}."
        raise Problem("unsupported-media-type", detail)


def parse(body: bytes, validator: RequestValidator) -> dict[str, Any]:
    """Parse and validate a body.

    msgspec reads a body that matches the contract. The standard library parses any other body, and
    marshmallow converts it or says what is wrong. Without msgspec, a request of /v1/advance takes
    300 µs of processor time in place of 104, and a Flask route that does nothing 46.

    Raises:
        MalformedJson: if the body is not a JSON object.
        Problem: if the body does not match the schema.
    """
    if not json_codec.has_too_many_containers(body):
        value = validator.decode(body)
        if value is not None:
            return value
    try:
        return validator.load(json_codec.decode(body))
    except ValidationError as error:
        raise invalid_request(flatten_errors(error.messages)) from None


def flatten_errors(messages: Any) -> dict[str, list[str]]:
    """The messages of marshmallow by dotted path, such as `state.hands.0`.

    At most the first `MAX_ERRORS` paths.
    """
    errors: dict[str, list[str]] = {}
    pending = [("", messages)]
    while pending and len(errors) < MAX_ERRORS:
        path, item = pending.pop(0)
        if isinstance(item, Mapping):
            nested = [(_join(path, key), value) for key, value in item.items()]
            pending = nested[:MAX_ERRORS] + pending
        else:
            errors.setdefault(path, []).extend(str(message) for message in item)
    return errors


def _join(path: str, key: object) -> str:
    if key == "_schema":
        return path
    # The client chose this name: it may be very long, or have a lone surrogate.
    name = json_codec.shortened(str(key)).encode("utf-8", "backslashreplace").decode()
    return f"{path}.{name}" if path else name
