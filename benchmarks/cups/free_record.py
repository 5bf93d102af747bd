"""Made-up matches, which nobody played."""

import random
from dataclasses import asdict

from tournament.config.cup import Cup
from tournament.records import MatchRecord, Pairing

REQUESTS = 18  # to one seat in one match


def made_up(cup: Cup, pairing: Pairing) -> MatchRecord:
    """A match of one deal of three-player Dou Dizhu, with scores drawn from the match's name."""
    dice = random.Random(pairing.match)
    declarer, stake = dice.randrange(3), dice.choice((-12, -6, -3, 3, 6, 12))
    scores = tuple(2 * stake if seat == declarer else -stake for seat in range(3))
    return MatchRecord(
        **asdict(pairing),
        game=cup.game,
        players=3,
        options=cup.options,
        moves=("pass",) * (3 * REQUESTS),
        scores=scores,
        adjusted=scores,
        deals=1,
        results=({"declarer": declarer},),
        struck=(),
        faults=(),
        times=((1.0,) * REQUESTS,) * 3,
        outputs=("",) * 3,
        started="2026-01-01T00:00:00.000+00:00",
        wall_ms=60.0,
        own_ms=6.0,
    )
