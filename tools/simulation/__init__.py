"""Simulated cups and ladders with known truth, which tests and benchmarks share."""
