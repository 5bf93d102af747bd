"""Measurements of the rules compared with other libraries."""
