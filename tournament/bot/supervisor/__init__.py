"""The small program that supervises one bot. It imports little, so that it starts quickly."""
