"""The store of a run: an SQLite file in the folder of the run, or a PostgreSQL database."""
