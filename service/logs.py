"""Logs on standard error, as text or JSON: errors and, if set, a line for every request."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from service.json_codec import encode
from service.settings import Settings

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

REQUEST_ID: Final = "stich.request_id"
"""The key of the request's ID in the environ."""

_access: Final = logging.getLogger("service.access")


class JsonFormatter(logging.Formatter):
    """One JSON object a line: `time`, `level`, `logger`, `message`, `trace`, and further fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return a record as one line of JSON."""
        entry: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            entry["trace"] = self.formatException(record.exc_info)
        return encode(entry).decode().rstrip()


def configure(settings: Settings) -> None:
    """Send the logs of the service and of granian to standard error."""
    handler = logging.StreamHandler()
    if settings.log_format == "json":
        handler.setFormatter(JsonFormatter())
    else:
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    for name, level in (("service", logging.INFO), ("_granian", logging.ERROR)):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(level)


def log_start(sentence: str) -> None:
    """Log a sentence for the operator when the service starts."""
    logging.getLogger("service").warning(sentence)


def log_request(environ: WSGIEnvironment, status: int, seconds: float) -> None:
    """Write a line of the access log."""
    fields = {
        "client": environ.get("REMOTE_ADDR", ""),
        "method": environ["REQUEST_METHOD"],
        # as the client wrote it, but without control characters, which could forge a line
        "path": ascii(environ["PATH_INFO"])[1:-1][:200],
        "status": status,
        "milliseconds": round(seconds * 1000, 3),
        "request_id": environ[REQUEST_ID],
    }
    line = "%(client)s %(method)s %(path)s %(status)d %(milliseconds).3f ms %(request_id)s"
    _access.info(line, fields, extra={"fields": fields})


def log_error(error: Exception, environ: WSGIEnvironment) -> None:
    """Log an unexpected error with its trace."""
    request_id = environ[REQUEST_ID]
    logging.getLogger("service").error(
        "An unexpected error in request %s.",
        request_id,
        exc_info=error,
        extra={"fields": {"request_id": request_id}},
    )
