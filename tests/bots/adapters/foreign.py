"""Whole games with an adapter at one seat, and programs that are written to fail."""

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

OPTIONS = {"single_round": True, "reveal_talon": True, "spring": True}
PATIENT = {"move_ms": 60_000, "bank_ms": 0}
CLOCKS = dict.fromkeys(("unreadable", "illegal", "ended"), PATIENT)
CLOCKS["late"] = {"move_ms": 300, "bank_ms": 0}

# What each program writes or does when it has read a line, and the kind of failure that this is.
FAILURES = {
    "nonsense": ("print('what?', flush=True)", "unreadable"),
    "another shape": ('print(\'{"response": {"play": 3}}\', flush=True)', "unreadable"),
    "nested": ("print('[' * 60_000, flush=True)", "unreadable"),
    "endless": ("while True: sys.stdout.write('x' * 9999)", "unreadable"),
    "nothing": ("sys.stdin.read(); time.sleep(600)", "late"),
    "no newline": ("sys.stdout.write('{'); sys.stdout.flush(); time.sleep(600)", "late"),
    "dies": ("sys.exit(3)", "ended"),
    "closes stdout": ("os.close(1); time.sleep(600)", "ended"),
}


def command(folder: Path, source: str) -> list[str]:
    """Write a Python program; the command that runs it in the folder."""
    (folder / "program.py").write_text(source)
    return [sys.executable, "program.py"]


def failing(failure: str) -> str:
    """A program that fails in this way at each line."""
    return f"import os, sys, time\nfor line in sys.stdin:\n    {FAILURES[failure][0]}\n"


def first_answers(adapter: Adapter, clock: Mapping[str, int] = PATIENT) -> list[dict[str, Any]]:
    """Ask twice for the first bid of a game; the info of each answer, with its `move` and `why` it
    is a fallback.

    The move is legal, and that of `sensible` where it is a fallback.
    """
    state = games.get("doudizhu").start(3, "first", OPTIONS)
    assert state.turn is not None
    view, moves = state.view(state.turn).to_dict(), state.moves().texts()
    answers = []
    for _ in range(2):
        move, info, why = adapter.move(view, moves, request(view, moves, clock))
        assert move in moves if why is None else move == sensible.move(view, moves)
        answers.append({"move": move, "why": why, **info})
    adapter.end({"match": "m", "seat": state.turn, "scores": [0, 0, 0]})
    return answers


def request(
    view: Mapping[str, Any], moves: list[str], clock: Mapping[str, int] = PATIENT, match: str = "m"
) -> dict[str, Any]:
    """The body of POST /move."""
    return {"match": match, "view": view, "moves": moves, "clock": clock}


def documented() -> Deal:
    """The deal of the request in docs/bots.md: the landlord, seat 2, has played twice."""
    page = (Path(__file__).parents[3] / "docs" / "bots.md").read_text()
    (found,) = re.findall(r"<!-- example request -->\n```json\n(.*?)```", page, re.DOTALL)
    example = json.loads(found)
    return Deal.of(example["view"], example["moves"])


def play(
    adapter: Adapter, seed: str, seat: int, options: Mapping[str, object] = OPTIONS
) -> tuple[games.State, Counter[str]]:
    """Play a game against `sensible` and ask nobody where one move is legal.

    Returns the end and the sums of the numbers in the adapter's info, with the moves as `asked` and
    those by `sensible` as `fallback`.
    """
    state = games.get("doudizhu").start(3, seed, options)
    sums: Counter[str] = Counter()
    while state.turn is not None:
        moves, view = state.moves().texts(), state.view(state.turn).to_dict()
        if len(moves) == 1:
            move = moves[0]
        elif state.turn == seat:
            body = request(view, moves, match=f"{seed} {seat}")
            move, info, why = adapter.move(view, moves, body)
            assert state.is_legal(move)
            sums["asked"] += 1
            sums["fallback"] += why is not None
            sums.update({key: int(n) for key, n in info.items() if key != "comment"})
        else:
            move = sensible.move(view, moves)
        state = state.advance(move)
    adapter.end({"match": f"{seed} {seat}", "seat": seat, "scores": state.scores})
    return state, sums
