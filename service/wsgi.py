"""`service.wsgi:app` for any WSGI server; settings come from the environment."""

import gc

from service import logs
from service.app import create_app
from service.settings import Settings

settings = Settings.from_environ()
logs.configure(settings)
app = create_app(settings)
# What lives as long as the process is never garbage: not looking at it again saves 3 % a request.
gc.freeze()
