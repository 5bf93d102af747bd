"""Who met whom: the design of the fit, which knows no points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tournament.ranking.arrays import Floats, Ints
from tournament.ranking.groups import connected
from tournament.ranking.observations import Observations


@dataclass(frozen=True)
class Design:
    """Who sat where: ``weight`` (B) of a block, ``factor`` k (K) and ``size`` p (K) of a table,
    ``played`` (K) its blocks, ``inverse`` (n, n) of the Laplacian within components."""

    weight: Floats
    factor: Floats
    size: Ints
    played: Ints
    component: Ints
    inverse: Floats

    def block_component(self, data: Observations) -> Ints:
        """The component (B) of each block."""
        answer: Ints = self.component[data.present.argmax(axis=1)][data.table]
        return answer


def design_of(data: Observations) -> Design:
    """The design of these blocks."""
    tables = data.present.shape[0]
    size = data.present.sum(axis=1)
    weight = data.deals.sum(axis=1) / np.maximum(size[data.table], 1)
    weight = weight / weight.max(initial=1.0)
    # A table of one bot compares nobody.
    factor = np.where(size > 1, size / np.maximum(size - 1, 1), 0.0)
    played = np.bincount(data.table, minlength=tables)
    pull = np.bincount(data.table, weight, tables) * factor**2
    seated = data.present.astype(np.float64)
    laplacian = -(seated.T * (pull / np.maximum(size, 1))) @ seated
    np.fill_diagonal(laplacian, laplacian.diagonal() + pull @ seated)
    component = _components(data)
    inverse = np.zeros_like(laplacian)
    for number in range(int(component.max(initial=-1)) + 1):
        inside = np.flatnonzero(component == number)
        block = np.ix_(inside, inside)
        scale = max(float(np.trace(laplacian[block])), 1.0) / inside.size
        ones = np.full((inside.size, inside.size), scale / inside.size)
        # The Laplacian maps constants to 0; adding ones makes it invertible, taking them away
        # again is Moore and Penrose's inverse.
        inverse[block] = np.linalg.inv(laplacian[block] + ones) - ones / scale**2
    return Design(weight, factor, size, played, component, inverse)


def _components(data: Observations) -> Ints:
    """Which bots are connected by tables; numbered by first block, -1 for those that never
    played."""
    seated = data.present.astype(np.float64)
    found = connected(seated.T @ seated > 0)
    first = np.where(data.present.any(axis=0), data.present.argmax(axis=0), -1)
    answer = np.full(data.bots, -1, np.int64)
    playing = np.flatnonzero(first >= 0)
    earliest = np.full(data.bots, data.present.shape[0], np.int64)
    np.minimum.at(earliest, found[playing], first[playing])
    answer[playing] = np.unique(earliest[found[playing]], return_inverse=True)[1]
    return answer
