"""The small program that supervises one bot. The program imports little, so it starts quickly."""
