"""The rules as an HTTP service."""

from __future__ import annotations

from service.app import create_app
from service.config import ConfigError, Settings

__all__ = ["ConfigError", "Settings", "create_app"]
