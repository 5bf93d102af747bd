"""How often `stich integrity` flags two bots in cups of real bots.

Four bots, two each of `sensible` and `greedy`, play at all tables of three. In some cups two of
them go easy on each other: where a pass is legal, they do not beat each other's plays.
"""

import random
from collections.abc import Iterator, Sequence
from itertools import combinations

import games
from games.game import JsonDict
from games.move import PASS
from stich.houses import HOUSES
from tournament.bot.url_bot import InProcessBot
from tournament.config.cup import Clock
from tournament.match.match import Match, Referee, Rules
from tournament.records import MatchRecord, Pairing
from tournament.results.integrity import integrity

BOTS = {"ann": "sensible", "bob": "greedy", "cat": "sensible", "dan": "greedy"}
FRIENDS = {"ann", "cat"}
GAMES: dict[str, dict[str, int]] = {"dasan": {}, "doudizhu": {}, "zhengfen": {"deals": 1}}
BLOCKS = 10
"""Blocks at each table."""
CUPS = 30


def play(game: str, share: float, seed: int) -> Iterator[MatchRecord]:
    """Yield the matches of a cup in which two friends go easy on each other.

    When they may pass, they leave each other's plays unbeaten in this ``share`` of cases.
    """
    dice = random.Random(seed)
    rules = Rules(game, 3, GAMES[game], Clock())
    seating: tuple[str, ...] = ()

    def choose(view: JsonDict, moves: Sequence[str]) -> str:
        bot, table = seating[view["turn"]], games.get(game).view(view).table
        friend = table is not None and {bot, seating[table.seat]} == FRIENDS
        if friend and PASS in moves and dice.random() < share:
            return PASS
        return HOUSES[BOTS[bot]](view, moves)

    tables = [(deal, table) for deal in range(BLOCKS) for table in combinations(BOTS, 3)]
    for block, (deal, table) in enumerate(tables):
        dealt = f"soft play {seed} {deal} {table}"
        for turn in range(3):
            seating = table[turn:] + table[:turn]
            match = f"{block}-{turn}"
            pairing = Pairing(match, block, str(block), 1, "", turn, 3, table, seating, dealt)
            yield Match(rules, pairing, Referee(), [InProcessBot(choose)] * 3).play()


def flagged(game: str, share: float, cups: int = CUPS) -> list[list[set[str]]]:
    """The pairs of bots that were flagged, a list for each cup."""
    runs = (integrity(play(game, share, seed)) for seed in range(cups))
    return [[set(flag.bots) for flag in run.flags] for run in runs]
