"""Which bots are settled however skewed their points are, by betting on the meetings of each pair.

Valid for all looks together and whoever meets next, because no bet can gain on average where
neither of two bots is better at the tables where both sit. That takes more blocks than the rank
ranges need, and supposes only how far a block can reach. It ends a cup (`[stop]`).
"""

from __future__ import annotations

from math import log

import numpy as np

from tournament.ranking.arrays import Booleans
from tournament.ranking.betting import Reach, pair_wealth
from tournament.ranking.evidence import meetings
from tournament.ranking.observations import Observations
from tournament.ranking.ranks import settled_pairs


def settled_by_bets(data: Observations, reach: Reach, level: float) -> Booleans:
    """Which bots (rows) are settled above which (columns), (n, n), from the wealth of
    the bets: with probability ``level`` no two bots are ever put in a wrong order."""
    bots = data.bots
    pair, differences = meetings(data)
    more, less = pair_wealth(pair, differences, bots * bots, reach).reshape(2, bots, bots)
    wealth = more + less.T  # each has one side only
    # Either may be better: half of the wealth is on each.
    return settled_pairs(wealth, np.exp(np.minimum(log(2) - wealth, 0.0)), level)
