"""The formats: who meets whom, in which order, on which seeds."""

from __future__ import annotations

from collections.abc import Callable

from tournament.config import Cup
from tournament.formats import tables
from tournament.formats.base import Block, Round, Schedule, Scores
from tournament.formats.draws import commitment, game_seed, match_id
from tournament.formats.duel import Duel
from tournament.formats.knockout import Knockout
from tournament.formats.swiss import Swiss

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
    makers: dict[str, Callable[[Cup, str], Schedule]] = {
        "round-robin": tables.round_robin,
        "swiss": Swiss,
        "knockout": Knockout,
        "gauntlet": tables.gauntlet,
        "duel": Duel,
    }
    return makers[cup.format.type](cup, seed)
