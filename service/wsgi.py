"""The application `service.wsgi:app` for any WSGI server, with settings from the environment."""

from service import logs
from service.app import create_app
from service.settings import Settings

settings = Settings.from_environ()
logs.configure(settings)
app = create_app(settings)
