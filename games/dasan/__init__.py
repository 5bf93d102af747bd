"""Dasan, Die Grosse Drei."""
