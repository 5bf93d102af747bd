"""How long duels are, and how often they name the wrong bot, beside a GSPRT.

`python -m benchmarks ranking.duels` prints the sections of docs/benchmarks.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import log

import numpy as np

from benchmarks.figures import Figure, Section
from tournament.formats.duel import BLOCKS_PER_ROUND
from tournament.ranking.arrays import LEVEL, Floats
from tournament.ranking.betting import Reach, log_wealth

MOST = 4_000
"""Blocks of a duel at most."""
WITHIN = 0.2
"""The zone of no difference, in standard deviations of a block."""
REACHES = {"Zheng Fen": Reach(6.0), "Dou Dizhu": Reach(24 / 3.3, 0.005)}
"""The reach of a block in standard deviations: the games' limits by those of equal bots that play
at random, one deal a match (Zheng Fen 100 / 17, Dasan 9 / 1.9 and 6 / 0.95; Dou Dizhu has a
declared tail beyond 24 points / 3.3)."""
DUELS = 200

Blocks = Callable[[np.random.Generator], Floats]


@dataclass(frozen=True)
class Ended:
    """How a duel ended: after how many blocks, and with what: 1 or -1 names a bot, 0 neither."""

    blocks: int
    named: int


def by_bets(differences: Floats, reach: Reach, within: float | None = None) -> Ended:
    """The duel as `stich duel` plays it: tests/tournament/ranking compares the two."""
    needed = -log(1 - LEVEL)
    settled = log_wealth(differences, reach, 0.0, within) >= needed
    equal = np.zeros_like(settled)
    if within is not None:
        zone = [
            log_wealth(differences, reach, mean, within) >= needed for mean in (-within, within)
        ]
        equal = zone[0] & zone[1]
    looks = slice(BLOCKS_PER_ROUND - 1, None, BLOCKS_PER_ROUND)
    end = (_first((settled | equal)[looks]) + 1) * BLOCKS_PER_ROUND
    if end > differences.size:
        return Ended(differences.size, 0)
    mean = np.add.accumulate(differences)[end - 1]
    return Ended(end, int(np.sign(mean)) if settled[end - 1] else 0)


def by_gsprt(differences: Floats, zone: float) -> Ended:
    """As fastchess decides: a sequential probability ratio test of a mean of ``zone`` against 0, on
    the normal approximation with the variance so far, both errors 5 %. One for each bot, because
    either may be better; the duel ends when one accepts its ``zone``, or both their 0."""
    blocks = np.arange(1, differences.size + 1)
    mean = np.add.accumulate(differences) / blocks
    spread = np.add.accumulate(differences**2) / blocks - mean**2
    scale = blocks / np.maximum(spread, 1e-12)
    looks = np.arange(BLOCKS_PER_ROUND - 1, differences.size, BLOCKS_PER_ROUND)
    bound = log(0.95 / 0.05)
    accepted = []
    for side in (1, -1):
        ratio = (zone * (2 * side * mean - zone) / 2 * scale)[looks]
        accepted.append((_first(ratio >= bound), _first(ratio <= -bound)))
    ends = []
    for side, (better, equal) in zip((1, -1), accepted, strict=True):
        if better < equal:
            ends.append((better, side))
    ends.append((max(equal for _, equal in accepted), 0))
    look, named = min(ends)
    return Ended(min((look + 1) * BLOCKS_PER_ROUND, differences.size), named)


def _first(found: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> int:
    return int(found.argmax()) if found.any() else MOST


def normal_blocks(effect: float, limit: float) -> Blocks:
    """Normal differences with a standard deviation of 1, never beyond the reach."""
    return lambda random: np.clip(random.normal(effect, 1.0, MOST), -limit, limit)


def rare_loss(every: int) -> Blocks:
    """Mean 0: a point in all blocks but one of ``every``, which loses ``every`` - 1 points."""
    return lambda random: np.where(random.random(MOST) < 1 / every, 1.0 - every, 1.0)


def mean_blocks(
    blocks: Blocks, rule: Callable[[Floats], Ended], duels: int = DUELS
) -> tuple[float, float, float]:
    """The mean number of blocks, and in 100 duels the first bot and the second were named."""
    random = np.random.default_rng(1)
    ended = [rule(blocks(random)) for _ in range(duels)]
    named = [100 * sum(end.named == side for end in ended) / duels for side in (1, -1)]
    return float(np.mean([end.blocks for end in ended])), named[0], named[1]


def sections() -> list[Section]:
    """Lengths, and wrong bots under skew."""
    return [_lengths(), _skewed()]


def _lengths() -> Section:
    figures = []
    for game, reach in REACHES.items():
        for effect in (0.0, 0.1, 0.2, 0.5):
            for within in (WITHIN, None) if effect else (WITHIN,):
                made = normal_blocks(effect, reach.most * 3 if reach.tail else reach.most)
                ours, *named = mean_blocks(made, partial(by_bets, reach=reach, within=within))
                peer, *theirs = mean_blocks(made, partial(by_gsprt, zone=WITHIN))
                zone = f"--within {WITHIN:g}" if within else "no --within"
                what = f"{game}, effect {effect:g}, {zone}: better named in {named[0]:.0f},"
                what += f" by the peer in {theirs[0]:.0f} of 100"
                figures.append(Figure(what, ours, "GSPRT", peer, "blocks", peer / ours))
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
        made = rare_loss(every)
        _, *ours = mean_blocks(made, partial(by_bets, reach=Reach(float(every))))
        _, *peer = mean_blocks(made, partial(by_gsprt, zone=WITHIN * (every - 1) ** 0.5))
        what = f"one of {every} blocks loses {every - 1} points"
        ratio = 6.0 / max(sum(ours), 100 / DUELS)
        figures.append(Figure(what, sum(ours), "GSPRT", sum(peer), "in 100", ratio, 1.0))
    how = (
        "Two bots with equal means: the first wins a point in most blocks and loses much in few. In"
        f" how many of {DUELS} duels of up to {MOST:,} blocks a bot is named, where the reach is"
        " known; where it is not, the duel says that it is unproved. The ratio is the promise of 6"
        " to ours (or to one duel where none was wrong). The standard error of 5 is 1.5."
    )
    return Section("Duels under skew", how, figures)
