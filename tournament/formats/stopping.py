"""`[stop] top = k`: end a cup as soon as its top k bots are separated from the rest."""

from collections.abc import Iterator, Set
from itertools import islice

from tournament.config.cup import Cup
from tournament.formats.duel import reach
from tournament.formats.round_scores import RoundScores
from tournament.formats.schedule import Block, Round, Schedule
from tournament.ranking.betting import settled_by_bets
from tournament.records import BlockRecord

FIRST_LOOK = 60
"""Blocks before the first look."""


def next_look(blocks: int) -> int:
    """The look after the one at so many blocks: a tenth more. Looks at fixed numbers of blocks make
    the end independent of `concurrency` and of interruptions."""
    return blocks + max(1, blocks // 10)


class UntilSettled(Schedule):
    """Another schedule, ended at the first look at which the top bots are settled."""

    def __init__(self, schedule: Schedule, cup: Cup) -> None:
        self._schedule = schedule
        self._cup = cup
        self._maker = schedule._maker
        self.blocks = schedule.blocks

    def rounds(self, scores: RoundScores) -> Iterator[Round]:
        """The rounds, each in parts from one look to the next."""
        self.settled = ()
        done, look = 0, FIRST_LOOK
        for round in self._schedule.rounds(scores):
            end = done + round.size
            blocks = iter(round.blocks)
            seated: set[str] = set()
            while done < end:
                size = min(look, end) - done
                yield Round(round.number, size, _noting(islice(blocks, size), seated))
                done += size
                if done in (look, self.blocks):
                    self.settled = self._top(scores, done, seated)
                    if self.settled:
                        return
                if done == look:
                    look = next_look(look)

    def planned_matches(self, gone: Set[str], scores: RoundScores) -> int:
        """Those of the other schedule."""
        return self._schedule.planned_matches(gone, scores)

    def number(self, block: BlockRecord) -> int:
        """The number of the block in this schedule."""
        return self._schedule.number(block)

    def _top(self, scores: RoundScores, blocks: int, seated: set[str]) -> tuple[str, ...]:
        """The top bots if they are separated from the rest and still play, in the order of the cup;
        otherwise nothing."""
        out = scores.disqualified(blocks)
        bots = [bot for bot in self._cup.names if bot not in out]
        seen = scores.observations(bots, blocks)
        if not seen.blocks:  # no table was played, because bots were withdrawn
            return ()
        settled = settled_by_bets(seen, reach(self._cup), self._cup.stop.confidence)
        top = self._cup.stop.top or 0
        others = len(bots) - top
        above = settled.sum(axis=1) >= others
        found = tuple(bot for bot, ahead in zip(bots, above.tolist(), strict=True) if ahead)
        return found if len(found) == top and seated.issuperset(found) else ()


def _noting(blocks: Iterator[Block], seated: set[str]) -> Iterator[Block]:
    """The same blocks; adds their bots to `seated`."""
    for block in blocks:
        seated.update(block.table)
        yield block
