"""What the terminal and the pages both show: numbers as text, replays, faults."""
