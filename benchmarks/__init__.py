"""Measurements, each compared with a peer; `make bench` writes docs/benchmarks.md."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
"""The folder of the project."""
