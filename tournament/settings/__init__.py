"""The keys of a CUP.toml, and their places in its text."""
