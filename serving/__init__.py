"""Serves WSGI applications under granian with deadlines and limits."""
