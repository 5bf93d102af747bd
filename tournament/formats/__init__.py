"""The formats: which bots meet, in which order, on which seeds."""

from collections.abc import Callable

from tournament.config.cup import Cup
from tournament.formats.duel import Duel
from tournament.formats.halving import Halving
from tournament.formats.knockout import Knockout
from tournament.formats.ladder import Ladder
from tournament.formats.round_robin import AllTables
from tournament.formats.schedule import Block, Round, Schedule
from tournament.formats.stopping import UntilSettled
from tournament.formats.swiss import Swiss

__all__ = ["Block", "Round", "Schedule", "make_schedule"]


def make_schedule(cup: Cup, seed: str, match_key: str) -> Schedule:
    """The schedule of a cup with this seed; match ids are drawn from the secret `match_key`."""
    makers: dict[str, Callable[[Cup, str, str], Schedule]] = {
        "round-robin": AllTables,
        "swiss": Swiss,
        "knockout": Knockout,
        "gauntlet": AllTables,
        "halving": Halving,
        "ladder": Ladder,
        "duel": Duel,
    }
    schedule = makers[cup.format.type](cup, seed, match_key)
    return schedule if cup.stop.top is None else UntilSettled(schedule, cup)
