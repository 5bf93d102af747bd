"""Measurements of the ranking: simulated cups in which the truth is known."""
