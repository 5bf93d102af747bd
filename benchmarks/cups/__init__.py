"""Measurements of cups: their speed, what each match costs, and bad bots."""
