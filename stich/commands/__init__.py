"""The commands of the `stich` program, one module each."""
