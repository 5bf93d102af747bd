"""The spread of the points within tables, which tells how far the scores may be off."""

from __future__ import annotations

import numpy as np

from tournament.ranking.arrays import Booleans, Floats, Ints
from tournament.ranking.design import Design
from tournament.ranking.observations import Observations

# A block that leaves less than this of a direction to the residuals says nothing of its spread.
SATURATED = 1e-9
# A table with so many blocks is judged by its own mean.
STRATUM = 5


def residuals(
    data: Observations, design: Design, effects: Floats, base: Floats
) -> tuple[Floats, Floats, Ints]:
    """Errors of the points (B, n), scaled to their full spread; freedom and number of strata.

    A table with ``STRATUM`` blocks or more is a stratum: deviations from the table's mean,
    times sqrt(m / (m - 1)). That takes out what the model cannot say of single tables. Any
    other block has the residuals of the fit, divided by the square root of what the fit left
    of them (CR2: Bell and McCaffrey, "Bias reduction in standard errors for linear regression
    with multi-stage samples", Survey Methodology 28, 2002), and is a stratum of one degree of
    freedom: strata of two or three blocks would waste half of the freedom that there is.
    """
    tables = data.present.shape[0]
    present = data.present[data.table]
    weight = design.weight[:, np.newaxis] * present
    sums = np.zeros((tables, data.bots))
    np.add.at(sums, data.table, weight * data.points)
    total = np.bincount(data.table, design.weight, tables)[:, np.newaxis]
    played = design.played[data.table]
    wider = np.sqrt(played / np.maximum(played - 1, 1))[:, np.newaxis]
    answer = np.where(present, (data.points - (sums / total)[data.table]) * wider, 0.0)
    few = np.flatnonzero(played < STRATUM)
    stratum = data.table.copy()
    stratum[few] = tables + np.arange(few.size)
    if few.size:
        answer[few] = _single_residuals(data, design, effects, base, few)
    _, stratum = np.unique(stratum, return_inverse=True)
    return answer, np.maximum(np.bincount(stratum) - 1.0, 1.0), stratum


def _single_residuals(
    data: Observations, design: Design, effects: Floats, base: Floats, single: Ints
) -> Floats:
    answer = np.zeros((single.size, data.bots))
    count = np.bincount(design.block_component(data))[design.block_component(data)[single]]
    for size in np.unique(design.size[data.table[single]]):
        rows = np.flatnonzero(design.size[data.table[single]] == size)
        blocks = single[rows]
        seats = seats_of(data.present[data.table[blocks]], int(size))
        points = np.take_along_axis(data.points[blocks], seats, axis=1)
        mean = points.mean(axis=1, keepdims=True)
        fitted = design.factor[data.table[blocks]][:, np.newaxis] * centred(effects[seats])
        hat = leverage(design, seats, design.weight[blocks], float(size))
        left, directions = np.linalg.eigh(np.eye(int(size)) - hat)
        scale = np.where(left > SATURATED, 1 / np.sqrt(np.maximum(left, SATURATED)), 0.0)
        residual = np.einsum("bji,bj->bi", directions, points - mean - fitted)
        within = np.einsum("bij,bj->bi", directions, scale * residual)
        more = count[rows] / np.maximum(count[rows] - 1, 1)
        common = (mean - base[seats][:, :1]) * np.sqrt(more)[:, np.newaxis]
        filled = np.zeros((blocks.size, data.bots))
        np.put_along_axis(filled, seats, within + common, axis=1)
        answer[rows] = filled
    return answer


def seats_of(present: Booleans, size: int) -> Ints:
    """The bots of tables of one size, a row each."""
    return np.nonzero(present)[1].reshape(-1, size)


def centred(values: Floats) -> Floats:
    """Less the mean of the last axis."""
    answer: Floats = values - values.mean(axis=-1, keepdims=True)
    return answer


def leverage(design: Design, seats: Ints, weight: Floats, size: float) -> Floats:
    """The part of the hat matrix (blocks, p, p) by which a block's points fit themselves."""
    inverse = design.inverse[seats[:, :, np.newaxis], seats[:, np.newaxis, :]]
    inverse = centred(centred(inverse).transpose(0, 2, 1))
    factor = size / max(size - 1, 1) if size > 1 else 0.0
    answer: Floats = weight[:, np.newaxis, np.newaxis] * factor**2 * inverse
    return answer
