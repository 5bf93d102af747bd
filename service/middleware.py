"""Adds CORS headers and request IDs to answers, and counts and logs every request."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from random import getrandbits
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from service.logs import REQUEST_ID, log_request
from service.metrics import METHODS, Metrics
from service.settings import Settings
from serving.rsgi import BEGAN

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

_REQUEST_ID: Final = re.compile(r"[\w.:+/=-]{1,128}", re.ASCII)  # accepted from clients
_DAY_S: Final = 24 * 60 * 60
_ANY_PAGE: Final = (
    ("Access-Control-Allow-Origin", "*"),
    ("Access-Control-Expose-Headers", "Retry-After, X-Request-Id"),
)


def with_middleware(app: WSGIApplication, settings: Settings, metrics: Metrics) -> WSGIApplication:
    """Return a WSGI application that adds CORS headers and request IDs to the answers of `app`.

    A request keeps a valid `X-Request-Id`, or else gets a random ID. Count each request in
    `metrics`, and log it if the settings say so. `app` must be a Flask application's `wsgi_app`.
    """

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        began = environ.get(BEGAN) or perf_counter()
        given = environ.get("HTTP_X_REQUEST_ID", "")
        # An ID is no secret, and `secrets` would cost a system call for each request.
        environ[REQUEST_ID] = given if _REQUEST_ID.fullmatch(given) else f"{getrandbits(64):016x}"

        def start(status: str, headers: list[tuple[str, str]], exc_info: Any = None) -> Any:
            headers += [*_ANY_PAGE, ("X-Request-Id", environ[REQUEST_ID])]
            if environ["REQUEST_METHOD"] == "OPTIONS":
                if status[0] == "2":  # Flask says that the empty body is HTML
                    headers[:] = [item for item in headers if item[0] != "Content-Type"]
                headers += _preflight_headers(environ)
            rule = environ["werkzeug.request"].url_rule
            route = "none" if rule is None else rule.rule
            seconds = perf_counter() - began
            metrics.count_request(route, environ["REQUEST_METHOD"], status[:3], seconds)
            if settings.access_log:
                log_request(environ, int(status[:3]), seconds)
            return start_response(status, headers, exc_info)

        return app(environ, start)

    return answer


def _preflight_headers(environ: WSGIEnvironment) -> Iterator[tuple[str, str]]:
    if environ.get("HTTP_ACCESS_CONTROL_REQUEST_METHOD", "").upper() in METHODS:
        yield "Access-Control-Allow-Methods", ", ".join(METHODS)
        yield "Access-Control-Max-Age", str(_DAY_S)
        if requested := environ.get("HTTP_ACCESS_CONTROL_REQUEST_HEADERS"):
            yield "Access-Control-Allow-Headers", requested
