"""The `stich` program: the command line for the service, tournaments and bots."""
