"""The sandbox of a started bot: what it sees, and which system calls it may make."""
