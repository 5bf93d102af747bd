"""Persons play against bots in the browser. Such games never count."""
