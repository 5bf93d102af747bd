"""`service.wsgi:app` for any WSGI server; settings come from the environment."""

from __future__ import annotations

from service import logs
from service.app import create_app
from service.settings import Settings

logs.configure(Settings.from_environ())
app = create_app()
