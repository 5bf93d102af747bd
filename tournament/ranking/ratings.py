"""A rating on the Elo scale that does not depend on the order of the matches.

Bradley and Terry's model: bot i scores 1 / (1 + 10^((r_j - r_i)/400)) a comparison against bot j.
Every two seats of a match are compared: more points win, equal points are half a win; seats of one
side or of one bot are not compared. Ratings maximise the likelihood of all comparisons together
with half a win and half a loss of every bot against an imagined average one, which keeps the
rating of a bot that never lost finite. Their mean is 1500.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from tournament.ranking.arrays import Floats, Ints
from tournament.ranking.bootstrap import (
    LEVEL,
    UNKNOWN,
    Interval,
    generator,
    percentile_interval,
)
from tournament.ranking.distributions import logistic
from tournament.ranking.groups import connected

MEAN = 1500.0
SCALE = 400 / math.log(10)

_RESAMPLES = 1_000
_PRIOR = 0.5
# The most cells in a batch of comparison matrices.
_MAX_CELLS = 2_000_000
# Decimal places that are kept: further ones are floating-point noise.
_DIGITS = 6


@dataclass(frozen=True)
class Comparisons:
    """The results of pairs of bots against each other, block by block.

    Entry k says that in block ``block[k]`` the bots ``first[k]`` < ``second[k]`` were compared
    ``games[k]`` times, and the first had ``halves[k]`` half wins of them.
    """

    block: Ints
    first: Ints
    second: Ints
    games: Ints
    halves: Ints
    bots: int
    blocks: int


@dataclass(frozen=True, slots=True)
class Rating:
    """A bot's rating and its interval."""

    value: float
    interval: Interval


def compare(bots: Ints, scores: Ints, sides: Ints, block: Ints, count: int) -> Comparisons:
    """All comparisons in the matches, summed by block and pair.

    ``bots``, ``scores`` and ``sides`` have a row for each match and a column for each seat: the
    index of the bot (below ``count``), its points, and a number that seats of one side share.
    ``block`` has the index of each match's block.
    """
    if not bots.shape == scores.shape == sides.shape or block.shape != bots.shape[:1]:
        raise ValueError("bots, scores and sides need one row for each entry of block")
    blocks = int(block.max()) + 1 if block.size else 0
    keys, halves = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for a, b in combinations(range(bots.shape[1]), 2):
        rivals = (bots[:, a] != bots[:, b]) & (sides[:, a] != sides[:, b])
        one, two = bots[rivals, a], bots[rivals, b]
        outcome = 1 + np.sign(scores[rivals, a] - scores[rivals, b])
        first, second = np.minimum(one, two), np.maximum(one, two)
        keys.append((block[rivals] * count + first) * count + second)
        halves.append(np.where(one < two, outcome, 2 - outcome))
    key, at, games = np.unique(np.concatenate(keys), return_inverse=True, return_counts=True)
    won = np.bincount(at, weights=np.concatenate(halves), minlength=key.size)
    return Comparisons(
        block=key // (count * count),
        first=key // count % count,
        second=key % count,
        games=games.astype(np.int64),
        halves=won.astype(np.int64),
        bots=count,
        blocks=blocks,
    )


def ratings(data: Comparisons, blocks_of: Sequence[int], seed: str) -> list[Rating]:
    """The rating of every bot, with a bootstrap interval over the blocks of the whole run.

    ``blocks_of`` is the number of blocks of each bot. The half win and half loss are redrawn with
    the blocks (their weights have Gamma distributions of shape one half), so that the interval of
    a bot that always won is wide instead of empty. A bot with fewer than two blocks has none.
    """
    if not data.bots:
        return []
    wins = _matrices(data, data.games, data.halves)[np.newaxis]
    prior = np.full((1, 2), _PRIOR)
    best = strengths(wins, prior, np.zeros((1, data.bots)))[0]
    values = MEAN + SCALE * (best - best.mean())
    draws = np.empty((0, data.bots))
    if data.blocks > 1 and data.games.size:
        draws = _bootstrap(data, best, seed)
    found = []
    for bot, value in enumerate(values):
        interval = UNKNOWN
        if draws.size and blocks_of[bot] > 1:
            wide = percentile_interval(float(value), draws[:, bot], blocks_of[bot])
            below, above = _unspread(data, bot, blocks_of[bot])
            low, high = wide.low, wide.high
            interval = Interval(
                None if low is None else _rounded(min(low, float(value) - below)),
                None if high is None else _rounded(max(high, float(value) + above)),
            )
        found.append(Rating(round(float(value), _DIGITS), interval))
    return found


