"""The Flask application: routes, error handlers, and the middleware around them."""

from collections.abc import Mapping
from typing import Final

from flask import Flask, Request, Response, request
from werkzeug.exceptions import HTTPException, MethodNotAllowed, TooManyRequests
from werkzeug.routing import MapAdapter

from service.logs import REQUEST_ID, log_error
from service.metrics import Metrics
from service.middleware import with_middleware
from service.operations import SEALER, v1
from service.pages import METRICS, static_routes
from service.problems import PROBLEM_TYPES, Problem
from service.sealed import Sealer
from service.settings import Settings
from serving.compression import compress

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
    middleware = with_middleware(app.wsgi_app, settings, metrics)
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
