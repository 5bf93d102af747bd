"""How long a list of moves and a check take by the size of the hand."""

from __future__ import annotations

import json
import random
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import games
from benchmarks.figures import Figure, Section

SIZES = (4, 8, 12, 16, 20)
HANDS = 60


def microseconds(work: Callable[[], object], least: float = 0.002) -> float:
    """The time of one call, in microseconds."""
    calls = 0
    start = time.process_time()
    while (spent := time.process_time() - start) < least:
        work()
        calls += 1
    return spent / calls * 1e6


def leads(name: str, size: int) -> list[games.State]:
    """Positions in which a random hand of this size leads."""
    game = games.get(name)
    random_ = random.Random(size)
    state = game.start(3, "lists", {})
    while state.phase != "play":
        state = state.advance(state.moves()[-1])
    wire = state.to_dict()
    found = []
    for _ in range(HANDS):
        deck = random_.sample(game.deck(3).cards, len(game.deck(3).cards))
        hands = [deck[:size], deck[-2:-1], deck[-1:]]
        hands = hands[-wire["turn"] :] + hands[: -wire["turn"]] if wire["turn"] else hands
        extra: dict[str, Any] = {"talon": [], "exposed": None} if name == "doudizhu" else {}
        if name == "dasan":
            extra = {"talon": []}
        found.append(game.state({**wire, **extra, "hands": hands, "history": []}))
    return found


def whole_list(state: games.State) -> list[str]:
    """All legal moves as strings."""
    return state.moves().texts()


def sections() -> list[Section]:
    """For each climbing game: the list as strings, compared with json.dumps, and one check."""
    figures = []
    for name in ("doudizhu", "dasan", "zhengfen"):
        for size in SIZES:
            if name == "zhengfen" and size > 18:
                continue
            rows = []
            for state in leads(name, size):
                listed = state.moves()
                texts = listed.texts()
                move = texts[len(texts) // 2]
                rows.append(
                    (
                        len(texts),
                        microseconds(partial(whole_list, state)),
                        microseconds(partial(state.check, move)),
                        microseconds(partial(json.dumps, texts)),
                    )
                )
            count, whole, check, dumped = (
                statistics.median(column) for column in zip(*rows, strict=True)
            )
            figures.append(
                Figure(
                    f"{name}, {size} cards ({count:.0f} moves; one check {check:.1f} µs)",
                    whole,
                    "json.dumps of the list",
                    dumped,
                    "µs",
                    whole / dumped,
                )
            )
    return [
        Section(
            "Lists and checks by hand size",
            "Time to list all legal leads as strings, compared with the time to write that list as"
            f" JSON: pure Python, medians over {HANDS} random hands. A check validates one move"
            " without listing any. The ratio is our time to the peer's, to show how it grows.",
            figures,
        )
    ]
