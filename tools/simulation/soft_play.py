"""How often `stich integrity` flags two bots in cups of real bots.

Four bots play at all tables of three: `sensible` and `greedy` twice each. In some cups two of them
spare each other: where a pass is legal they do not beat each other's plays.
"""

import random
from collections.abc import Iterator
from itertools import combinations

import games
from games.move import PASS
from tools.strength import Decide, bot, request
from tournament.records import MatchRecord
from tournament.results.integrity import integrity

BOTS = {"ann": "sensible", "bob": "greedy", "cat": "sensible", "dan": "greedy"}

FRIENDS = {"ann", "cat"}

GAMES: dict[str, dict[str, int]] = {"dasan": {}, "doudizhu": {}, "zhengfen": {"deals": 1}}

BLOCKS = 10
"""Blocks at each table."""

CUPS = 30


def play(game: str, spared: float, seed: int) -> Iterator[MatchRecord]:
    """The matches of a cup in which the friends let each other's plays pass in a share of cases."""
    dice = random.Random(seed)
    decide = {name: bot(kind) for name, kind in BOTS.items()}
    tables = [(deal, table) for deal in range(BLOCKS) for table in combinations(BOTS, 3)]
    for block, (deal, table) in enumerate(tables):
        for turn in range(3):
            seating = table[turn:] + table[:turn]
            name = f"soft play {seed} {deal} {table}"
            yield _match(game, name, block, turn, seating, decide, spared, dice)


def _match(
    game: str,
    seed: str,
    block: int,
    number: int,
    seating: tuple[str, ...],
    decide: dict[str, Decide],
    spared: float,
    dice: random.Random,
) -> MatchRecord:
    state = games.get(game).start(3, seed, GAMES[game])
    moves: list[str] = []
    while state.turn is not None:
        seat, to_beat, legal = state.turn, state.to_beat, state.moves().texts()
        friend = to_beat is not None and {seating[seat], seating[to_beat[0]]} == FRIENDS
        if friend and PASS in legal and dice.random() < spared:
            moves.append(PASS)
        else:
            moves.append(decide[seating[seat]](request(state, seed, len(moves) + 1)))
        state = state.advance(moves[-1])
    nobody: tuple[tuple[float, ...], ...] = ((), (), ())
    return MatchRecord(
        match=f"{block}-{number}",
        block=block,
        key=str(block),
        round=1,
        stage="",
        number=number,
        seatings=3,
        table=tuple(sorted(seating)),
        seating=seating,
        game=game,
        players=3,
        seed=seed,
        options=GAMES[game],
        moves=tuple(moves),
        scores=state.scores,
        adjusted=state.scores,
        deals=len(state.results),
        results=state.results,
        struck=(),
        faults=(),
        times=nobody,
        outputs=("", "", ""),
        started="",
        wall_ms=0.0,
        own_ms=0.0,
    )


def flagged(game: str, spared: float, cups: int = CUPS) -> list[list[set[str]]]:
    """The pairs of bots that were flagged, a list for each cup."""
    runs = (integrity(play(game, spared, seed)) for seed in range(cups))
    return [[set(flag.bots) for flag in run.flags] for run in runs]
