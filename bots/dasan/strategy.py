"""Sense in Dasan: as in Dou Dizhu, without bombs, and with a partner nobody knows at first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from bots.cards import VALUE, cards_of, count_ranks, rank_of, unseen
from bots.thinking import shedding
from bots.thinking.hand_plan import DASAN, Combo, Counts, worth

View = Mapping[str, Any]
_VALUE = VALUE["dasan"]

BID_LEVELS = (0.0, 0.47, 0.53)
"""The chances of winning as declarer from which a hand bids 1 (to raise nobody), 2 and 3."""

CHANCE: Mapping[int, tuple[float, float, tuple[float, ...]]] = {
    3: (0.46, 0.0079, (0.138, 0.076, 0.031, 0.016)),
    4: (0.73, 0.0082, (0.112, 0.053, 0.0, 0.0)),
}
"""By number of players: a linear fit of the declarer's wins over self-played deals. Constant;
weights of the hand's worth and of each 3, 2, ace and king."""


def move(view: View, moves: Sequence[str]) -> str:
    """The sensible move."""
    if view["phase"] == "auction":
        return bid(view, moves)
    if view["phase"] == "call":
        return call(view, moves)
    return rank_moves(view, moves)[0][1]


def bid(view: View, moves: Sequence[str]) -> str:
    """What the hand is worth, if that is more than is bid already; else a pass, or 1 if forced."""
    counts = tuple(count_ranks("dasan", view["hand"]))
    expected = chance(view["players"], counts)
    wanted = f"bid:{sum(expected >= level for level in BID_LEVELS)}"
    return wanted if wanted in moves else moves[0]


def chance(players: int, counts: Counts) -> float:
    """About how likely a declarer with this hand, before the talon, is to win."""
    constant, worth_weight, tops = CHANCE[players]
    chance = constant + worth_weight * worth(DASAN, counts)
    return chance + sum(
        weight * count for weight, count in zip(tops, reversed(counts), strict=False)
    )


def call(view: View, moves: Sequence[str]) -> str:
    """A card of the rank of which most are held: its holder has few to go with it, plays it
    soon and is known; of those the lowest."""
    held = count_ranks("dasan", view["hand"])
    return max(moves, key=lambda text: held[_VALUE[rank_of(cards_of(text)[0])]])


def rank_moves(view: View, moves: Sequence[str]) -> list[tuple[float, str]]:
    """The moves of the play with their scores, best first."""
    scene = scene_of(view)
    plays = [shedding.Play(text, read(text)) for text in moves if text != "pass"]
    ranked = shedding.ranking(scene, plays, may_pass="pass" in moves)
    return [(score, play.move if play else "pass") for score, play in ranked]


def foes_of(view: View) -> frozenset[int]:
    """The seats to play against. Who may still be the secret partner counts as one of them
    for the defenders; for the declarer everybody does until the called card is out."""
    seat = view["seat"]
    others = set(range(view["players"])) - {seat}
    declarer, partner = view["declarer"], view["partner"]
    if seat == declarer:
        return frozenset(others - {partner})
    if seat == partner:
        return frozenset(others - {declarer})
    if partner is not None or view["called"] is None:
        return frozenset({declarer, partner} & others)
    return frozenset({declarer})


def scene_of(view: View) -> shedding.Scene:
    """The view as the strategy sees it."""
    table = view["table"]
    return shedding.Scene(
        shape=DASAN,
        seat=view["seat"],
        players=view["players"],
        counts=tuple(count_ranks("dasan", view["hand"])),
        pool=tuple(count_ranks("dasan", unseen(view))),
        held=view["counts"],
        foes=foes_of(view),
        table=table and read(table["move"]),
        owner=table and table["seat"],
    )


def read(text: str) -> Combo:
    """A legal play as a combination."""
    ranks = tuple(sorted(_VALUE[rank_of(card)] for card in cards_of(text)))
    multiple = Counter(ranks)[ranks[0]]
    length = len(ranks) // multiple
    kinds = DASAN.multiples if length == 1 else DASAN.runs
    return Combo(kinds[multiple - 1], ranks[-1], length, ranks)
