"""Measurements of the strength of the reference bots."""
