"""`service.wsgi:app` for any WSGI server; settings come from the environment."""

from __future__ import annotations

from service.app import create_app

app = create_app()
