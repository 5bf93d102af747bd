"""Dou Dizhu."""
