"""The statistics of the standings: pure functions of numpy arrays, no store and no output."""
