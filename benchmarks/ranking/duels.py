"""How long duels are, and how often they name the wrong bot, compared with a GSPRT.

`python -m benchmarks ranking.duels` prints the sections of docs/benchmarks.md.
"""

from functools import partial

from benchmarks.figures import Figure, Section
from tools.simulation import duels
from tools.simulation.duels import DUELS, MOST, by_bets, by_gsprt, mean_blocks
from tournament.formats.duel import BLOCKS_PER_ROUND
from tournament.ranking.betting import Reach

WITHIN = 0.2
"""The zone of no difference, in standard deviations of a block."""

REACHES = {"Zheng Fen": Reach(6.0), "Dou Dizhu": Reach(24 / 3.3, 0.005)}
"""The reach of a block in standard deviations: the games' limits divided by the deviations of equal
bots that play at random, one deal a match (Zheng Fen 100 / 17, Dasan 9 / 1.9 and 6 / 0.95; Dou
Dizhu has a declared tail beyond 24 points / 3.3)."""


def sections() -> list[Section]:
    """Lengths, and wrong bots under skew."""
    return [_lengths(), _skewed()]


def _lengths() -> Section:
    figures = []
    for game, reach in REACHES.items():
        for effect in (0.0, 0.1, 0.2, 0.5):
            for within in (WITHIN, None) if effect else (WITHIN,):
                made = duels.normal_blocks(effect, reach.most * 3 if reach.tail else reach.most)
                ours, *named = mean_blocks(made, partial(by_bets, reach=reach, within=within))
                peer, *theirs = mean_blocks(made, partial(by_gsprt, zone=WITHIN))
                zone = f"--within {WITHIN:g}" if within else "no --within"
                title = f"{game}, effect {effect:g}, {zone}: better named in {named[0]:.0f},"
                title += f" by the peer in {theirs[0]:.0f} of 100"
                figures.append(Figure.less(title, ours, "GSPRT", peer, "blocks"))
    how = (
        f"Mean number of blocks of {DUELS} duels, with a look after every {BLOCKS_PER_ROUND} and at"
        f" most {MOST:,}; effects and --within in standard deviations of a block, whose differences"
        " are normal. The reach of a block is 6 standard deviations in Zheng Fen; in Dou Dizhu it"
        " has a declared tail. The GSPRT (as fastchess: normal approximation, no difference against"
        f" {WITHIN:g} standard deviations, errors of 5 %) supposes that no rare loss is to come:"
        " see the next section."
    )
    return Section("Lengths of duels", how, figures)


def _skewed() -> Section:
    figures = []
    for every in (10, 20, 50, 100, 200, 500):
        made = duels.rare_loss(every)
        _, *ours = mean_blocks(made, partial(by_bets, reach=Reach(float(every))))
        _, *peer = mean_blocks(made, partial(by_gsprt, zone=WITHIN * (every - 1) ** 0.5))
        title = f"one of {every} blocks loses {every - 1} points"
        ratio = 6.0 / max(sum(ours), 100 / DUELS)
        figures.append(Figure(title, sum(ours), "GSPRT", sum(peer), "in 100", ratio, 1.0))
    how = (
        "Two bots with equal means: the first wins a point in most blocks and loses much in few. In"
        f" how many of {DUELS} duels of up to {MOST:,} blocks a bot is named, where the reach is"
        " known; where it is not, the duel says that it is unproved. The ratio is the promise of 6"
        " to ours (or to one duel where none was wrong). The standard error of 5 is 1.5."
    )
    return Section("Duels under skew", how, figures)
