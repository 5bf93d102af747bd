"""Record golden games, from the root of the project.

    python -m tests.support.make_golden own-dasan-4-open-higher
    python -m tests.support.make_golden own-dasan-3-new dasan 3 '{"deals": 2}'

The first command records a game again, with random moves for those that have become illegal. The
second records a new random game. Golden games fix behaviour: record them again only if the rules
were wrong, and review what changed.
"""

import json
import random
import sys
from typing import Any

import games
from tests.support.games.golden import VECTORS, load
from tests.support.games.playing import reason
from tests.support.games.random_games import some_move

LISTED = 50  # longer lists of moves are not recorded
EVERY = 25  # steps of a new game between two with the state and all views


def record(start: dict[str, Any], before: list[dict[str, Any]]) -> dict[str, Any]:
    """Play a game by the steps recorded before, and at random after them."""
    rng = random.Random(start["seed"])
    state = games.get(start["game"]).start(start["players"], start["seed"], start["options"])
    golden: dict[str, Any] = {"start": start, "first": state.to_dict(), "steps": []}
    while state.turn is not None:
        number = len(golden["steps"])
        old = before[number] if number < len(before) else {}
        moves = state.moves()
        move = old.get("move", "")
        if reason(state, move) != "legal":
            move = some_move(state, rng)
        step: dict[str, Any] = {"turn": state.turn, "count": len(moves), "move": move}
        if len(moves) <= LISTED:
            step["moves"] = moves.texts()
        if "state" in old if old else number % EVERY == 0:
            step["state"] = state.to_dict()
            step["views"] = [state.view(seat).to_dict() for seat in range(state.players)]
        golden["steps"].append(step)
        state = state.advance(move)
    return {**golden, "final": state.to_dict()}


def main(name: str, game: str = "", players: str = "", options: str = "{}") -> None:
    start = {"game": game, "players": int(players or 0), "seed": name}
    start["options"] = json.loads(options)
    old: Any = {"start": start, "steps": []} if game else load(name)
    golden = record(old["start"], old["steps"])
    text = json.dumps(golden, separators=(",", ":"), ensure_ascii=False)
    (VECTORS / f"{name}.json").write_text(text)
    print(f"{name}: {len(golden['steps'])} moves")


if __name__ == "__main__":
    main(*sys.argv[1:])
