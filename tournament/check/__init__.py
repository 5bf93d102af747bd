"""The checks of `stich check`."""
