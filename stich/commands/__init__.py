"""The commands of the `stich` program, each module with one command or several related ones."""
