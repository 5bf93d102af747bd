"""The tables that are played now or next, from the schedule: the store has finished matches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Final

from tournament.config import Cup
from tournament.config.cup import Stop
from tournament.decisions import absent, decided, is_skipped
from tournament.formats import make_schedule
from tournament.formats.round_scores import RoundScores
from tournament.records import Results

SHOWN: Final = 6
_MOST: Final = 5_000  # blocks; making one takes about 0.1 ms


@dataclass(frozen=True, slots=True)
class Upcoming:
    """A block of which `played` of `seatings` matches have ended."""

    block: int
    stage: str
    bots: tuple[str, ...]
    played: int
    seatings: int


def upcoming(
    run: Results, facts: Mapping[str, Any], played: Mapping[int, int]
) -> tuple[Upcoming, ...]:
    """The first tables that are not finished and wait for no bot that is away, in the order of the
    schedule; `played` is the number of finished matches by block. None in a cup with very many
    blocks."""
    if facts.get("finished") or not {"seed", "config"} <= facts.keys():
        return ()
    cup = replace(Cup.from_dict(facts["config"]), stop=Stop())  # which looks at results
    schedule = make_schedule(cup, facts["seed"], facts["match_key"])
    if schedule.blocks > _MOST:
        return ()
    gone, away = absent(decided(facts)), set(facts.get("away", ()))

    def unfinished() -> Iterator[Upcoming]:
        for round in schedule.rounds(RoundScores(run)):
            complete = True
            for block in round.blocks:
                done, of = played.get(block.number, 0), len(block.seatings)
                if done < of and not is_skipped(cup, block.table, gone):
                    complete = False
                    if away.isdisjoint(block.table):
                        yield Upcoming(block.number, block.stage, block.table, done, of)
            if not complete:
                return  # the next round is paired once this one is finished

    return tuple(islice(unfinished(), SHOWN))
