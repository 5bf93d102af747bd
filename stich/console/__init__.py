"""What the program writes to a terminal."""
