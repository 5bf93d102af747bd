"""What the terminal and the pages both show of a run: numbers as text, replays, faults."""
