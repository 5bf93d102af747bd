"""Matches as steps that a page can show without knowing any rules.

A step holds what has changed since the previous one, which keeps a match small. The rules are
applied here, not in the reader's browser.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Container, Iterable, Sequence
from typing import Any

import games
from games import Fact, State
from tournament.records import FaultRecord, MatchRecord, MatchSummary

Step = dict[str, Any]


def compressed(record: MatchRecord, move_ms: int, bank_ms: int) -> str:
    """The steps of a match: JSON, deflated (RFC 1950), in base64."""
    text = json.dumps(steps(record, move_ms, bank_ms), separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode("ascii")


def steps(record: MatchRecord, move_ms: int, bank_ms: int) -> list[Step]:
    """The position before the first move, then one step for each move.

    Fields, each only if it changed: ``deal``, ``phase``, ``turn``, ``hands`` (by seat, cards in
    one string, None for a hand that did not change), ``roles`` (by seat, texts), ``scores``,
    ``facts`` (of the position: ``[label, value, cards, seat, whether it lies on the table]``),
    ``banks`` (by seat, seconds), ``ended`` (points of the deal that this move ended). ``move`` is
    what was played: ``[seat, move, milliseconds or None, fault or None, whether it was the
    default move]``. `move_ms` and `bank_ms` are the clock of the cup.
    """
    state = games.get(record.game).start(record.players, record.seed, record.options)
    banks = [bank_ms / 1000] * record.players
    shown = {**_position(state), "banks": list(banks)}
    found = [dict(shown)]
    faults = {fault.move: fault for fault in record.faults}
    requests = [0] * record.players
    for index, move in enumerate(record.moves):
        seat = state.turn
        if seat is None:
            raise ValueError(f"Match {record.match} has moves after the end of its game.")
        deals = len(state.results)
        state = state.advance(move)
        moved = _move(record, seat, move, requests, faults.get(index))
        if moved[2] is not None:
            banks[seat] = max(0.0, round(banks[seat] - max(0.0, moved[2] - move_ms) / 1000, 1))
        position = {**_position(state), "banks": list(banks)}
        step = _changes(shown, position)
        if len(state.results) > deals:
            step["ended"] = list(state.results[-1]["scores"])
        step["move"] = moved
        shown = position
        found.append(step)
    return found


def select(
    matches: Iterable[MatchSummary], limit: int, first: Container[str] = ()
) -> list[MatchSummary]:
    """Up to ``limit`` matches for a page, in the order of the schedule.

    Those whose ids are in ``first`` come before all others. Up to half of the rest have faults; the
    others are spread evenly over the schedule.
    """
    everything = list(matches)
    if len(everything) <= limit:
        return everything
    wanted = [i for i, match in enumerate(everything) if match.match in first]
    selected = set(_spread(wanted, limit))
    faulty = [
        i for i, match in enumerate(everything) if i not in selected and any(map(any, match.faults))
    ]
    selected.update(_spread(faulty, (limit - len(selected)) // 2))
    rest = [i for i in range(len(everything)) if i not in selected]
    selected.update(_spread(rest, limit - len(selected)))
    return [everything[i] for i in sorted(selected)]


def _spread(indices: Sequence[int], limit: int) -> list[int]:
    if len(indices) <= limit:
        return list(indices)
    return [indices[i * len(indices) // limit] for i in range(limit)]


def _move(
    record: MatchRecord, seat: int, move: str, requests: list[int], fault: FaultRecord | None
) -> list[Any]:
    times = record.times[seat]
    if requests[seat] >= len(times):  # a bot that is struck out is asked no more
        return [seat, move, None, None, True]
    elapsed = round(times[requests[seat]], 1)
    requests[seat] += 1
    reason = None if fault is None else f"{fault.kind}: {fault.detail}"
    return [seat, move, elapsed, reason, fault is not None]


def _changes(before: Step, after: Step) -> Step:
    changed = {key: value for key, value in after.items() if before[key] != value}
    if "hands" in changed:
        pairs = zip(before["hands"], after["hands"], strict=True)
        changed["hands"] = [None if old == new else new for old, new in pairs]
    return changed


def _position(state: State) -> Step:
    data = state.to_dict()
    game = state.game
    return {
        "deal": data["deal"],
        "phase": data["phase"],
        "turn": data["turn"],
        "hands": ["".join(hand) for hand in data["hands"]],
        "roles": [game.roles(data, seat) for seat in range(state.players)],
        "scores": data["scores"],
        "facts": [_fact(fact) for fact in game.facts(data)],
    }


def _fact(fact: Fact) -> list[Any]:
    return [fact.label, fact.value, "".join(fact.cards), fact.seat, fact.on_table]
