"""Serves a WSGI application under granian with deadlines and bounds; knows no application."""
