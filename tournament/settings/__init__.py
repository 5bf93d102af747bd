"""The keys of a CUP.toml, and where they stand in its text."""