def rating_groups(data: Comparisons) -> Ints:
    """The group of each bot (n): bots that were compared, directly or through others.

    Ratings of different groups have no common scale: each group's mean lies near ``MEAN``
    because nothing is known of it, not because the groups are equally strong.
    """
    compared = np.zeros((data.bots, data.bots), bool)
    compared[data.first, data.second] = compared[data.second, data.first] = True
    return connected(compared)


def _unspread(data: Comparisons, bot: int, blocks: int) -> tuple[float, float]:
    """How far a rating may be off below and above, where every block was alike; else 0.

    Resampling equal blocks shows no spread. But after m of them an unlike block has at 95 % at
    most the chance 1 - 0.05^(1/m) (rule of three), and may be won or lost altogether.
    """
    one, two = data.first == bot, data.second == bot
    games = np.concatenate((data.games[one], data.games[two]))
    halves = np.concatenate((data.halves[one], 2 * data.games[two] - data.halves[two]))
    _, at = np.unique(np.concatenate((data.block[one], data.block[two])), return_inverse=True)
    each, won = np.bincount(at, games), np.bincount(at, halves)
    if not games.size or np.any(won * games.sum() != halves.sum() * each):
        return 0.0, 0.0
    chance = 1 - (1 - LEVEL) ** (1 / blocks)
    share = (float(halves.sum()) / 2 + _PRIOR) / (float(games.sum()) + 2 * _PRIOR)
    worst, best = share * (1 - chance), share + chance * (1 - share)
    odds = [math.log(each / (1 - each)) for each in (worst, share, best)]
    return SCALE * (odds[1] - odds[0]), SCALE * (odds[2] - odds[1])


def strengths(wins: Floats, prior: Floats, start: Floats) -> Floats:
    """Maximum-likelihood strengths (natural logarithms of odds) of a batch of win counts.

    ``wins[k, i, j]`` is how often i beat j, ``prior[k]`` the weights of a win and a loss of each
    bot against one of strength 0; ``start`` is where the search begins. The log-likelihood is
    strictly concave, so Newton's method with halved steps finds its one maximum.
    """
    beta = start.copy()
    value = _likelihood(beta, wins, prior)
    left = np.arange(len(beta))
    for _ in range(200):
        step = _newton(beta[left], wins[left], prior[left])
        left, step = left[_length(step) > 1e-9], step[_length(step) > 1e-9]
        if not left.size:
            break
        for _ in range(40):
            reached = _likelihood(beta[left] + step, wins[left], prior[left])
            worse = reached < value[left] - 1e-12 * np.abs(value[left])
            if not worse.any():
                break
            step[worse] /= 2
        beta[left] += step
        value[left] = reached
    return beta


def _newton(beta: Floats, wins: Floats, prior: Floats) -> Floats:
    """Newton's steps towards the maximum, each limited to odds of e^4."""
    games = wins + wins.transpose(0, 2, 1)
    weight = prior.sum(axis=1)[:, np.newaxis]
    chance = logistic(beta[:, :, np.newaxis] - beta[:, np.newaxis, :])
    alone = logistic(beta)
    slope = wins.sum(axis=2) + prior[:, :1] - (games * chance).sum(axis=2) - weight * alone
    curve = games * chance * (1 - chance)
    hessian = -curve
    diagonal = np.arange(beta.shape[1])
    hessian[:, diagonal, diagonal] += curve.sum(axis=2) + weight * alone * (1 - alone)
    step: Floats = np.linalg.solve(hessian, slope[:, :, np.newaxis])[:, :, 0]
    return step * np.minimum(1.0, 4.0 / np.maximum(_length(step), 4.0))[:, np.newaxis]


