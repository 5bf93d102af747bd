"""Bots from the runner's point of view: HTTP client, processes, sandbox."""
