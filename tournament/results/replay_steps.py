"""Matches as steps that a page can show without knowing any rules.

A step is what changed since the step before, so that a whole match is small: the rules are
played here, once, and not in the reader's browser.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Sequence
from typing import Any

import games
from games import State
from tournament.records import FaultRecord, MatchRecord, MatchSummary

Step = dict[str, Any]

_POINTS = {"5": 5, "T": 10, "K": 10}


def packed(record: MatchRecord) -> str:
    """The steps of a match: JSON, deflated (RFC 1950), in base64."""
    text = json.dumps(steps(record), separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode("ascii")


def steps(record: MatchRecord) -> list[Step]:
    """The position before the first move, then one step for each move.

    Fields, each only where it changed: ``deal``, ``phase``, ``turn``, ``hands`` (by seat, cards
    in one string, None for a hand that did not change), ``talon``, ``scores``, ``notes``
    (sentences), ``ended`` (points of the deal that this move ended). ``move`` is what was
    played: ``[seat, move, milliseconds or None, fault or None, whether the house moved]``.
    """
    state = games.get(record.game).start(record.players, record.seed, record.options)
    seen = _shown(state, record.seating)
    answer = [dict(seen)]
    faults = {fault.move: fault for fault in record.faults}
    asked = [0] * record.players
    for index, move in enumerate(record.moves):
        seat = state.turn
        if seat is None:
            raise ValueError(f"match {record.match} goes on after the end of its game")
        before = len(state.results)
        state = state.advance(move)
        now = _shown(state, record.seating)
        step = _changes(seen, now)
        if len(state.results) > before:
            step["ended"] = list(state.results[-1]["scores"])
        step["move"] = _moved(record, seat, move, asked, faults.get(index))
        seen = now
        answer.append(step)
    return answer


def chosen(matches: Iterable[MatchSummary], most: int) -> list[MatchSummary]:
    """Which matches a page shows: up to ``most``, half of them with faults if there are so many.

    The others are spread evenly over the schedule. In the order of the schedule.
    """
    everything = list(matches)
    if len(everything) <= most:
        return everything
    faulty = [i for i, match in enumerate(everything) if any(map(any, match.faults))]
    wanted = set(_spread(faulty, most // 2))
    rest = [i for i in range(len(everything)) if i not in wanted]
    wanted.update(_spread(rest, most - len(wanted)))
    return [everything[i] for i in sorted(wanted)]


def _spread(places: Sequence[int], most: int) -> list[int]:
    if len(places) <= most:
        return list(places)
    return [places[i * len(places) // most] for i in range(most)]


def _moved(
    record: MatchRecord, seat: int, move: str, asked: list[int], fault: FaultRecord | None
) -> list[Any]:
    times = record.times[seat]
    if asked[seat] >= len(times):  # struck out: nobody is asked
        return [seat, move, None, None, True]
    taken = round(times[asked[seat]], 1)
    asked[seat] += 1
    said = None if fault is None else f"{fault.kind}: {fault.detail}"
    return [seat, move, taken, said, fault is not None]


def _changes(before: Step, now: Step) -> Step:
    changed = {key: value for key, value in now.items() if before[key] != value}
    if "hands" in changed:
        pairs = zip(before["hands"], now["hands"], strict=True)
        changed["hands"] = [None if old == new else new for old, new in pairs]
    return changed


def _shown(state: State, names: Sequence[str]) -> Step:
    data = state.to_dict()
    return {
        "deal": data["deal"],
        "phase": data["phase"],
        "turn": data["turn"],
        "hands": ["".join(hand) for hand in data["hands"]],
        "talon": "".join(data.get("talon", ())),
        "scores": data["scores"],
        "notes": _notes(data, names),
    }


def _notes(data: Step, names: Sequence[str]) -> list[str]:
    """What else there is to know about a position, in words."""

    def who(seat: int) -> str:
        return f"{names[seat]} (seat {seat})"

    notes = []
    if data.get("bid"):
        notes.append(f"bid {data['bid']}")
    if data.get("declarer") is not None:
        notes.append(f"declarer {who(data['declarer'])}")
    if data.get("called") is not None:
        notes.append(f"called card {data['called']}")
    if data.get("partner") is not None:
        notes.append(f"partner {who(data['partner'])}")
    if data.get("doublings"):
        notes.append(f"doubled {data['doublings']}×")
    if data.get("trump") is not None:
        notes.append(f"trump {data['trump']}")
    if "targets" in data:
        won = zip(data["tricks"], data["targets"], strict=True)
        notes.append("tricks of target " + ", ".join(f"{have} of {of}" for have, of in won))
    if "taken" in data:
        worth = [sum(_POINTS.get(card[0], 0) for card in cards) for cards in data["taken"]]
        notes.append("card points taken " + ", ".join(map(str, worth)))
        if data["out"]:
            notes.append("out " + ", ".join(who(seat) for seat in data["out"]))
    return notes
