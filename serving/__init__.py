"""Serves any WSGI application under granian with deadlines and limits."""
