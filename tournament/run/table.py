"""A table: the bots that it keeps started, and what all its matches have in common."""

from __future__ import annotations

from collections.abc import Callable

from tournament.config import Cup
from tournament.formats import Block
from tournament.match.match import Pairing, Rules, play
from tournament.match.referee import LocalReferee, Referee
from tournament.records import MatchRecord
from tournament.run.bot_pool import BotPool
from tournament.run.executor import Job


class Table:
    """Plays matches, one at a time, with the bots of a pool."""

    def __init__(self, cup: Cup, bot_pool: BotPool) -> None:
        self._bot_pool = bot_pool
        self._referee = _referee(cup)
        self._rules = Rules(
            cup.game, cup.players, cup.options, cup.clock, cup.strikes, cup.run.names
        )

    def play(
        self, job: Job, number: int, expect: Callable[[float], None] = lambda _: None
    ) -> MatchRecord:
        """Play one match of a job to its end; `expect` is told by when the next step is due.
        MatchVoid; RefereeError if the rules service fails."""
        pairing = pairing_of(job.block, number)
        later = [] if job.anew else [(job.block, other) for other in job.numbers if other > number]
        later += [(block, other) for block in job.prefetch for other in range(len(block.seatings))]
        players = self._bot_pool.seat(
            pairing.seating,
            number,
            job.absent,
            anew=job.anew,
            upcoming=((block.seatings[other], other) for block, other in later),
        )
        return play(self._rules, pairing, self._referee, players, expect, job.wait_for)


def _referee(cup: Cup) -> Referee:
    if cup.run.referee is None:
        return LocalReferee()
    from tournament.match.remote_referee import HttpReferee

    return HttpReferee(cup.run.referee)


def pairing_of(block: Block, number: int) -> Pairing:
    """One match of a block."""
    return Pairing(
        match=block.matches[number],
        block=block.number,
        key=block.key,
        round=block.round,
        stage=block.stage,
        number=number,
        seatings=len(block.seatings),
        table=block.table,
        seating=block.seatings[number],
        seed=block.seeds[number],
    )
