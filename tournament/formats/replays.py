"""New cards for a void match that is played again."""

from collections.abc import Mapping, Set
from dataclasses import replace

from tournament.formats.draws import draw
from tournament.formats.plan import Block


def with_replays(block: Block, seed: str, remote: Set[str], voids: Mapping[str, int]) -> Block:
    """Return the block as it is dealt, given the number of void matches by match id.

    A remote bot may remember its hand from a void match. So each void match of a table with a
    remote bot is dealt again, from the cup's seed, the key of the block, the number of the seating
    and the number of times that the match was void. Started bots play again in new processes, with
    the same cards.
    """
    if remote.isdisjoint(block.table) or not any(voids.get(match) for match in block.matches):
        return block
    seeds = (
        draw("replay", seed, block.key, str(number), str(voids[match]))[:32]
        if voids.get(match)
        else block.seeds[number]
        for number, match in enumerate(block.matches)
    )
    return replace(block, seeds=tuple(seeds))
