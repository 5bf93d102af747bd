"""Files of a run: rows of seats, lines of matches and rows of decisions."""
