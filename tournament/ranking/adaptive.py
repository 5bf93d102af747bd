"""Rank ranges for formats that pair by results: Swiss.

Winners are seated with winners, so that their luck in one round looks like a difference between
two groups of bots, and later rounds make each group's mean precise without ever comparing the
groups again. With 30 equal bots some range of a fixed design is then false in every fourth cup,
with 40 bots some anytime range in every sixth. Scheffé's limit ("A method for judging all
contrasts in the analysis of variance", Biometrika 40, 1953) holds for every contrast of n
effects at once, also for one that the results chose: the root of the 95 % quantile of chi-square
with n - 1 degrees of freedom. That it suffices here is measured, not proved.
"""

from __future__ import annotations

import math

from tournament.ranking import anytime
from tournament.ranking.bootstrap import LEVEL
from tournament.ranking.distributions import chi_square_quantile
from tournament.ranking.effects import Fit
from tournament.ranking.pairs import pairs
from tournament.ranking.rank_ranges import Settled


def settled_pairs(fit: Fit) -> Settled:
    """Which bots (rows) are settled above which (columns), (n, n), valid at any time.

    Never more than ``anytime.settled_pairs``: Scheffé's limit comes on top.
    """
    playing = int((fit.component >= 0).sum())
    limit = math.sqrt(chi_square_quantile(max(1, playing - 1), 1 - LEVEL))
    answer: Settled = anytime.settled_pairs(fit) & (pairs(fit).deviate > limit)
    return answer
