"""The application: routes, errors, cross-origin calls, figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, cast

from flask import Flask, Request, Response, current_app, request
from flask.sessions import NullSession, SessionInterface, SessionMixin
from flask_cors import CORS
from werkzeug.exceptions import HTTPException, MethodNotAllowed
from werkzeug.routing import MapAdapter

from service.body_reader import clear
from service.metrics import Metrics
from service.problems import BY_STATUS, Problem
from service.routes import v1
from service.settings import Settings
from service.static_routes import pages

_DAY = 24 * 60 * 60


class _NoSessions(SessionInterface):
    """Nobody is remembered: one empty session, which cannot be written to, does for all."""

    empty: Final = NullSession()

    def open_session(self, app: Flask, request: Request) -> SessionMixin:
        return self.empty


class _Request(Request):
    """A request that does not ask which blueprint it is for: none has anything of its own."""

    blueprints: ClassVar[list[str]] = []


class _App(Flask):
    """Flask without what this service has no use for, and every request would pay for.

    There are no sessions, no async views, and no routes or addresses that depend on the host.
    """

    session_interface = _NoSessions()
    request_class = _Request

    def ensure_sync(self, func: Callable[..., Any]) -> Callable[..., Any]:
        return func

    def create_url_adapter(self, request: Request | None) -> MapAdapter | None:
        if request is None:
            return None
        environ = request.environ
        path = environ["PATH_INFO"].encode("latin-1").decode(errors="replace")
        return MapAdapter(self.url_map, "", "/", None, "http", path, environ["REQUEST_METHOD"])


def create_app(config: Mapping[str, Any] | None = None) -> Flask:
    """The service as a WSGI application.

    Args:
        config: settings by name (`max_body`, `cors_origins`), over those of the environment.

    Raises:
        ConfigError: a setting that cannot be used.
    """
    return build(Settings.from_environ().changed(config or {}), Metrics())


def build(settings: Settings, metrics: Metrics) -> Flask:
    """The application with these settings, which counts its requests there."""
    app = _App("service", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = settings.max_body
    app.url_map.merge_slashes = False
    app.url_map.strict_slashes = False
    app.extensions["stich-metrics"] = metrics
    metrics.install(app)
    _handle_errors(app, metrics, settings)
    app.after_request(_finish_request)
    open_to_all = "*" in settings.cors_origins
    if not open_to_all:
        app.after_request(_differ_by_origin)
    CORS(
        app,
        origins=list(settings.cors_origins),
        methods=["GET", "HEAD", "POST", "OPTIONS"],
        send_wildcard=open_to_all,
        max_age=_DAY,
    )
    if open_to_all:
        # what flask-cors would find out, in a tenth of its time; it does the preflights
        preflight = cast("Callable[[Response], Response]", app.after_request_funcs[None].pop())

        def allow(response: Response) -> Response:
            if request.environ["REQUEST_METHOD"] == "OPTIONS":
                return preflight(response)
            if response.status_code < 400:
                response.headers.add("Access-Control-Allow-Origin", "*")
            else:  # flask-cors sees to errors too, and twice would be none
                response.headers["Access-Control-Allow-Origin"] = "*"
            return response

        app.after_request(allow)
    app.register_blueprint(v1)
    app.register_blueprint(pages)
    return app


def _finish_request(response: Response) -> Response:
    """Leave nothing of a request's body on the connection, or say that it ends here."""
    environ = request.environ
    if not clear(environ, current_app.config["MAX_CONTENT_LENGTH"]) and (
        # only a server may say this (PEP 3333), but granian closes without saying so
        environ.get("SERVER_SOFTWARE") == "Granian"
    ):
        response.headers["Connection"] = "close"
    return response


def _differ_by_origin(response: Response) -> Response:
    """Tell caches that another origin gets another answer, even one that comes without any."""
    response.vary.add("Origin")
    return response


def _handle_errors(app: Flask, metrics: Metrics, settings: Settings) -> None:
    def answer(problem: Problem) -> Response:
        metrics.problem(problem.kind.code)
        return problem.response()

    def from_http(error: HTTPException) -> Response:
        """Anything that Flask or Werkzeug refuses by itself."""
        code = BY_STATUS.get(error.code or 500, "internal")
        response = answer(Problem(code, DETAILS[code].format(most=settings.max_body)))
        if isinstance(error, MethodNotAllowed):
            response.headers.extend(
                (name, value) for name, value in error.get_headers() if name == "Allow"
            )
        return response

    def unexpected(error: Exception) -> Response:
        """A mistake of the service: its trace goes to the log, never to the client."""
        app.logger.error("An unexpected error.", exc_info=error)
        return answer(Problem("internal", DETAILS["internal"]))

    app.register_error_handler(Problem, answer)
    app.register_error_handler(HTTPException, from_http)
    app.register_error_handler(Exception, unexpected)


DETAILS = {
    "malformed-json": "The request could not be read to its end.",
    "not-found": "No operation has this path; /docs lists all there are.",
    "method-not-allowed": "This path does not know this method; Allow names those it knows.",
    "too-large": "The body has more than {most} bytes.",
    "unsupported-media-type": "Content-Type must be application/json.",
    "internal": "The service failed; the error has been logged.",
}
