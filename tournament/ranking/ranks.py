"""Rank ranges: which bots are settled above which, with one error probability for all claims.

docs/statistics.md says why the ranges hold. Sum of differences divided by the root of the sum of
their squares: Efron, "Student's t-test under symmetry conditions", JASA 64, 1969. Holm's method
with a step: Shaffer, "Modified sequentially rejective multiple test procedures", JASA 81, 1986. All
looks together: Robbins, "Statistical methods related to the law of the iterated logarithm", 1970.
Ranks from settled pairs: Mogstad, Romano, Shaikh and Wilhelm, "Inference for ranks", Review of
Economic Studies 91, 2024.
"""

from collections.abc import Callable
from math import erfc

import numpy as np

from tournament.ranking.arrays import LEVEL, Booleans, Floats, Ints
from tournament.ranking.observations import Evidence

_ROWS = 64  # computed at a time, to save memory
_MIXTURE = 0.15  # narrowest for pairs with some 60 differences


def final_chances(evidence: Evidence) -> Floats:
    """Return, for each pair, the probability that two equal bots would differ at least as clearly.

    The result, of shape (n, n), is valid only at the planned end. Without evidence about a pair,
    the probability is 1. Because results may decide who meets again, the probability is multiplied
    by j (j + 1) for a pair that met in j of k rounds, or by k for a pair that met in all rounds,
    but is at most 1.
    """
    size = np.abs(evidence.deviate) / np.sqrt(2)
    chance = np.array(list(map(erfc, size.ravel().tolist()))).reshape(size.shape)
    chance = np.maximum(chance, 2.0 ** (1 - evidence.count))
    rounds, all_rounds = evidence.rounds, evidence.all_rounds
    times = np.where(rounds < all_rounds, rounds * (rounds + 1), all_rounds)
    answer: Floats = np.minimum(chance * np.maximum(times, 1), 1.0)
    return answer


def anytime_chances(evidence: Evidence) -> Floats:
    """Return, for each pair, an upper bound on the probability that equal bots would ever, at any
    look, differ at least as clearly. The bound is 1 without evidence about the pair. The result has
    the shape of the arrays in ``evidence``."""
    time = evidence.count * _MIXTURE
    log = np.log1p(time) / 2 - evidence.deviate**2 * time / (2 * (1 + time))
    answer: Floats = np.exp(np.minimum(log, 0.0))
    return answer


def settled_pairs(ahead: Floats, chances: Floats, level: float = LEVEL) -> Booleans:
    """Return which bots (rows) are settled above which (columns).

    With probability ``level`` no two bots are put in the wrong order. ``ahead`` (n, n) says how
    far the row's bot is ahead of the column's: it is positive if the row's bot is ahead, and 0 if
    the two have not met. ``chances`` (n, n) has the probability that the row's bot would be ahead
    at least as clearly if both were equal, or 1 without evidence.
    """
    # Bots that met count, with evidence or without: otherwise chance decides how many are compared.
    known = ahead.any(axis=1)
    # By the number of bots that a bot is ahead of, then by how far: names and seats play no part.
    far = np.round(ahead.sum(axis=1) / max(1.0, float(np.abs(ahead).max(initial=0.0))), 9)
    order = np.lexsort((-far, -np.sign(ahead).sum(axis=1), ~known))[: int(known.sum())]

    def clear(apart: Booleans) -> Booleans:
        equal = _most_equal(apart[np.ix_(order, order)])
        return chances * max(1, equal) <= 1 - level

    return _all_settled(ahead > 0, clear)


def settled_by_arrival(evidence: Evidence, arrival: Ints) -> Booleans:
    """Return which bots (rows) are settled above which (columns) if bots may arrive at any time.

    With probability ``LEVEL`` no look ever puts two bots in the wrong order. ``arrival`` (n)
    numbers the bots from 1 in the order in which they arrived. The number of a bot determines the
    allowed probability of an error about the bot and any earlier bot. The allowed probabilities of
    all bots add up to 1 - ``LEVEL``.
    """
    later = arrival[:, np.newaxis] > arrival
    level = (1 - LEVEL) / (np.pi**2 / 6 - 1) / arrival**2.0
    chances = np.empty_like(evidence.total)
    for rows in (slice(start, start + _ROWS) for start in range(0, len(chances), _ROWS)):
        chances[rows] = anytime_chances(evidence.of(rows))

    def clear(apart: Booleans) -> Booleans:
        """Return the pairs whose order is clear enough, by Holm's method for each bot and the bots
        that arrived before it. ``apart`` has the pairs settled so far, each in both directions."""
        share = level / np.maximum((later & ~apart).sum(axis=1), 1)
        answer: Booleans = np.where(later, chances <= share[:, np.newaxis], chances <= share)
        return answer

    return _all_settled(evidence.total > 0, clear)


def _all_settled(ahead: Booleans, clear: Callable[[Booleans], Booleans]) -> Booleans:
    """Return which bots (rows) are settled above which (columns), found step by step.

    Only pairs in ``ahead`` (the row's bot is ahead), and what follows from them, can be settled.
    ``clear`` gets the pairs settled so far, each in both directions, and returns the pairs that are
    clear enough. A pair that would be settled both ways is not settled.
    """
    settled = np.zeros(ahead.shape, bool)
    while True:
        further = _closed(settled | (clear(settled | settled.T) & ahead))
        if np.array_equal(further, settled):
            return settled & ~settled.T  # pairs that are settled both ways contradict each other
        settled = further


def _most_equal(apart: Booleans) -> int:
    """Return an upper bound on how many pairs of bots can be equal at once. ``apart`` (n, n), with
    the bots in order of strength, says which pairs cannot be equal."""
    # Equal bots form groups without a pair that is apart. Only groups of neighbours need be tried:
    # two groups that overlap can exchange bots until they no longer do, whatever their sizes.
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
    """Return the transitive closure of ``settled``: if a is above b and b above c, a is above c."""
    between = np.flatnonzero(settled.any(axis=0) & settled.any(axis=1))
    while between.size:
        above, below = settled[:, between], settled[between]
        further = settled | (above.astype(np.float32) @ below.astype(np.float32) > 0)
        if np.array_equal(further, settled):
            break
        settled = further
    return settled


def rank_ranges(settled: Booleans) -> list[tuple[int, int]]:
    """Return the first and the last rank, from 1, that each bot may have, given which bots (rows)
    are settled above which (columns)."""
    above, below = settled.sum(axis=0), settled.sum(axis=1)
    return [(1 + int(up), above.size - int(down)) for up, down in zip(above, below, strict=True)]
