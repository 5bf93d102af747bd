"""The `stich` program: one command line over service, tournament and bots."""
