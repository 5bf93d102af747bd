"""Matches as steps that a page can show without knowing any rules.

A step holds what has changed since the previous one, which keeps a match small. The rules are
applied here, not in the reader's browser.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Container, Iterable, Mapping
from typing import Any

import games
from games import Game
from tournament.records import MatchRecord, MatchSummary
from tournament.sampling import spread
from web.ui import replay

PageStep = dict[str, Any]


def compressed(record: MatchRecord, move_ms: int, bank_ms: int) -> str:
    """The steps of a match: JSON, deflated (RFC 1950), in base64."""
    text = json.dumps(page_steps(record, move_ms, bank_ms), separators=(",", ":"))
    return base64.b64encode(zlib.compress(text.encode(), 9)).decode("ascii")


def page_steps(record: MatchRecord, move_ms: int, bank_ms: int) -> list[PageStep]:
    """The position before the first move, then one step for each move.

    Fields, each only if it changed: ``deal``, ``phase``, ``turn``, ``hands`` (by seat, cards in one
    string, None for a hand that did not change), ``roles`` (by seat, texts), ``scores``, ``facts``
    (of the position: ``[label, value, cards, seat, whether it lies on the table]``), ``banks`` (by
    seat, seconds), ``ended`` (points of the deal that this move ended), ``over`` (this move ended a
    trick or a phase). ``move`` is what was played: ``[seat, move, milliseconds or None, fault or
    None, whether it was the default move]``; ``forced``: it was the only legal one; ``info``: what
    the bot said beside it. `move_ms` and `bank_ms` are the clock of the cup.
    """
    game = games.get(record.game)
    shown: PageStep = {}
    found = []
    for step in replay.steps(record, move_ms, bank_ms):
        banks = [round(bank / 1000, 1) for bank in step.banks]
        hands = ["".join(hand) for hand in step.state["hands"]]
        now = {**position(game, step.state), "hands": hands, "banks": banks}
        changed = _changes(shown, now) if shown else dict(now)
        if step.before is not None:
            if len(step.state["results"]) > len(step.before["results"]):
                changed["ended"] = step.state["results"][-1]["scores"]
            if ends_trick(shown, now):
                changed["over"] = True
            changed["move"] = _move(step)
            changed |= {"forced": True} if step.forced else {}
            changed |= {"info": dict(step.info)} if step.info else {}
        shown = now
        found.append(changed)
    return found


def position(game: Game, data: Mapping[str, Any]) -> PageStep:
    """What a page shows of a state or view, besides its hands."""
    return {
        "deal": data["deal"],
        "phase": data["phase"],
        "turn": data["turn"],
        "roles": [game.roles(data, seat) for seat in range(data["players"])],
        "scores": data["scores"],
        "facts": [
            [fact.label, fact.value, "".join(fact.cards), fact.seat, fact.on_table]
            for fact in game.facts(data)
        ],
    }


def ends_trick(before: PageStep, after: PageStep) -> bool:
    """Whether the move between two positions ended a trick or a phase: a new one begins with the
    next move."""
    return before["phase"] != after["phase"] or (
        any(on_table for *_, on_table in before["facts"])
        and not any(on_table for *_, on_table in after["facts"])
    )


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
    selected = set(spread(wanted, limit))
    faulty = [
        i for i, match in enumerate(everything) if i not in selected and any(map(any, match.faults))
    ]
    selected.update(spread(faulty, (limit - len(selected)) // 2))
    rest = [i for i in range(len(everything)) if i not in selected]
    selected.update(spread(rest, limit - len(selected)))
    return [everything[i] for i in sorted(selected)]


def _move(step: replay.Step) -> list[Any]:
    fault = step.fault
    reason = None if fault is None else f"{fault.kind}: {fault.detail}"
    ms = None if step.ms is None else round(step.ms, 1)
    return [step.seat, step.move, ms, reason, step.default]


def _changes(before: PageStep, after: PageStep) -> PageStep:
    changed = {key: value for key, value in after.items() if before[key] != value}
    if "hands" in changed:
        pairs = zip(before["hands"], after["hands"], strict=True)
        changed["hands"] = [None if old == new else new for old, new in pairs]
    return changed
