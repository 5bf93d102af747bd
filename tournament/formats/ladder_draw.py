"""The tables of one epoch of a ladder, drawn from what was known before its first match.

Half of the tables are drawn evenly, in passes: a pass seats some bots, once each. The other half
settles the top, by Thompson sampling: a score is drawn for each bot from what is known of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import chain
from statistics import NormalDist

import numpy as np

from tournament.formats.draws import draw, shuffled
from tournament.formats.round_scores import StageTable
from tournament.ranking.posterior import Posterior

BLOCKS = 40
"""Blocks of an epoch. Fewer than twenty bots have two each, so that a newcomer does not wait long;
many have more, so that half of the blocks seat everybody."""
NEW = 10
"""A bot with fewer blocks is new."""


def draw_tables(
    seed: str, epoch: int, bots: Iterable[str], players: int, known: Posterior, top: int = 3
) -> list[StageTable]:
    """The tables of an epoch, a block each, with their stages; none if the bots are too few.

    ``known`` has all blocks of the epochs before and no others. The bots of one stage can be
    compared: they sit at one table or, in a pass, at tables of equal chances.
    """
    names = sorted(bots)
    if len(names) < players:
        return []
    half = max(min(BLOCKS // 2, len(names)), len(names) // players)
    even = _even(seed, epoch, names, players, known, half)
    close = _close(seed, epoch, names, players, known, top, half)
    # Close tables seat the same few bots: in turn with the others they can be played side by side.
    return list(chain.from_iterable(zip(even, close, strict=True)))


def _even(
    seed: str, epoch: int, names: list[str], players: int, known: Posterior, blocks: int
) -> list[StageTable]:
    """Passes of so many blocks together. Newcomers sit in every pass, and as long as there are
    some, it has only as many tables as newcomers."""
    played = Counter(known.blocks)
    tables: list[StageTable] = []
    number = 0
    while len(tables) < blocks:
        number += 1
        stage = f"epoch {epoch}, even {number}"
        drawn = shuffled(names, "ladder", seed, stage)
        new = [name for name in drawn if played[name] < NEW]
        size = min(len(new) or len(names), len(names) // players, blocks - len(tables))
        drawn.sort(key=lambda name: played[name] >= NEW)
        seated = shuffled(drawn[: size * players], "pass", seed, stage)
        played.update(seated)
        tables += [
            (stage, tuple(sorted(seated[start : start + players])))
            for start in range(0, len(seated), players)
        ]
    return tables


def _close(
    seed: str, epoch: int, names: list[str], players: int, known: Posterior, top: int, blocks: int
) -> list[StageTable]:
    """Tables of bots next to the line between two places of which the order of the bots that seem
    to hold them is most in doubt; the last line is below the top."""
    means, deviations = known.effects(names)
    best = np.argsort(-means, kind="stable")[: top + 1]
    gap = -np.diff(means[best]) / np.hypot(deviations[best][1:], deviations[best][:-1])
    line = int(gap.argmin()) + 1
    tables: list[StageTable] = []
    for number in range(1, blocks + 1):
        stage = f"epoch {epoch}, top {number}"
        drawn = [
            (mean + deviation * _normal(seed, stage, name), name)
            for name, mean, deviation in zip(
                names, means.tolist(), deviations.tolist(), strict=True
            )
        ]
        ranked = [name for _, name in sorted(drawn, reverse=True)]
        # An odd number of players has one more above the line or below it, in turn.
        start = line - (players + number % 2) // 2
        start = max(0, min(start, len(names) - players))
        tables.append((stage, tuple(sorted(ranked[start : start + players]))))
    return tables


def _normal(seed: str, stage: str, name: str) -> float:
    """A standard normal deviate."""
    share = (int(draw("score", seed, stage, name)[:12], 16) + 0.5) / 16**12
    return NormalDist().inv_cdf(share)
