"""The rules as an HTTP service. `service.app.create_app` makes the WSGI application."""
