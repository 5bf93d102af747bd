"""Measurements of the ranking: simulated cups with known truth."""
