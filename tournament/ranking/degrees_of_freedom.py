"""Degrees of freedom of the differences of scores."""

from __future__ import annotations

import numpy as np

from tournament.ranking.arrays import Floats, Ints
from tournament.ranking.design import Design
from tournament.ranking.observations import Observations
from tournament.ranking.residuals import SATURATED, STRATUM, centred, leverage, seats_of

# So many cells of (tables, n, n) in memory at once.
_CELLS = 4_000_000


def design_freedom(data: Observations, design: Design) -> tuple[Floats, Floats]:
    """Effective number of blocks and degrees of freedom of each difference, (n, n).

    Both suppose that all points spread alike. With v_b the share of block b in the variance of
    a difference: Kish's effective number (sum v_b)^2 / sum v_b^2, and Satterthwaite's degrees
    of freedom (sum v_s)^2 / sum (v_s^2 / f_s) over strata s, where f_s is blocks - 1 for a
    table that is a stratum, and for any other block what the fit leaves of its residuals.
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
            each = _squared_differences(pull @ pull.transpose(0, 2, 1))
            inside = each * twice[some, np.newaxis, np.newaxis]
            single = each**2 * fourfold[some, np.newaxis, np.newaxis]
            total += inside.sum(axis=0)
            squares += single.sum(axis=0)
            played = design.played[some, np.newaxis, np.newaxis]
            paid = inside**2 / np.maximum(played - 1.0, 1.0)
            few = design.played[some] < STRATUM
            if few.any():
                weight = np.sqrt(twice[some] / design.played[some])[few]
                paid[few] = single[few] / _left(design, seats[few], pull[few], weight, size)
            spent += paid.sum(axis=0)
    apart = design.component[:, np.newaxis] != design.component
    known = (total > 0) & ~apart & ~np.eye(data.bots, dtype=bool)
    blocks = np.divide(total**2, squares, out=np.zeros(shape), where=known)
    freedom = np.divide(total**2, spent, out=np.zeros(shape), where=known)
    return blocks, freedom


def _left(design: Design, seats: Ints, pull: Floats, weight: Floats, size: int) -> Floats:
    """What the fit leaves of the residuals of single blocks, in the direction of each pair."""
    hat = leverage(design, seats, weight, float(size))
    taken = _squared_differences(pull @ hat @ pull.transpose(0, 2, 1))
    whole = _squared_differences(pull @ pull.transpose(0, 2, 1))
    share = np.divide(taken, whole, out=np.zeros_like(whole), where=whole > 0)
    answer: Floats = np.maximum(1 - share, SATURATED)
    return answer


def _squared_differences(products: Floats) -> Floats:
    """Of each pair the square of the difference, from all products (..., n, n)."""
    own = np.diagonal(products, axis1=-2, axis2=-1)
    answer: Floats = own[..., :, np.newaxis] + own[..., np.newaxis, :] - 2 * products
    return answer
