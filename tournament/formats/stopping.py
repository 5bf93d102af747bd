"""`[stop] top = k`: ends a cup as soon as its top k bots are settled above the rest."""

from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import islice

from tournament.formats.duel import reach
from tournament.formats.plan import Block, Plan, Progress, Round
from tournament.formats.scores import Scores, Table
from tournament.ranking.betting import settled_by_bets
from tournament.records import BlockRecord
from tournament.settings.keys import key, number

FIRST_LOOK = 60
"""The number of blocks at the first look."""


def next_look(blocks: int) -> int:
    """Return the number of blocks at the look that follows a look at `blocks` blocks. The number is
    a tenth larger, rounded down, but at least one larger.

    Because the looks are fixed, the end does not depend on `concurrency` or interruptions.
    """
    return blocks + max(1, blocks // 10)


@dataclass(frozen=True, slots=True)
class Stop:
    """The condition under which a cup ends early. If `top` is None, the cup never ends early."""

    top: int | None = key(
        None, number(1, 1000, "End once so many bots are separated from the rest.")
    )
    confidence: float = key(0.95, number(0.5, 0.999, "How sure that must be."))


class UntilSettled(Plan):
    """A plan that plays the wrapped `plan`, but ends at the first look at which the `top` best bots
    are settled above the others. `confidence` is the probability that all settled pairs are in the
    right order."""

    def __init__(self, plan: Plan, top: int, confidence: float) -> None:
        super().__init__(plan.setup)
        self._plan = plan
        self._top, self._confidence = top, confidence
        self.blocks = plan.blocks

    def rounds(self, run: Progress, scores: Scores) -> Iterator[Round]:
        """Yield the rounds of the wrapped plan, split at each look, until the top bots are settled.

        Each part has the number of its round. Take all blocks of a part, and finish them, before
        asking for the next part. The last look is after the last block. Set `settled` to the top
        bots if a look ends the cup, otherwise to ().

        Raises:
            StoreError: when the next part is asked for, if finished matches cannot be read.
        """
        self.settled = ()
        done, look = 0, FIRST_LOOK
        tables: list[Table] = []
        for round in self._plan.rounds(run, scores):
            end = done + round.size
            blocks, begun = iter(round.blocks), done
            while done < end:
                size = min(look, end) - done
                yield Round(round.number, size, _noting(islice(blocks, size), tables))
                done += size
                if done in (look, self.blocks):
                    seated = {bot for table in tables[begun:] for bot in table}
                    self.settled = self._settled(run, scores, tables, seated)
                    if self.settled:
                        return
                if done == look:
                    look = next_look(look)

    def total(self, run: Progress, scores: Scores, gone: Set[str]) -> int:
        """Return the total of the wrapped plan. Arguments and errors are as in `Plan.total`."""
        return self._plan.total(run, scores, gone)

    def number(self, block: BlockRecord) -> int:
        """Return the number of a stored block in the wrapped plan."""
        return self._plan.number(block)

    def _settled(
        self, run: Progress, scores: Scores, tables: Sequence[Table], seated: set[str]
    ) -> tuple[str, ...]:
        """Return the top bots, in the order of the cup, if they are settled above all other bots
        and are all in `seated`, the bots of the current round so far. Otherwise return ().

        `tables` has the tables of all blocks so far, in the order of the plan. Disqualified bots
        are left out.

        Raises:
            StoreError: if the finished matches cannot be read.
        """
        out = scores.disqualified(run.decisions, tables)
        bots = [bot for bot in self.setup.bots if bot not in out]
        data = scores.observations(bots, len(tables))
        others = len(bots) - self._top
        if not data.blocks or others < 1:  # because bots were withdrawn or disqualified
            return ()
        settled = settled_by_bets(data, reach(self.setup), self._confidence)
        above = settled.sum(axis=1) >= others
        separated = tuple(bot for bot, ahead in zip(bots, above.tolist(), strict=True) if ahead)
        return separated if len(separated) == self._top and seated.issuperset(separated) else ()


def _noting(blocks: Iterator[Block], tables: list[Table]) -> Iterator[Block]:
    for block in blocks:
        tables.append(block.table)
        yield block
