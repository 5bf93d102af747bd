"""Generate the examples in `docs/views.md` and `docs/bots.md`: `python -m tests.make_views`.

Each example is between `<!-- example NAME -->` and `<!-- end -->`: the first position of the random
games that shows what it is for, as one seat sees it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import games
from games import State
from games.shuffle import Randomness

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "docs" / "views.md", ROOT / "docs" / "bots.md")
BLOCK = re.compile(r"(<!-- example ([a-z0-9-]+) -->\n)(.*?)(<!-- end -->)", re.DOTALL)
WIDTH = 96

Wire = Mapping[str, Any]


@dataclass(frozen=True)
class Example:
    """What an example is: the game, the first position to show, and the seat (None: to move)."""

    game: str
    players: int
    options: Wire
    shows: Callable[[State, Wire], bool]
    seat: int | None = None
    form: Callable[[State, Wire], Wire] = lambda _, view: view


def positions(example: Example) -> Iterator[State]:
    """Positions of random games; every run yields the same ones."""
    game = games.get(example.game)
    for number in range(1000):
        seed = f"example-{number}"
        randomness = Randomness(seed, 1)
        state = game.start(example.players, seed, example.options)
        while state.turn is not None:
            yield state
            moves = state.moves()
            state = state.advance(moves[randomness.below(len(moves))])


def find(example: Example) -> Wire:
    """The first position that shows the example."""
    for state in positions(example):
        if state.turn is None:
            continue
        view = state.view(state.turn if example.seat is None else example.seat).to_dict()
        if example.shows(state, view):
            return example.form(state, view)
    raise LookupError("No position shows it.")


def request(state: State, view: Wire) -> Wire:
    """The request for a move in this position."""
    moves = state.moves().texts()
    clock = {"move_ms": 1000, "bank_ms": 9214}
    return {
        "protocol": 1, "match": "7d0c2f", "turn": 6, "view": view, "moves": moves, "clock": clock
    }  # fmt: skip


def in_play(view: Wire, moves: int) -> bool:
    """Whether there is a play to beat, after this number of moves."""
    return view["phase"] == "play" and view["table"] is not None and len(view["history"]) == moves


EXAMPLES = {
    "request": Example(
        "doudizhu",
        3,
        {},
        lambda state, view: in_play(view, 12) and 3 <= len(state.moves()) <= 8,
        form=request,
    ),
    "doudizhu": Example(
        "doudizhu",
        3,
        {"deals": 2},
        lambda _, view: (
            in_play(view, 14) and view["declarer"] != view["seat"] and view["deal"] == 2
        ),
    ),
    "dasan": Example(
        "dasan",
        4,
        {"deals": 2},
        lambda _, view: in_play(view, 16) and view["partner"] == view["seat"] and view["deal"] == 2,
    ),
    "zhengfen": Example(
        "zhengfen",
        3,
        {"deals": 1},
        lambda _, view: (
            view["table"] is not None
            and view["table"]["category"] not in ("single", "pair")
            and "j" in view["table"]["move"]
            and len(view["history"]) > 9
            and any(view["taken"])
        ),
    ),
    "ninefivetwo": Example(
        "ninefivetwo",
        3,
        {},
        lambda _, view: (
            view["phase"] == "play"
            and view["seat"] != view["dealer"]
            and len(view["trick"]) == 1
            and len(view["exchanged"]) == 2
            and len(view["history"]) < 18
            and "??" in str(view["exchanged"])
            and any("??" not in str(pairing) for pairing in view["exchanged"])
        ),
    ),
    "ninefivetwo-exchange": Example(
        "ninefivetwo",
        3,
        {},
        lambda _, view: (
            view["phase"] == "exchange"
            and view["deal"] == 2
            and len(view["owed"]) == 1
            and view["owed"][0]["given"] == ["??"]
            and len(view["exchanged"]) == 1
        ),
        seat=1,
    ),
}


def to_text(value: object, indent: int = 0) -> str:
    """Readable JSON: a value that fits on one line is on one line."""
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + indent <= WIDTH or not isinstance(value, dict | list) or not value:
        return flat
    pad = " " * (indent + 1)
    if isinstance(value, dict):
        lines = [
            f"{pad}{json.dumps(key)}: {to_text(item, indent + len(key) + 5)}"
            for key, item in value.items()
        ]
        return "{" + ",\n".join(lines)[indent + 1 :] + "}"
    return "[" + _filled([json.dumps(item) for item in value], indent + 1) + "]"


def _filled(items: list[str], indent: int) -> str:
    """The items of a list, as many on each line as fit."""
    lines = [""]
    for item in items:
        if lines[-1] and len(lines[-1]) + len(item) + indent + 2 > WIDTH:
            lines[-1] += ","
            lines.append(item)
        else:
            lines[-1] += f", {item}" if lines[-1] else item
    return ("\n" + " " * indent).join(lines)


def regenerate(text: str) -> str:
    """A page with its examples generated again."""

    def block(match: re.Match[str]) -> str:
        body = to_text(find(EXAMPLES[match[2]]))
        return f"{match[1]}```json\n{body}\n```\n{match[4]}"

    return BLOCK.sub(block, text)


def main() -> None:
    """Write the pages."""
    for page in PAGES:
        page.write_text(regenerate(page.read_text()))


if __name__ == "__main__":
    main()
