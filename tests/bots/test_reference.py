"""The reference bots in whole games: always legal, and always the same decisions.

`decisions.json` holds a digest of the moves of one game for each line-up and table. A change of
strategy changes it, and makes docs/reference-bots.md out of date: measure the ladder again, then
run `python -m tests.bots.test_reference` to write the digests.
"""

import hashlib
import itertools
import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import games
from bots import greedy, search, sensible
from bots import random as random_bot
from bots.shedding import playout
from tests.support.games import golden
from tests.support.games.random_games import TABLES

BOTS: dict[str, Callable[[Any, Any], str]] = {"random": random_bot.move, "greedy": greedy.move}
BOTS |= {"sensible": sensible.move, "search": partial(search.search, iterations=2)}
LINE_UPS = {name: [name] for name in ("random", "greedy", "sensible")}
LINE_UPS["mixed"] = ["search", "random", "sensible", "greedy"]
"""The bots by seat, from seat 0 and around the table."""
POSITIONS = golden.load("positions")
DECISIONS = Path(__file__).parent / "decisions.json"


def digest(line_up: str, game: str, players: int) -> str:
    """The digest of the moves of one game; `advance` rejects illegal ones."""
    seats = [BOTS[name] for name in LINE_UPS[line_up]]
    deals = 3 if game == "ninefivetwo" else 2
    state = games.get(game).start(players, "decisions", {"deals": deals})
    made = []
    while state.turn is not None:
        # As it comes over the wire: no tuples, nothing shared.
        before = json.dumps(state.view(state.turn).to_dict())
        view = json.loads(before)
        made.append(seats[state.turn % len(seats)](view, state.moves().texts()))
        assert json.dumps(view) == before, "a bot must not change its request"
        state = state.advance(made[-1])
    return hashlib.sha256(" ".join(made).encode()).hexdigest()[:16]


@pytest.mark.parametrize(("game", "players"), TABLES)
@pytest.mark.parametrize("line_up", LINE_UPS)
def test_decisions_are_those_recorded(line_up: str, game: str, players: int) -> None:
    recorded = json.loads(DECISIONS.read_text())
    assert digest(line_up, game, players) == recorded[f"{line_up} {game} {players}"]


@pytest.mark.parametrize("name", BOTS)
@pytest.mark.parametrize("position", POSITIONS, ids=[position["why"] for position in POSITIONS])
def test_set_up_positions(name: str, position: dict[str, Any]) -> None:
    state = games.get(position["state"]["game"]).state(position["state"])
    if state.turn is not None:
        state.advance(BOTS[name](state.view(state.turn).to_dict(), state.moves().texts()))


LEAD = games.get("doudizhu").start(3, "lead", {}).advance("bid:3")
VIEW, MOVES = LEAD.view(LEAD.turn).to_dict(), LEAD.moves().texts()


def test_without_time_it_is_the_sensible_bot() -> None:
    assert search.move(VIEW, MOVES, {"move_ms": 0, "bank_ms": 0}) == sensible.move(VIEW, MOVES)


@pytest.mark.parametrize(
    ("move_ms", "tick", "iterations"),
    [
        (1000, 0.03125, 12),  # 0.4 s: a reading at the start, and before each determinization
        (600_000, 0.5, 3),  # a long clock is not used up: 2 s at the most
    ],
)
def test_time_is_kept_by_the_monotonic_clock(
    monkeypatch: pytest.MonkeyPatch, move_ms: int, tick: float, iterations: int
) -> None:
    """A clock that moves on at each reading decides, however long a determinization takes."""
    ticks = itertools.count(0, tick)
    monkeypatch.setattr(time, "monotonic", lambda: next(ticks))
    timed = search.move(VIEW, MOVES, {"move_ms": move_ms, "bank_ms": 0})
    assert next(ticks) == (iterations + 2) * tick
    assert timed == search.search(VIEW, MOVES, iterations=iterations)


@pytest.mark.parametrize(("open_higher", "bid"), [(False, "bid:1"), (True, "bid:3")])
def test_a_playout_opens_as_high_as_it_may(open_higher: bool, bid: str) -> None:
    state: Any = games.get("dasan").start(3, "0", {"open_higher": open_higher, "deals": 1})
    assert playout.finish(state).to_dict()["history"][0]["move"] == bid


def main() -> None:
    played = [(line_up, *table) for line_up in LINE_UPS for table in TABLES]
    digests = {" ".join(map(str, words)): digest(*words) for words in played}
    DECISIONS.write_text(json.dumps(digests, indent=1) + "\n")


if __name__ == "__main__":
    main()
