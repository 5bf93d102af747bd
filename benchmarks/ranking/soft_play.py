"""How often `stich integrity` flags two bots in cups of real bots.

`python -m benchmarks ranking.soft_play` prints the section of docs/benchmarks.md.
"""

from benchmarks.figures import Figure, Section
from tools.simulation.soft_play import BLOCKS, CUPS, FRIENDS, GAMES, flagged


def sections() -> list[Section]:
    """Power and false flags, by game."""
    figures = []
    for game in GAMES:
        honest = 100 * sum(map(bool, flagged(game, 0.0))) / CUPS
        for what, spared in (("never beat each other", 1.0), ("spare half", 0.5)):
            flags = flagged(game, spared)
            others = sum(any(pair != FRIENDS for pair in pairs) for pairs in flags)
            share = sum(FRIENDS in pairs for pairs in flags) / CUPS
            name = f"{game}: two that {what} ({CUPS} cups; others flagged in {others})"
            figures.append(
                Figure(name, 100 * share, "honest cups", honest, "flagged in 100", share)
            )
    how = (
        "`stich integrity` on cups of two `sensible` and two `greedy` at all tables of three,"
        f" {BLOCKS} blocks a table. The two `sensible` bots spare each other: always, or in half of"
        " the cases. The peer is the same cup in which nobody spares anybody: any flag is false."
        " The ratio is the share of the cups that are found."
    )
    return [Section("Soft play", how, figures)]
