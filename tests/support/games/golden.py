"""Golden games: complete games recorded move by move.

A file in `tests/vectors` holds `start` (what the game was started with), `first` (its first state),
`steps` (each with `turn`, the `count` of legal moves and the `move`; some also with all `moves`,
the `state` and all `views`) and `final` (its last state). `positions.json` holds set-up positions.
Files that begin with `own-` are written by `make_golden.py`; the others came from elsewhere.
"""

import json
from pathlib import Path
from typing import Any

VECTORS = Path(__file__).parents[2] / "vectors"


def files() -> list[str]:
    return sorted(path.stem for path in VECTORS.glob("*.json") if path.stem != "positions")


def load(name: str) -> Any:
    return json.loads((VECTORS / f"{name}.json").read_text())
