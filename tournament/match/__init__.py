"""Playing a match: the referee, the bots and their faults."""
