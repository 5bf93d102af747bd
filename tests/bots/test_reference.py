"""The reference bots in whole games: always legal, and always the same decisions.

`decisions.json` holds a digest of the moves of one game for each line-up and table. A change of
strategy changes it, and makes docs/reference-bots.md out of date: measure the ladder again, then
run `python -m tests.bots.test_reference` to write the digests.
"""

import hashlib
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

import games
from bots import greedy, search, sensible
from bots import random as random_bot
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


def main() -> None:
    """Write the digests."""
    played = [(line_up, *table) for line_up in LINE_UPS for table in TABLES]
    digests = {" ".join(map(str, words)): digest(*words) for words in played}
    DECISIONS.write_text(json.dumps(digests, indent=1) + "\n")


if __name__ == "__main__":
    main()
