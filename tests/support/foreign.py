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
    """The command of a Python program, which is written to the folder."""
    (folder / "program.py").write_text(source)
    return [sys.executable, "program.py"]


def failing(failure: str) -> str:
    """A program that fails in this way at each line."""
    return f"import os, sys, time\nfor line in sys.stdin:\n    {FAILURES[failure][0]}\n"


def first_answers(adapter: Adapter, clock: Mapping[str, int] = PATIENT) -> list[dict[str, Any]]:
    """Ask twice for the first bid of a game; the info of each answer, with `move` and `why`.

    The move is legal, and that of `sensible` if `why` is a reason for a fallback.
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
    page = (Path(__file__).parents[2] / "docs" / "bots.md").read_text()
    (text,) = re.findall(r"<!-- example request -->\n```json\n(.*?)```", page, re.DOTALL)
    example = json.loads(text)
    return Deal.of(example["view"], example["moves"])


def play(
    adapter: Adapter, seed: str, seat: int, options: Mapping[str, object] = OPTIONS
) -> tuple[games.State, Counter[str]]:
    """Play a game against `sensible`; a single legal move is played without asking.

    Returns the end and the sums of the numbers in the adapter's info, with the number of requests
    as `asked` and of fallbacks as `fallback`.
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


# Bids 3 if it is first, and plays the lowest single card that it may. It checks what it is told.
PROGRAM = """
import json, sys

def decide(requests, responses):
    first = next((r for r in requests if "publiccard" in r), None)
    if first is None:
        assert len(requests) == 1 and len(responses) == 0 and len(requests[0]["own"]) == 17
        return 0 if requests[0]["bid"] else 3
    plays = [r for r in requests if "history" in r]
    own = [r for r in responses if isinstance(r, list)]
    assert len(own) == len(plays) - 1 and len(requests) == len(responses) + 1
    hand = set(first["own"])
    if first.get("landlord", -1) == first.get("pos"):
        hand |= set(first["publiccard"])
    assert len(hand) in (17, 20)
    for cards in own:
        assert hand >= set(cards)
        hand -= set(cards)
    seen = [card for r in plays for cards in r["history"] for card in cards]
    assert len(seen) == len(set(seen)) and not hand & set(seen)
    last = plays[-1]["history"][1] or plays[-1]["history"][0]
    level = lambda card: card // 4 + (card == 53)
    fitting = [card for card in sorted(hand) if not last or level(card) > level(last[0])]
    return fitting[:1] if len(last) <= 1 else []
"""


ONCE = (
    PROGRAM
    + """
told = json.loads(input())
data = int(told["data"] or 0) + 1
assert data <= len(told["requests"])
print(json.dumps({"response": decide(told["requests"], told["responses"]), "data": str(data),
                  "debug": "move %d" % data}))
"""
)


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


AGENTS = """
import sys, time

class Raw:
    use_raw = True
    def eval_step(self, state):
        print("thinking aloud")
        return state["raw_obs"]["actions"][-1], {}

class Numbered:
    use_raw = False
    def eval_step(self, state):
        return max(state["legal_actions"]), {}

class Says:
    use_raw = True
    def __init__(self, action):
        self.action = action
    def eval_step(self, state):
        return self.action(), []

class Position(Raw):
    def __init__(self, position):
        self.position = position
    def eval_step(self, state):
        assert state["raw_obs"]["self"] == self.position
        return super().eval_step(state)

class Model:
    agents = [Position(0), Position(1), Position(2)]

agent = Raw()
agents = (agent, Numbered(), agent)
nonsense = Says(lambda: "hello")
illegal = Says(lambda: "3456")
raises = Says(lambda: 1 / 0)
exits = Says(lambda: sys.exit(1))
slow = Says(lambda: time.sleep(600))
"""


# Bids 3 if nobody has bid, and plays the lowest single card that it may. It checks what it is told.
CONTEST = """
import sys
log = open("log", "a")
hand, table, passes, bids = set(), [], 0, {}
level = lambda card: card // 4 + (card == 53)

def choose():
    fitting = [card for card in sorted(hand) if not table or level(card) > level(table[0])]
    return fitting[:1] if len(table) <= 1 else []

def played(cards):
    global table, passes
    table, passes = (cards, 0) if cards else ([] if passes else table, passes + 1)

for line in sys.stdin:
    print(line.strip(), file=log, flush=True)
    verb, _, rest = line.strip().partition(" ")
    answer = "OK " + verb
    cards = [] if rest[-2:] == "-1" else [int(n) for n in rest[1:].split(",") if n.isdigit()]
    if verb == "DOUDIZHUVER":
        answer = "NAME test"
    elif verb == "DEAL":
        me, hand = rest[0], set(cards)
        assert len(hand) == 17
    elif rest == "WHAT" and verb == "BID":
        bids[me] = 0 if any(bids.values()) else 3
        answer = "BID %s%d" % (me, bids[me])
    elif verb == "BID":
        bids[rest[0]] = cards[0]
    elif verb == "LEFTOVER":
        assert len(cards) == 3 and bids[rest[0]] == max(bids.values())
        hand |= set(cards) if rest[0] == me else set()
    elif rest == "WHAT":
        move = choose()
        hand -= set(move)
        played(move)
        answer = "PLAY %s%s" % (me, ",".join(map(str, move)) or "-1")
    elif verb == "PLAY":
        assert rest[0] != me and not hand & set(cards)
        played(cards)
    print(answer, flush=True)
"""
