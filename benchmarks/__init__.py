"""Measurements, each compared with a peer; `make bench` writes docs/benchmarks.md."""
