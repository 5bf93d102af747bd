"""Bots as the runner meets them: HTTP client, processes, sandbox."""
