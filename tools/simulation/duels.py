"""How long duels are, and how often they name the wrong bot, compared with a GSPRT."""

from collections.abc import Callable
from math import log
from typing import NamedTuple

import numpy as np

from tournament.formats.duel import BLOCKS_PER_ROUND
from tournament.ranking.arrays import LEVEL, Booleans, Floats
from tournament.ranking.betting import Bets, Reach, both_sides, each_side

MOST = 4_000
"""The largest number of blocks in a duel."""
DUELS = 200

Blocks = Callable[[np.random.Generator], Floats]


class Ended(NamedTuple):
    """How a duel ended: after how many blocks, and which bot it named.

    ``named`` is 1 for the first bot, -1 for the second, and 0 for neither.
    """

    blocks: int
    named: int


def log_wealth(
    differences: Floats, reach: Reach, mean: float, within: float | None = None
) -> Floats:
    """The natural logarithm of the wealth of the bets against ``mean`` after each block (B)."""
    logs = np.add.accumulate(Bets(differences, reach, within).log_factors(mean), axis=1)
    return both_sides(each_side(logs, within), mean, within)


def by_bets(differences: Floats, reach: Reach, within: float | None = None) -> Ended:
    """The duel as `stich duel` plays it, computed for all looks at once."""

    def refuted(mean: float) -> Booleans:
        return log_wealth(differences, reach, mean, within) >= -log(1 - LEVEL)

    settled = refuted(0.0)
    equal = refuted(-within) & refuted(within) if within is not None else np.zeros_like(settled)
    looks = slice(BLOCKS_PER_ROUND - 1, None, BLOCKS_PER_ROUND)
    end = (_first((settled | equal)[looks]) + 1) * BLOCKS_PER_ROUND
    if end > differences.size:
        return Ended(differences.size, 0)
    mean = np.add.accumulate(differences)[end - 1]
    return Ended(end, int(np.sign(mean)) if settled[end - 1] else 0)


def by_gsprt(differences: Floats, zone: float) -> Ended:
    """The duel as fastchess decides it, by a generalised sequential probability ratio test.

    The test compares a mean of ``zone`` with 0 by the normal approximation, with errors of 5 %.
    Either bot may be better, so there are two tests. The duel ends when one test accepts ``zone``,
    or both accept 0.
    """
    blocks = np.arange(1, differences.size + 1)
    mean = np.add.accumulate(differences) / blocks
    spread = np.add.accumulate(differences**2) / blocks - mean**2
    scale = blocks / np.maximum(spread, 1e-12)
    looks = np.arange(BLOCKS_PER_ROUND - 1, differences.size, BLOCKS_PER_ROUND)
    bound = log(0.95 / 0.05)
    ends, both_equal = [], 0
    for side in (1, -1):
        ratio = (zone * (2 * side * mean - zone) / 2 * scale)[looks]
        better, equal = _first(ratio >= bound), _first(ratio <= -bound)
        both_equal = max(both_equal, equal)
        if better < equal:
            ends.append((better, side))
    look, named = min([*ends, (both_equal, 0)])
    return Ended(min((look + 1) * BLOCKS_PER_ROUND, differences.size), named)


def _first(holds: Booleans) -> int:
    return int(holds.argmax()) if holds.any() else MOST


def normal_blocks(effect: float, limit: float) -> Blocks:
    """Normal differences with mean ``effect`` and a standard deviation of 1, cut at ``limit``."""
    return lambda random: np.clip(random.normal(effect, 1.0, MOST), -limit, limit)


def rare_loss(every: int) -> Blocks:
    """Differences with mean 0: 1 - ``every`` in one block out of ``every``, and 1 in the rest."""
    return lambda random: np.where(random.random(MOST) < 1 / every, 1.0 - every, 1.0)


def mean_blocks(
    blocks: Blocks, rule: Callable[[Floats], Ended], duels: int = DUELS
) -> tuple[float, float, float]:
    """The mean number of blocks, and the percentages of duels that name the first or second bot."""
    random = np.random.default_rng(1)
    ended = [rule(blocks(random)) for _ in range(duels)]
    named = [100 * sum(end.named == side for end in ended) / duels for side in (1, -1)]
    return float(np.mean([end.blocks for end in ended])), named[0], named[1]
