"""Whole games with an adapter at one seat, and what programs of other platforms are told."""

import json
import re
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import games
from bots import sensible
from bots.adapters.adapter import Adapter
from bots.adapters.deal import Deal
from tests.support.pages import ROOT

OPTIONS = {"single_round": True, "reveal_talon": True, "spring": True}

# What the worker uses of RLCard.
RLCARD = """
class Environment:
    class game:
        state = None
    def _extract_state(self, state):
        assert state is self.game.state and all(isinstance(step, tuple) for step in state["trace"])
        return {"raw_obs": state, "legal_actions": dict.fromkeys(range(len(state["actions"])))}
    def _decode_action(self, number):
        return self.game.state["actions"][number]

def make(name):
    assert name == "doudizhu"
    return Environment()
"""


def command(folder: Path, source: str) -> list[str]:
    """The command that runs a Python program, which is written to the folder."""
    (folder / "program.py").write_text(source)
    return [sys.executable, "program.py"]


def first_answers(adapter: Adapter, *before: str, late: bool = False) -> list[dict[str, Any]]:
    """Ask for a move twice. Return each answer's info, `move`, and `why` if it is by `sensible`."""
    state = games.get("doudizhu").start(3, "first", OPTIONS)
    for move in before:
        state = state.advance(move)
    view, moves = state.view(state.turn).to_dict(), state.moves().texts()
    clock = {"move_ms": 300 if late else 60_000, "bank_ms": 0}
    answers = []
    for _ in range(2):
        request = {"match": "m", "view": view, "moves": moves, "clock": clock}
        move, info, why = adapter.move(view, moves, request)
        assert move in moves if why is None else move == sensible.move(view, moves)
        answers.append({"move": move, "why": why, **info})
    adapter.end({"match": "m", "seat": state.turn, "scores": [0, 0, 0]})
    return answers


def assert_sensible_plays(adapter: Adapter, kind: str, *before: str) -> None:
    """Assert that `sensible` moves twice, since the program's answer fails in this way."""
    for info in first_answers(adapter, *before, late=kind == "late"):
        assert info["why"]
        assert info[kind] == 1
        assert str(info["comment"]).startswith("sensible plays: ")


def documented() -> Deal:
    """The deal of the request in docs/bots.md: the landlord, seat 2, has played twice."""
    page = (ROOT / "docs" / "bots.md").read_text()
    (text,) = re.findall(r"<!-- example request -->\n```json\n(.*?)```", page, re.DOTALL)
    example = json.loads(text)
    return Deal.of(example["view"], example["moves"])


def play(
    adapter: Adapter, seed: str, seat: int, options: Mapping[str, object] = OPTIONS
) -> tuple[games.State, Counter[str]]:
    """Play a game against `sensible`. A single legal move is played without asking.

    Returns the last state, and the sums of `asked`, `fallback` and the numbers in the infos.
    """
    state = games.get("doudizhu").start(3, seed, options)
    sums: Counter[str] = Counter()
    match, clock = f"{seed} {seat}", {"move_ms": 60_000, "bank_ms": 0}
    while state.turn is not None:
        moves, view = state.moves().texts(), state.view(state.turn).to_dict()
        move = moves[0] if len(moves) == 1 else sensible.move(view, moves)
        if len(moves) > 1 and state.turn == seat:
            request = {"match": match, "view": view, "moves": moves, "clock": clock}
            move, info, why = adapter.move(view, moves, request)
            state.check(move)
            sums["asked"] += 1
            sums["fallback"] += why is not None
            sums.update({key: int(n) for key, n in info.items() if key != "comment"})
        state = state.advance(move)
    adapter.end({"match": match, "seat": seat, "scores": state.scores})
    return state, sums
