"""Errors as problem details (RFC 9457): the types of problems, and an exception for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from flask import Response

from service.json_codec import encode

MEDIA_TYPE: Final = "application/problem+json"
MAX_ERRORS: Final = 100  # listed in one response; a body may have many thousands


@dataclass(frozen=True, slots=True)
class _ProblemType:
    status: int
    title: str
    description: str  # in Markdown; says when the problem occurs


PROBLEM_TYPES: Final = {
    "malformed-json": _ProblemType(
        400,
        "The body is not a JSON object",
        "The body is not a JSON object (RFC 8259), is not in UTF-8, is nested too deeply,"
        " repeats a field within an object, or has too many lists and objects for its length.",
    ),
    "invalid-token": _ProblemType(
        403,
        "The token or key is not valid",
        "A token or a key was altered or cut off, belongs to another game or service, or was made"
        " with a seal key that is no longer in use. The answer is the same for all of these.",
    ),
    "not-found": _ProblemType(
        404, "Not found", "There is no operation at this path, or no game of this name."
    ),
    "method-not-allowed": _ProblemType(
        405,
        "Method not allowed",
        "The path does not support this method; the `Allow` header lists those it does.",
    ),
    "timeout": _ProblemType(
        408, "The body did not arrive in time", "The body did not arrive within ten seconds."
    ),
    "too-large": _ProblemType(
        413, "The body is too large", "The body exceeds the size limit, 1 MiB by default."
    ),
    "unsupported-media-type": _ProblemType(
        415,
        "The body must be JSON",
        "`Content-Type` is not `application/json`, the charset is not UTF-8, or the body has"
        " a `Content-Encoding`.",
    ),
    "invalid-request": _ProblemType(
        422,
        "The request has wrong or missing fields",
        "A field is missing, unknown or of the wrong type, or an option is out of range."
        " `errors` maps the path of each such field to what is wrong with it.",
    ),
    "invalid-state": _ProblemType(
        422,
        "The state or view breaks a rule of its game",
        "Every field has the right type, but together they are not a position of the game;"
        " `problems` lists what is wrong. /v1/moves also rejects a set-up position with more"
        " than 32,000 legal moves.",
    ),
    "illegal-move": _ProblemType(
        422,
        "A move is illegal",
        "A move is illegal: `index` says which one (from 0) and `reason` why. None of the"
        " moves was made.",
    ),
    "internal": _ProblemType(
        500,
        "The service failed",
        "An error in the service itself. The request changed nothing and can be retried.",
    ),
    "busy": _ProblemType(
        429,
        "The service is busy",
        "Too many large requests and answers are under way, such as answers that nobody"
        " reads; `Retry-After` says in how many seconds to try again.",
    ),
    "unavailable": _ProblemType(
        503,
        "The service does not answer",
        "A proxy in front of the service cannot reach it, for example while it restarts;"
        " `Retry-After` says in how many seconds to try again.",
    ),
    "sealing-unavailable": _ProblemType(
        503,
        "The service has no seal keys",
        "The request needs sealed states, but the operator of the service has not set"
        " `STICH_SEAL_KEYS`.",
    ),
}


class Problem(Exception):
    """The request cannot be answered. The service responds with this problem.

    `code` is a key of `PROBLEM_TYPES`, `detail` says in sentences what is wrong with this request,
    and `extensions` are the other members of the answer, such as `errors` or `reason`.
    """

    def __init__(self, code: str, detail: str, **extensions: Any) -> None:
        super().__init__(f"{code}: {detail}")
        self.code = code
        self.detail = detail
        self.extensions = extensions

    def response(self) -> Response:
        """Return the problem as an HTTP response."""
        type_ = PROBLEM_TYPES[self.code]
        problem = {
            "type": f"/docs#{self.code}",
            "title": type_.title,
            "status": type_.status,
            "detail": self.detail,
            "code": self.code,
            **self.extensions,
        }
        return Response(encode(problem), type_.status, content_type=MEDIA_TYPE)


def invalid_request(errors: Mapping[str, Sequence[str]]) -> Problem:
    """Return the problem for wrong or missing fields.

    `errors` maps the dotted path of each such field, or "" for the whole body, to at least one
    message. The detail quotes the first three fields.
    """
    first = list(errors.items())[:3]
    detail = " ".join(f"{path}: {messages[0]}" if path else messages[0] for path, messages in first)
    if len(errors) > len(first):
        detail += f" And {len(errors) - len(first)} more, see errors."
    return Problem("invalid-request", detail, errors=errors)


def invalid_state(problems: Sequence[str]) -> Problem:
    """Return the problem for a state or view that breaks rules of its game. `problems` has a
    sentence for each broken rule, of which only the first `MAX_ERRORS` are listed."""
    listed = list(problems[:MAX_ERRORS])
    return Problem("invalid-state", " ".join(listed), problems=listed)
