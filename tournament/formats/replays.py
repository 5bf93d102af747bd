"""New cards for void matches that are played again."""

from collections.abc import Mapping, Set
from dataclasses import replace

from tournament.formats.draws import draw
from tournament.formats.plan import Block


def with_replays(block: Block, seed: str, remote: Set[str], voids: Mapping[str, int]) -> Block:
    """Return the block with new cards for its void matches, if a remote bot sits at the table.

    A remote bot may remember its hand from a void match. The new cards depend on the cup's `seed`,
    the key of the block, the number of the seating and how many times the match was void. `remote`
    names the remote bots. `voids` maps match ids to the number of times that a match was void.
    Without a remote bot, the block stays as it is: started bots play again in new processes.
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
