"""Degrees of freedom of the differences of scores."""

from __future__ import annotations

import numpy as np

from tournament.ranking.design import Design
from tournament.ranking.observations import Observations
from tournament.ranking.residuals import SATURATED, centred, leverage, seats_of
from tournament.results.bootstrap import Floats, Ints

# So many cells of (tables or blocks, n, n) in memory at once.
_CELLS = 4_000_000


def design_freedom(data: Observations, design: Design) -> tuple[Floats, Floats]:
    """Effective number of blocks and degrees of freedom of each difference, (n, n).

    Both suppose that all points spread alike. With v_b the share of block b in the variance of
    a difference: Kish's effective number (sum v_b)^2 / sum v_b^2, and Satterthwaite's degrees
    of freedom (sum v_s)^2 / sum (v_s^2 / f_s) over strata s, where f_s is blocks - 1 for a
    table with several blocks, and for a table with one what the fit leaves of its residuals.
    0 for a bot with itself and between components.
    """
    shape = (data.bots, data.bots)
    total, squares, spent = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    tables = data.present.shape[0]
    twice = np.bincount(data.table, design.weight**2, tables)
    fourfold = np.bincount(data.table, design.weight**4, tables)
    at_once = max(1, _CELLS // max(1, data.bots**2))
    for size in np.unique(design.size):
        chosen = np.flatnonzero(design.size == size)
        for start in range(0, chosen.size, at_once):
            some = chosen[start : start + at_once]
            seats = seats_of(data.present[some], int(size))
            pull = centred(design.inverse[:, seats]) * design.factor[some][:, np.newaxis]
            pull = pull.transpose(1, 0, 2)
            each = _spread(pull @ pull.transpose(0, 2, 1))
            inside = each * twice[some, np.newaxis, np.newaxis]
            free = np.maximum(design.played[some] - 1.0, 1.0)[:, np.newaxis, np.newaxis]
            free = np.broadcast_to(free, each.shape).copy()
            alone = design.played[some] == 1
            if alone.any():
                free[alone] = _left(design, seats[alone], pull[alone], twice[some][alone], size)
            total += inside.sum(axis=0)
            squares += (each**2 * fourfold[some, np.newaxis, np.newaxis]).sum(axis=0)
            spent += (inside**2 / free).sum(axis=0)
    apart = design.component[:, np.newaxis] != design.component
    known = (total > 0) & ~apart & ~np.eye(data.bots, dtype=bool)
    blocks = np.divide(total**2, squares, out=np.zeros(shape), where=known)
    freedom = np.divide(total**2, spent, out=np.zeros(shape), where=known)
    return blocks, freedom


def estimated_freedom(influence: Floats, stratum: Ints, freedom: Floats) -> Floats:
    """Satterthwaite's degrees of freedom of each difference from its own spread, (n, n).

    (sum v_s)^2 / sum (v_s^2 / (f_s + 2)) - 2, with v_s the estimated share of stratum s in the
    variance: v_s^2 is (f_s + 2) / f_s times too large on average.
    """
    bots = influence.shape[1]
    order = np.argsort(stratum, kind="stable")
    starts = np.flatnonzero(np.diff(stratum[order], prepend=-1))
    ends = np.append(starts[1:], stratum.size)
    total, spent = np.zeros((bots, bots)), np.zeros((bots, bots))
    at_once = max(1, _CELLS // max(1, bots**2))
    first = 0
    while first < starts.size:
        last = max(first + 1, int(np.searchsorted(ends, starts[first] + at_once, side="right")))
        rows = influence[order[starts[first] : ends[last - 1]]]
        products = rows[:, :, np.newaxis] * rows[:, np.newaxis, :]
        inside = np.add.reduceat(products, starts[first:last] - starts[first], axis=0)
        inside = np.maximum(_spread(inside), 0.0)
        free = freedom[stratum[order[starts[first:last]]]][:, np.newaxis, np.newaxis]
        total += inside.sum(axis=0)
        spent += (inside**2 / (free + 2)).sum(axis=0)
        first = last
    answer = np.divide(total**2, spent, out=np.full((bots, bots), 3.0), where=spent > 0) - 2
    return np.maximum(answer, 1.0)


def _left(design: Design, seats: Ints, pull: Floats, weight: Floats, size: int) -> Floats:
    """What the fit leaves of the residuals of single blocks, in the direction of each pair."""
    hat = leverage(design, seats, np.sqrt(weight), float(size))
    taken = _spread(pull @ hat @ pull.transpose(0, 2, 1))
    whole = _spread(pull @ pull.transpose(0, 2, 1))
    share = np.divide(taken, whole, out=np.zeros_like(whole), where=whole > 0)
    answer: Floats = np.maximum(1 - share, SATURATED)
    return answer


def _spread(products: Floats) -> Floats:
    """Of each pair the square of the difference, from all products (..., n, n)."""
    own = np.diagonal(products, axis1=-2, axis2=-1)
    answer: Floats = own[..., :, np.newaxis] + own[..., np.newaxis, :] - 2 * products
    return answer
