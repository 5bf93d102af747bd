"""The shedding games, Dou Dizhu and Dasan: a strategy, and playouts."""

from bots.shedding.playout import finish, value
from bots.shedding.strategy import move, rank_moves

__all__ = ["finish", "move", "rank_moves", "value"]
