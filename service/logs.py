"""Logs errors and, if the settings say so, every request to standard error, as text or JSON."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final

from service.json_codec import encode
from service.settings import Settings

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

REQUEST_ID: Final = "stich.request_id"  # the key of the request's ID in the WSGI environ


class _JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
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
    """Log the service's records and granian's errors to standard error, in the format of
    `settings`, and nowhere else."""
    handler = logging.StreamHandler()
    text = logging.Formatter("%(asctime)s %(levelname)s %(message)s")
    handler.setFormatter(_JsonFormatter() if settings.log_format == "json" else text)
    for name, level in (("service", logging.INFO), ("_granian", logging.ERROR)):
        logger = logging.getLogger(name)
        logger.handlers = [handler]
        logger.propagate = False
        logger.setLevel(level)


def log_request(environ: WSGIEnvironment, status: int, seconds: float) -> None:
    """Write a line about an answered request to the access log, even if `access_log` is off.

    `environ` must have a `REQUEST_ID`.
    """
    fields = {
        "client": environ.get("REMOTE_ADDR", ""),
        "method": environ["REQUEST_METHOD"],
        # escaped, since a line break could forge a line of the log
        "path": ascii(environ["PATH_INFO"])[1:-1][:200],
        "status": status,
        "milliseconds": round(seconds * 1000, 3),
        "request_id": environ[REQUEST_ID],
    }
    line = "%(client)s %(method)s %(path)s %(status)d %(milliseconds).3f ms %(request_id)s"
    logging.getLogger("service.access").info(line, fields, extra={"fields": fields})


def log_error(error: Exception, environ: WSGIEnvironment) -> None:
    """Log an unexpected exception with its traceback. `environ` must have a `REQUEST_ID`."""
    fields = {"request_id": environ[REQUEST_ID]}
    line = "An unexpected error in request %(request_id)s."
    logging.getLogger("service").error(line, fields, exc_info=error, extra={"fields": fields})
