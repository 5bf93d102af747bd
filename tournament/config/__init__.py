"""CUP.toml: the cup as values, and every error in it with its line and its fix."""
