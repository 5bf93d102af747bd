"""The Flask application: routes, error handlers, and the middleware around them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from random import getrandbits
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from flask import Flask, Request, Response, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, TooManyRequests
from werkzeug.routing import MapAdapter

from service.logs import REQUEST_ID, log_error, log_request
from service.metrics import METHODS, Metrics
from service.operations import SEALER, v1
from service.pages import METRICS, static_routes
from service.problems import PROBLEM_TYPES, Problem
from service.sealed import Sealer
from service.settings import Settings
from serving.compression import compress
from serving.rsgi import BEGAN

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

DETAILS: Final = {
    "malformed-json": "The body could not be read to its end.",
    "not-found": "No operation has this path; /docs lists all operations.",
    "method-not-allowed": "This path does not allow this method; Allow lists those it does.",
    "timeout": "The body did not arrive within ten seconds; send it in one piece.",
    "too-large": "The body has more than {max_body} bytes.",
    "unsupported-media-type": "Content-Type must be application/json.",
    "internal": "The service failed; the error has been logged.",
    "busy": "Too many large requests and answers are under way; try again later.",
}
"""By code, the `detail` of problems that answer HTTP errors and unexpected exceptions."""
_CODES: Final[Mapping[int | None, str]] = {PROBLEM_TYPES[code].status: code for code in DETAILS}

_REQUEST_ID: Final = re.compile(r"[\w.:+/=-]{1,128}", re.ASCII)  # accepted from clients
_DAY_S: Final = 24 * 60 * 60
_ANY_PAGE: Final = (
    ("Access-Control-Allow-Origin", "*"),
    ("Access-Control-Expose-Headers", "Retry-After, X-Request-Id"),
)


class _App(Flask):
    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        # Werkzeug would refuse a host such as `..` with status 400. No route depends on the host.
        if request is None:
            return None
        environ = request.environ
        path = environ["PATH_INFO"].encode("latin-1").decode(errors="replace")
        return MapAdapter(self.url_map, "", "/", None, "http", path, environ["REQUEST_METHOD"])


def create_app(settings: Settings | None = None) -> Flask:
    """Return the WSGI application. If `settings` is None, its settings come from the environment.

    Raises:
        ConfigError: if an environment variable has an invalid value.
    """
    settings = settings or Settings.from_environ()
    metrics = Metrics()
    app = _App("service", static_folder=None)
    app.url_map.merge_slashes = False
    app.url_map.strict_slashes = False
    app.config["MAX_CONTENT_LENGTH"] = settings.max_body
    app.extensions[METRICS] = metrics
    app.extensions[SEALER] = Sealer(settings.seal_keys) if settings.seal_keys else None
    app.register_blueprint(v1)
    app.register_blueprint(static_routes)
    _register_error_handlers(app, settings, metrics)
    app.after_request(compress)
    middleware = _with_middleware(app.wsgi_app, settings, metrics)
    app.wsgi_app = middleware  # type: ignore[assignment, method-assign] # as Flask documents
    return app


def _register_error_handlers(app: Flask, settings: Settings, metrics: Metrics) -> None:
    @app.errorhandler(Problem)
    def respond(problem: Problem) -> Response:
        rule = request.url_rule
        route = "none" if rule is None else rule.rule
        metrics.problems.labels(route, problem.code).inc()
        problem.extensions["request_id"] = request.environ[REQUEST_ID]
        return problem.response()

    @app.errorhandler(HTTPException)
    def respond_to_http_error(error: HTTPException) -> Response:
        code = _CODES.get(error.code, "internal")
        response = respond(Problem(code, DETAILS[code].format(max_body=settings.max_body)))
        if isinstance(error, MethodNotAllowed):
            response.allow.update(error.valid_methods or ())
        if isinstance(error, TooManyRequests):
            response.retry_after = error.retry_after
        return response

    @app.errorhandler(Exception)
    def respond_to_bug(error: Exception) -> Response:
        log_error(error, request.environ)
        return respond(Problem("internal", DETAILS["internal"]))


def _with_middleware(app: WSGIApplication, settings: Settings, metrics: Metrics) -> WSGIApplication:
    """Return a WSGI application that adds CORS headers and request IDs to the answers of `app`.

    A request keeps a valid `X-Request-Id`, or else gets a random ID. Each request is counted in
    `metrics`, and logged if the settings say so. `app` must be a Flask application's `wsgi_app`.
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
