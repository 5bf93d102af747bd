"""Rank ranges: which bots are settled above which, all claims together at one level.

docs/statistics.md says why they hold. A sum of differences by the root of the sum of their squares:
Efron, "Student's t-test under symmetry conditions", JASA 64, 1969. Holm's method with a step:
Shaffer, "Modified sequentially rejective multiple test procedures", JASA 81, 1986. All looks
together: Robbins, "Statistical methods related to the law of the iterated logarithm", 1970. Ranks
from settled pairs: Mogstad, Romano, Shaikh and Wilhelm, "Inference for ranks", Review of Economic
Studies 91, 2024.
"""

from collections.abc import Callable
from math import erfc

import numpy as np

from tournament.ranking.arrays import LEVEL, Booleans, Floats, Ints
from tournament.ranking.evidence import Evidence

_ROWS = 64
_MIXTURE = 0.15
"""The mixture is narrowest for pairs with some 60 differences."""


def final_chances(found: Evidence) -> Floats:
    """The probability that equal bots differ so clearly at the planned end of a run, shape (n, n).

    If results decide who meets again, a pair that met in j of k rounds had j chances to end: its
    probability is multiplied by j (j + 1), or by k if it met in all rounds.
    """
    size = np.abs(found.deviate) / np.sqrt(2)
    chance = np.array([erfc(each) for each in size.ravel().tolist()]).reshape(size.shape)
    chance = np.maximum(chance, 2.0 ** (1 - found.count))
    times = np.where(
        found.rounds < found.all_rounds, found.rounds * (found.rounds + 1), found.all_rounds
    )
    answer: Floats = np.minimum(chance * np.maximum(times, 1), 1.0)
    return answer


def anytime_chances(found: Evidence) -> Floats:
    """The probability that equal bots ever differ so clearly, over all looks, shape (n, n)."""
    time = found.count * _MIXTURE
    log = np.log1p(time) / 2 - found.deviate**2 * time / (2 * (1 + time))
    answer: Floats = np.exp(np.minimum(log, 0.0))
    return answer


def settled_pairs(ahead: Floats, chances: Floats, level: float = LEVEL) -> Booleans:
    """Which bots (rows) are settled above which (columns), shape (n, n).

    With probability ``level`` no two bots are put in a wrong order. ``ahead`` (n, n) is above 0
    where the bot of the row has more points than that of the column. ``chances`` (n, n) has the
    probability that equal bots differ so clearly, the same for both orders.
    """
    known = (chances < 1).any(axis=1)
    # By pairs in which a bot is ahead, then by how far: names and seats play no part.
    far = np.round(ahead.sum(axis=1) / max(1.0, float(np.abs(ahead).max(initial=0.0))), 9)
    order = np.lexsort((-far, -np.sign(ahead).sum(axis=1), ~known))[: int(known.sum())]

    def clear(apart: Booleans) -> Booleans:
        equal = _most_equal(apart[np.ix_(order, order)])
        return chances * max(1, equal) <= 1 - level

    return _all_settled(ahead > 0, clear)


def settled_by_arrival(found: Evidence, arrival: Ints) -> Booleans:
    """Which bots (rows) are settled above which (columns), at any look, if bots come and go.

    With probability ``LEVEL`` no two bots are ever put in a wrong order. ``arrival`` (n) numbers
    the bots in the order in which they came, from 1. The probability of an error about two bots is
    fixed when the later one arrives, so that all of them add up to 1 - ``LEVEL``.
    """
    later = arrival[:, np.newaxis] > arrival
    level = (1 - LEVEL) / (np.pi**2 / 6 - 1) / arrival**2.0
    # Some rows at a time, which takes a fraction of the memory.
    chances = np.empty_like(found.total)
    for rows in (slice(start, start + _ROWS) for start in range(0, len(chances), _ROWS)):
        chances[rows] = anytime_chances(found.of(rows))

    def clear(apart: Booleans) -> Booleans:
        """Holm's method for each bot and those that came before it."""
        share = level / np.maximum((later & ~apart).sum(axis=1), 1)
        answer: Booleans = np.where(later, chances <= share[:, np.newaxis], chances <= share)
        return answer

    return _all_settled(found.total > 0, clear)


def _all_settled(ahead: Booleans, clear: Callable[[Booleans], Booleans]) -> Booleans:
    """Settle pairs step by step: which pairs are ``clear`` (n, n) depends on which are apart
    already."""
    settled = np.zeros(ahead.shape, bool)
    while True:
        further = _closed(settled | (clear(settled | settled.T) & ahead))
        if np.array_equal(further, settled):
            return settled & ~settled.T  # what contradicts itself is not settled
        settled = further


def _most_equal(apart: Booleans) -> int:
    """The largest number of pairs that can be equal if those ``apart`` (n, n) are not.

    Equal bots form groups without a pair that is apart. With the bots in an order, groups of
    neighbours reach the largest number: two groups that overlap can exchange bots until they do
    not, whatever their sizes.
    """
    size = len(apart)
    last = np.where(apart, 0, np.arange(size)).max(axis=1, initial=0)
    last = np.maximum.accumulate(last)
    most = np.zeros(size + 1)
    for end in range(size):
        start = np.arange(np.searchsorted(last, end), end + 1)
        members = end + 1 - start
        most[end + 1] = (most[start] + members * (members - 1) / 2).max()
    return int(most[-1])


def _closed(settled: Booleans) -> Booleans:
    """The transitive closure: with a above b and b above c, also a above c."""
    between = np.flatnonzero(settled.any(axis=0) & settled.any(axis=1))
    while between.size:
        above, below = (each.astype(np.float32) for each in (settled[:, between], settled[between]))
        further = settled | (above @ below > 0)
        if np.array_equal(further, settled):
            break
        settled = further
    return settled


def rank_ranges(settled: Booleans) -> list[tuple[int, int]]:
    """The first and last rank that each bot may have, given which bots are settled above which."""
    above, below = settled.sum(axis=0), settled.sum(axis=1)
    return [(1 + int(up), above.size - int(down)) for up, down in zip(above, below, strict=True)]
