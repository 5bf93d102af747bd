"""Zheng Fen."""
