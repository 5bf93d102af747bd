"""CUP.toml: the cup that it describes, and every error in it with its line and its fix."""
