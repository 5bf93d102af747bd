"""One match: the referee, the bots, their faults."""