def _length(step: Floats) -> Floats:
    longest: Floats = np.abs(step).max(axis=1)
    return longest


def _bootstrap(data: Comparisons, best: Floats, seed: str) -> Floats:
    bits = generator(seed, "rating", data.blocks)
    kind, kinds = _kinds(data)
    pairs = kinds.first * data.bots + kinds.second
    names, pair = np.unique(pairs, return_inverse=True)
    prior = _gamma_halves(bits, _RESAMPLES)
    at_once = max(1, _MAX_CELLS // (data.bots * data.bots))
    draws = []
    for start in range(0, _RESAMPLES, at_once):
        rows = min(at_once, _RESAMPLES - start)
        wins = np.zeros((rows, data.bots, data.bots))
        for row in range(rows):
            raw = bits.random_raw(data.blocks)
            drawn = ((raw >> np.uint64(32)) * np.uint64(data.blocks)) >> np.uint64(32)
            often = np.bincount(kind[drawn.astype(np.int64)], minlength=kinds.blocks)[kinds.block]
            games = np.bincount(pair, weights=often * kinds.games, minlength=names.size)
            halves = np.bincount(pair, weights=often * kinds.halves, minlength=names.size)
            wins[row, names // data.bots, names % data.bots] = halves / 2
            wins[row, names % data.bots, names // data.bots] = games - halves / 2
        some = prior[start : start + rows]
        beta = strengths(wins, some, np.repeat(best[np.newaxis], rows, axis=0))
        draws.append(MEAN + SCALE * (beta - beta.mean(axis=1, keepdims=True)))
    return np.concatenate(draws)


def _kinds(data: Comparisons) -> tuple[Ints, Comparisons]:
    """The kind of each block, and one block of each kind: blocks of a kind have equal results.

    Many blocks have few kinds, so that resamples of 300,000 blocks take half the time.
    """
    counts = np.bincount(data.block, minlength=data.blocks)
    column = np.arange(data.block.size) - (np.cumsum(counts) - counts)[data.block]
    results = np.full((data.blocks, int(counts.max(initial=0)), 4), -1)
    entries = np.stack((data.first, data.second, data.games, data.halves), axis=1)
    results[data.block, column] = entries
    _, example, kind = np.unique(
        results.reshape(data.blocks, -1), axis=0, return_index=True, return_inverse=True
    )
    number = np.full(data.blocks, -1)
    number[example] = np.arange(example.size)
    kept = number[data.block] >= 0
    kinds = replace(
        data,
        block=number[data.block[kept]],
        first=data.first[kept],
        second=data.second[kept],
        games=data.games[kept],
        halves=data.halves[kept],
        blocks=example.size,
    )
    return kind.reshape(-1), kinds


def _matrices(data: Comparisons, games: Ints, halves: Ints) -> Floats:
    wins = np.zeros((data.bots, data.bots))
    np.add.at(wins, (data.first, data.second), halves / 2)
    np.add.at(wins, (data.second, data.first), games - halves / 2)
    return wins


def _gamma_halves(bits: np.random.PCG64, rows: int) -> Floats:
    """Rows of two Gamma variates of shape one half: halved squares of normal ones (Box-Muller)."""
    raw = bits.random_raw(2 * rows).reshape(rows, 2)
    uniform = ((raw >> np.uint64(11)).astype(np.float64) + 0.5) / 2.0**53
    radius = -np.log(uniform[:, 0])
    angle = 2 * np.pi * uniform[:, 1]
    made = np.stack((radius * np.cos(angle) ** 2, radius * np.sin(angle) ** 2), axis=1)
    # Below this weight floating point sees no curvature in the likelihood.
    variates: Floats = np.maximum(made, 1e-6)
    return variates


def _likelihood(beta: Floats, wins: Floats, prior: Floats) -> Floats:
    gaps = beta[:, :, np.newaxis] - beta[:, np.newaxis, :]
    rivals = -(wins * np.logaddexp(0, -gaps)).sum(axis=(1, 2))
    alone = prior[:, :1] * np.logaddexp(0, -beta) + prior[:, 1:] * np.logaddexp(0, beta)
    total: Floats = rivals - alone.sum(axis=1)
    return total


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)
