"""The store of a run: SQLite in its folder, or PostgreSQL by URL."""
