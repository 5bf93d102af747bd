"""The formats: who meets whom, in which order, on which seeds."""

from __future__ import annotations

from tournament.config import Cup
from tournament.formats import tables
from tournament.formats.base import Block, Round, Schedule, Scores
from tournament.formats.draws import commitment, game_seed, match_id

__all__ = [
    "Block",
    "Round",
    "Schedule",
    "Scores",
    "commitment",
    "game_seed",
    "match_id",
    "schedule",
]


def schedule(cup: Cup, seed: str) -> Schedule:
    """The schedule of a cup whose seed is known."""
    makers = {"round-robin": tables.round_robin, "gauntlet": tables.gauntlet}
    return makers[cup.format.type](cup, seed)
