"""The statistics of the standings: pure functions of numpy arrays, without a store or output."""
