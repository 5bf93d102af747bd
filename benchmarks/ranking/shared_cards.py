"""What sharing the cards among the seatings of a block saves, by game: `[format] cards`.

Two sensible bots and a random one play whole blocks in this process. The figure is the variance of
a block's score of the first bot with fresh cards over that with shared ones, which is how many
times as many blocks fresh cards need for the same interval.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Iterator
from dataclasses import replace

import games
from benchmarks.figures import Figure, Section
from bots import sensible
from tournament.config import Bot, Cup, Format
from tournament.formats import Block, make_schedule
from tournament.formats.round_scores import RoundScores
from tournament.match.referee import LocalReferee
from tournament.records import MatchSummary

BLOCKS = 200


class NoRun:
    """Nothing was played before."""

    def facts(self) -> dict[str, object]:
        """None."""
        return {}

    def summaries(self, round: int | None = None) -> Iterator[MatchSummary]:
        """None."""
        return iter(())


def blocks(cup: Cup) -> Iterator[Block]:
    """The blocks of the only table."""
    for round in make_schedule(cup, "bench", "bench").rounds(RoundScores(NoRun())):
        yield from round.blocks


def score(cup: Cup, block: Block) -> float:
    """The mean score of the first bot in a block."""
    scores = []
    for seed, seating in zip(block.seeds, block.seatings, strict=True):
        dice = random.Random(seed)
        board = LocalReferee().start(cup.game, cup.players, seed, cup.options)
        while (turn := board.turn) is not None:
            moves, clever = board.moves(), seating[turn] != "random"
            move = sensible.move(board.view(), moves) if clever else dice.choice(moves)
            _, board = board.play(move)
        scores.append(board.scores[seating.index("first")])
    return statistics.mean(scores)


def sections() -> list[Section]:
    """The variance of a block, with fresh cards and with shared ones."""
    figures = []
    for name, game in games.GAMES.items():
        options = {option.name: option.default for option in game.options}
        if "deals" in options:
            options["deals"] = 1
        names = ("first", *(f"sensible {n}" for n in range(game.min_players - 2)), "random")
        cup = Cup(
            name="bench",
            game=name,
            players=game.min_players,
            bots=tuple(Bot(bot, command="x") for bot in names),
            options=options,
            format=Format(deals=BLOCKS),
        )
        found = {
            cards: statistics.variance(score(each, block) for block in blocks(each))
            for cards in ("shared", "fresh")
            for each in [replace(cup, format=replace(cup.format, cards=cards))]
        }
        figures.append(
            Figure(
                game.title,
                found["shared"],
                "fresh cards",
                found["fresh"],
                "variance of a block",
                found["fresh"] / found["shared"],
            )
        )
    how = f"{BLOCKS} blocks of one table in all rotations, with sensible bots and a random one."
    return [Section("What shared cards save", how, figures, "At 1 they save nothing.")]
