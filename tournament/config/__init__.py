"""CUP.toml: the cup as values, and every error in the file with its line and its fix."""
