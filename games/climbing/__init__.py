"""Shared by the climbing games: tricks in which each play must beat the last, and auctions."""
