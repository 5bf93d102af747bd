"""The rules as an HTTP service."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from flask import Flask


def create_app(config: Mapping[str, Any] | None = None) -> Flask:
    """The service as a WSGI application; see `service.app.create_app`.

    The application is imported when it is made, not before: a command that only starts a server
    must be able to choose where figures are kept.
    """
    from service.app import create_app as create

    return create(config)


__all__ = ["create_app"]
