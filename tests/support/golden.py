"""Golden games: complete games recorded move by move, and functions to replay them.

A file in `tests/vectors` holds `start` (what the game was started with), `first` (its first state),
`steps` (each with `turn`, the `count` of legal moves and the `move`; some also with all `moves`,
the `state` and all `views`) and `final` (its last state). `positions.json` holds set-up positions.
Files that begin with `own-` are written by `make_golden.py`; the others came from elsewhere.
"""

import json
from pathlib import Path
from typing import Any

import games
from games import IllegalMove, Position

VECTORS = Path(__file__).parents[1] / "vectors"


def files() -> list[str]:
    """The names of all golden games."""
    return sorted(path.stem for path in VECTORS.glob("*.json") if path.stem != "positions")


def load(name: str) -> Any:
    return json.loads((VECTORS / f"{name}.json").read_text())


def replay(golden: Any) -> None:
    """Replay a golden game; raises AssertionError if anything differs."""
    start = golden["start"]
    game = games.get(start["game"])
    state = game.start(start["players"], start["seed"], start["options"])
    assert state.to_dict() == golden["first"]
    for number, step in enumerate(golden["steps"]):
        assert state.turn == step["turn"], number
        moves = state.moves()
        assert len(moves) == step["count"], number
        if "moves" in step:
            assert moves.texts() == step["moves"], number
        if "state" in step:
            assert state.to_dict() == step["state"], number
            assert game.state(step["state"]).to_dict() == step["state"], number
            for seat, view in enumerate(step["views"]):
                assert state.view(seat).to_dict() == view, (number, seat)
                seen = game.view(view)
                assert seen.to_dict() == view, (number, seat)
                assert seen.moves().texts() == (moves.texts() if seat == step["turn"] else [])
        state = state.advance(step["move"])
    assert state.to_dict() == golden["final"]
    assert game.state(golden["final"]).to_dict() == golden["final"]


def verdict(position: Position, move: str) -> dict[str, Any]:
    """What /v1/validate answers for a move, without the sentence."""
    try:
        found = position.check(move)
    except IllegalMove as error:
        return {"legal": False, "reason": error.reason.value}
    wire = {"legal": True, "move": found.text, "category": found.category}
    wire |= {"rank": found.rank, "length": found.length}
    return {key: value for key, value in wire.items() if value is not None}
