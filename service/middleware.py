"""What happens around every request: CORS headers, request ids, metrics and the access log."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from random import getrandbits
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from service.logs import BEGAN, REQUEST_ID, log_request
from service.metrics import Metrics
from service.settings import Settings

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_REQUEST_ID: Final = re.compile(r"[\w.:+/=-]{1,128}", re.ASCII)
"""An id that a client or proxy may choose; anything else is replaced."""
_METHODS: Final = ("GET", "HEAD", "OPTIONS", "POST")
_DAY: Final = 24 * 60 * 60
_EXPOSED: Final = ("Access-Control-Expose-Headers", "Retry-After, X-Request-Id")
"""Headers that a page of another host may read."""


class Middleware:
    """A WSGI application around the Flask application."""

    def __init__(self, app: WSGIApplication, settings: Settings, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics
        self.access_log = settings.access_log
        self.any_origin = "*" in settings.cors_origins
        self.origins = frozenset(origin.lower() for origin in settings.cors_origins)

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer a request."""
        began = environ.get(BEGAN) or perf_counter()
        given = environ.get("HTTP_X_REQUEST_ID", "")
        # Not a secret: the system's random numbers would let another thread run first (6 % of the
        # rate).
        environ[REQUEST_ID] = given if _REQUEST_ID.fullmatch(given) else f"{getrandbits(64):016x}"

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            headers += self._cors_headers(environ)
            headers.append(("X-Request-Id", environ[REQUEST_ID]))
            rule = environ["werkzeug.request"].url_rule
            route = "none" if rule is None else rule.rule
            seconds = perf_counter() - began
            self.metrics.count_request(route, environ["REQUEST_METHOD"], status[:3], seconds)
            if self.access_log:
                log_request(environ, int(status[:3]), seconds)
            return start_response(status, headers, exc_info)

        return self.app(environ, start)

    def _cors_headers(self, environ: WSGIEnvironment) -> list[tuple[str, str]]:
        if self.any_origin:
            headers = [("Access-Control-Allow-Origin", "*"), _EXPOSED]
        else:
            # Caches must know that another origin gets another answer, even if this one got none.
            headers = [("Vary", "Origin")]
            origin = environ.get("HTTP_ORIGIN", "")
            if origin.lower() not in self.origins:
                return headers
            headers += [("Access-Control-Allow-Origin", origin), _EXPOSED]
        if environ["REQUEST_METHOD"] == "OPTIONS":
            headers += _preflight_headers(environ)
        return headers


def _preflight_headers(environ: WSGIEnvironment) -> Iterator[tuple[str, str]]:
    if environ.get("HTTP_ACCESS_CONTROL_REQUEST_METHOD", "").upper() in _METHODS:
        yield "Access-Control-Allow-Methods", ", ".join(_METHODS)
        yield "Access-Control-Max-Age", str(_DAY)
        if requested := environ.get("HTTP_ACCESS_CONTROL_REQUEST_HEADERS"):
            yield "Access-Control-Allow-Headers", requested
