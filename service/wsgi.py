"""`service.wsgi:app` for any WSGI server; settings come from the environment."""

from __future__ import annotations

import gc

from service import logs
from service.app import create_app
from service.settings import Settings

logs.configure(Settings.from_environ())
app = create_app()
# What lives as long as the process is never garbage: not looking at it again saves 3 % a request.
gc.freeze()
