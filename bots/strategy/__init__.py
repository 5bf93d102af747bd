"""How the reference bots think, a module for each game."""
