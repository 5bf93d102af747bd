"""The sandbox of a started bot: the files it sees, and the system calls it may make."""
