"""Simulated cups and ladders in which the truth is known, which tests and benchmarks share."""
