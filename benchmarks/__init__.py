"""Measurements, each beside a peer in the same run; `make bench` writes docs/benchmarks.md."""
