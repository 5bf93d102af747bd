"""Reads, parses and validates the body of a request."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import TYPE_CHECKING, Any, Final

from flask import current_app, request
from marshmallow import ValidationError
from werkzeug.exceptions import RequestEntityTooLarge

from service import json_codec
from service.problems import MAX_ERRORS, Problem, invalid_request
from service.schemas.requests import RequestValidator

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

JSON: Final = "application/json"
_UTF_8: Final = ("utf-8", "utf8")


def parse_body(validator: RequestValidator) -> dict[str, Any]:
    """Read, parse and validate the body of Flask's current request, and return its fields.

    Optional fields that are null, and optional lists that are empty, are left out.

    Raises:
        HTTPException: if the body is incomplete, too large or takes too long to arrive, or if the
            server is busy.
        Problem: if the headers do not announce unencoded JSON in UTF-8, or the body is not a JSON
            object or does not match the schema.
    """
    # msgspec reads a body that matches the contract. The standard library parses any other body,
    # and marshmallow converts its values or says what is wrong. Without msgspec, /v1/advance would
    # take 70 % more processor time.
    environ = request.environ
    _check_headers(environ)
    max_body = current_app.config["MAX_CONTENT_LENGTH"]
    stream = environ["wsgi.input"]
    if isinstance(stream, BytesIO):  # all of the body; Werkzeug's reader would take 8 % more time
        body = stream.read()
    else:
        # Werkzeug silently truncates a body that exceeds the limit without announcing its length.
        request.max_content_length = max_body + 1
        body = request.get_data(cache=False)
    if len(body) > max_body:
        raise RequestEntityTooLarge
    if not json_codec.has_too_many_containers(body):
        value = validator.decode(body)
        if value is not None:
            return value
    try:
        return validator.load(json_codec.decode(body))
    except json_codec.MalformedJson as error:
        raise Problem("malformed-json", str(error)) from None
    except ValidationError as error:
        raise invalid_request(_flatten_errors(error.messages)) from None


def _check_headers(environ: WSGIEnvironment) -> None:
    encoding = environ.get("HTTP_CONTENT_ENCODING", "identity")
    if encoding.lower() != "identity":
        detail = f"Content-Encoding {json_codec.quote(encoding)} is not supported."
    elif request.mimetype != JSON:
        given = json_codec.quote(request.mimetype) if request.mimetype else "missing"
        detail = f"Content-Type must be application/json; it is {given}."
    elif (charset := request.mimetype_params.get("charset", "utf-8")).lower() in _UTF_8:
        return
    else:
        detail = f"JSON must be UTF-8; the charset is {json_codec.quote(charset)}."
    raise Problem("unsupported-media-type", detail)


def _flatten_errors(messages: Any) -> dict[str, list[str]]:
    """Return marshmallow's messages as lists, keyed by dotted path, such as `state.hands.0`. The
    path of the body is "". Only the first `MAX_ERRORS` paths are kept."""
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
    if key == "_schema":  # marshmallow's name for the object itself
        return path
    # A client may choose a name that is very long or has a lone surrogate.
    name = json_codec.shortened(str(key)).encode("utf-8", "backslashreplace").decode()
    return f"{path}.{name}" if path else name
