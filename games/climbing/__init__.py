"""The climbing games: tricks in which each play must beat the last, and auctions."""
