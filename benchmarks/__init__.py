"""Measurements, each compared with a peer in the same run; `make bench` writes docs/benchmarks.md."""
