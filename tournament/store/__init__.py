"""The store of a run: SQLite in its folder, or PostgreSQL by URL."""

FILE = "run.sqlite"
"""The store in a run's folder."""
