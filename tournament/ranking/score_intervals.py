"""Confidence intervals of the scores, 95 % each, from the same errors as the rank ranges."""

from __future__ import annotations

import numpy as np

from tournament.ranking.bootstrap import LEVEL, UNKNOWN, Interval
from tournament.ranking.distributions import student_quantile
from tournament.ranking.effects import Fit
from tournament.ranking.observations import Observations

_DIGITS = 9
_NOISE = 1e-9


def score_intervals(data: Observations, fit: Fit) -> list[Interval]:
    """The interval of each bot's score: Student's t around the fit.

    The degrees of freedom are Satterthwaite's, from the bot's own spread in each stratum:
    (sum v_s)^2 / sum (v_s^2 / (f_s + 2)) - 2, with v_s the share of stratum s in the variance,
    whose square is (f_s + 2) / f_s times too large on average. Fewer than two blocks, or a
    design that leaves no spread to judge by: unknown. Without any spread over m blocks an
    unlike block has at 95 % at most the chance 1 - 0.05^(1/m) (rule of three), and may be as
    far off as any seat of these blocks; if no seat differs either: unknown. The interval holds at
    one moment, not at every look.
    """
    strata = fit.freedom.size
    shares = np.zeros((strata, data.bots))
    np.add.at(shares, fit.stratum, fit.influence**2)
    variance = shares.sum(axis=0)
    spent = (shares**2 / (fit.freedom[:, np.newaxis] + 2)).sum(axis=0)
    spread = np.fmax(np.abs(data.highest - fit.score), np.abs(data.lowest - fit.score))
    blocks = (data.deals > 0).sum(axis=0)
    nominal = fit.design_freedom.max(axis=1, initial=0.0)
    answers = []
    for bot in range(data.bots):
        if blocks[bot] < 2 or nominal[bot] < 0.5:
            answers.append(UNKNOWN)
            continue
        reach = float(spread[bot])
        if reach <= _NOISE:
            answers.append(UNKNOWN)
            continue
        if variance[bot] <= (_NOISE * reach) ** 2:
            half_width = (1 - (1 - LEVEL) ** (1 / float(blocks[bot]))) * reach
        else:
            own = max(float(variance[bot] ** 2 / spent[bot]) - 2, 1.0)
            student = float(student_quantile(min(own, float(nominal[bot])), (1 - LEVEL) / 2))
            half_width = student * float(np.sqrt(variance[bot]))
        score = float(fit.score[bot])
        low, high = score - half_width, score + half_width
        answers.append(Interval(round(low, _DIGITS), round(high, _DIGITS)))
    return answers
