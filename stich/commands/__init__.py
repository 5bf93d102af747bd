"""The commands of the `stich` program, in modules of one command or several related ones."""
