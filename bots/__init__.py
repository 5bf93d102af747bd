"""Bots: the Python kit, the reference bots and starter kits in other languages."""
