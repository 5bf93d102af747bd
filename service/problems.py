"""Errors as RFC 9457 problem details: every code, and the members that each adds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from flask import Response

from service.json_codec import encode

MEDIA_TYPE: Final = "application/problem+json"
MAX_ERRORS: Final = 100
"""The most errors that one response lists; a body may have many thousands."""


@dataclass(frozen=True, slots=True)
class ProblemType:
    """A type of problem; the contract says when it occurs."""

    code: str
    status: int
    title: str

    @property
    def schema(self) -> str:
        """The name of its schema in the contract, such as `TooLargeProblem`."""
        return self.code.title().replace("-", "") + "Problem"


PROBLEM_TYPES: Final[Mapping[str, ProblemType]] = {
    type_.code: type_
    for type_ in (
        ProblemType("malformed-json", 400, "The body is not a JSON object"),
        ProblemType("invalid-token", 403, "The token or key is not valid"),
        ProblemType("not-found", 404, "Not found"),
        ProblemType("method-not-allowed", 405, "Method not allowed"),
        ProblemType("timeout", 408, "The body did not arrive in time"),
        ProblemType("too-large", 413, "The body is too large"),
        ProblemType("unsupported-media-type", 415, "The body must be JSON"),
        ProblemType("invalid-request", 422, "The request has wrong or missing fields"),
        ProblemType("invalid-state", 422, "The state or view breaks a rule of its game"),
        ProblemType("illegal-move", 422, "A move is illegal"),
        ProblemType("internal", 500, "The service failed"),
        ProblemType("busy", 429, "The service is busy"),
        ProblemType("unavailable", 503, "The service does not answer"),
        ProblemType("sealing-unavailable", 503, "The service has no seal keys"),
    )
}


class Problem(Exception):
    """Makes the service respond with a problem.

    Args:
        code: one of `PROBLEM_TYPES`.
        detail: what is wrong with this request, in one sentence or more.
        extensions: the members that this type adds, such as `errors` or `reason`.
    """

    def __init__(self, code: str, detail: str, **extensions: Any) -> None:
        super().__init__(f"{code}: {detail}")
        self.type = PROBLEM_TYPES[code]
        self.detail = detail
        self.extensions = extensions

    def response(self) -> Response:
        """The HTTP response."""
        problem = {
            "type": f"/docs#{self.type.code}",
            "title": self.type.title,
            "status": self.type.status,
            "detail": self.detail,
            "code": self.type.code,
            **self.extensions,
        }
        return Response(encode(problem), self.type.status, content_type=MEDIA_TYPE)


def invalid_request(errors: Mapping[str, Sequence[str]]) -> Problem:
    """The problem for fields that are wrong or missing."""
    first = list(errors.items())[:3]
    detail = " ".join(f"{path}: {messages[0]}" if path else messages[0] for path, messages in first)
    if len(errors) > len(first):
        detail += f" And {len(errors) - len(first)} more, see errors."
    return Problem("invalid-request", detail, errors=errors)


def invalid_state(problems: Sequence[str]) -> Problem:
    """The problem for a state or view that breaks a rule of its game."""
    listed = list(problems[:MAX_ERRORS])
    return Problem("invalid-state", " ".join(listed), problems=listed)
