"""Zheng Fen's lists of moves for 18 cards with both jokers (typical and longest), and one check.

The limits are 2 ms for a typical list, 150 ms for the longest and 50 µs for a check. They are
compared with json.dumps of the same answer and, on a smaller hand, with the brute force of the
tests, which tries every substitution for the jokers.
"""

import json
import random
import statistics
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import games
from benchmarks.figures import Figure, Section
from tools import brute_force as brute

HANDS = 200
CHECKS = 300
LONGEST = [rank + suit for rank in "3456" for suit in "cdhs"] + ["Bj", "Rj"]
"""Four consecutive quads and both jokers: a search found no hand of 18 cards with more plays."""


def microseconds(work: Callable[[], object], least: float = 0.002) -> float:
    """The mean processor time of a call in microseconds, over calls for `least` seconds."""
    calls = 0
    start = time.process_time()
    while (spent := time.process_time() - start) < least:
        work()
        calls += 1
    return spent / calls * 1e6


def whole_list(state: games.State) -> list[str]:
    """All legal moves as strings."""
    return state.moves().texts()


def lead(hand: list[str]) -> games.State:
    """A position in which seat 0 leads from this hand."""
    game = games.get("zhengfen")
    wire = game.start(3, "lists", {}).to_dict()
    spare = [card for card in brute.DECK if card not in hand]
    hands = [hand, spare[:1], spare[1:2]]
    return game.state({**wire, "hands": hands, "turn": 0, "first": 0})


def jokers_and(number: int, rng: random.Random) -> list[str]:
    """Both jokers and some natural cards."""
    return [*rng.sample(brute.CARDS, number), "Bj", "Rj"]


def listing_figures(rng: random.Random) -> list[Figure]:
    """The typical and the longest list, compared with their limits and json.dumps."""
    whole, dumped, counts = [], [], []
    for _ in range(HANDS):
        state = lead(jokers_and(16, rng))
        texts = state.moves().texts()
        counts.append(len(texts))
        whole.append(microseconds(partial(whole_list, state)))
        dumped.append(microseconds(partial(json.dumps, {"seat": 0, "moves": texts})))
    typical, typical_dump = statistics.median(whole), statistics.median(dumped)
    longest_lead = lead(LONGEST)
    texts = longest_lead.moves().texts()
    longest = microseconds(partial(whole_list, longest_lead), 0.5)
    answer = {"seat": 0, "moves": texts}
    longest_dump = microseconds(partial(json.dumps, answer), 0.2)
    size = len(json.dumps(answer)) / 1024
    name = f"median list of 18 cards with both jokers ({statistics.median(counts):.0f} plays)"
    most = f"the longest list ({len(texts)} plays, {size:.0f} KiB of JSON)"
    dumps = "json.dumps of it"
    return [
        Figure.less(name, typical, "limit", 2000, "µs", 1),
        Figure.less(name, typical, dumps, typical_dump, "µs"),
        Figure.less(most, longest / 1000, "limit", 150, "ms", 1),
        Figure.less(most, longest / 1000, dumps, longest_dump / 1000, "ms"),
    ]


def check(state: games.State, move: str) -> None:
    """Check a move that need not be legal."""
    with suppress(games.IllegalMove):
        state.check(move)


def check_figures(rng: random.Random) -> list[Figure]:
    """A check of a listed play and of random cards, compared with the limit."""
    state = lead(LONGEST)
    legal = rng.sample(state.moves().texts(), CHECKS)
    deck = games.get("zhengfen").deck(3)
    other = ["play:" + "".join(deck.in_order(rng.sample(LONGEST, 9))) for _ in range(CHECKS)]
    figures = []
    for name, moves in (("one check of a listed play", legal), ("one check of any cards", other)):
        times = sorted(microseconds(partial(check, state, move), 0.0005) for move in moves)
        for words, took in (("median", times[CHECKS // 2]), ("p99", times[CHECKS * 99 // 100])):
            figures.append(Figure.less(f"{name}, {words}", took, "limit", 50, "µs", 1))
    return figures


def brute_figure(rng: random.Random) -> Figure:
    """The list of ten cards with both jokers, compared with trying every substitution."""
    hand = jokers_and(8, rng)
    state = lead(hand)
    expected = [play[0] for play in brute.listed(brute.all_plays(hand), None)]
    if state.moves().texts() != expected:
        raise RuntimeError("The list differs from the brute force.")
    ours = microseconds(partial(whole_list, state), 0.1)
    theirs = microseconds(partial(brute.all_plays, hand), 0.1)
    name = f"list of 10 cards with both jokers ({len(expected)} plays)"
    return Figure.less(name, ours, "every subset, every substitution", theirs, "µs")


def sections() -> list[Section]:
    """Lists and checks of Zheng Fen."""
    rng = random.Random("zhengfen")
    return [
        Section(
            "Zheng Fen's lists",
            f"Leads from {HANDS} random hands, pure Python. The longest list is that of a hand with"
            " four consecutive quads and both jokers. A check is a call of `check` with a string,"
            f" {CHECKS} of each kind.",
            [*listing_figures(rng), *check_figures(rng), brute_figure(rng)],
        )
    ]
