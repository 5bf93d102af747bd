"""Decisions for programs that learn: one row for each move that a bot was to make.

Columns are made from the matches, played again one after the other, so memory does not grow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec

import games
from games import IllegalMove
from tournament.records import MatchRecord

COLUMNS: Final[Mapping[str, tuple[str, str]]] = {
    "match": ("string", "id of the match"),
    "block": ("int64", "number of the block in the schedule"),
    "seat": ("int64", "seat to move"),
    "bot": ("string", "bot at this seat"),
    "index": ("int64", "index of the move in the match, from 0"),
    "view": ("string", "what the seat could see, as JSON"),
    "moves": ("list", "the legal moves in canonical order"),
    "move": ("string", "the move that was played"),
    "forced": ("bool", "whether it was the only legal move, so that nobody was asked"),
    "ms": ("double", "time of the answer in milliseconds; null if nobody was asked"),
    "fault": ("string", "kind of the fault because of which the default move was played, or null"),
    "info": ("string", "the numbers that the bot gave beside its move, as JSON; null without"),
    "deal_points": ("int64", "points of the seat in this deal, known when it ended"),
    "match_points": ("int64", "points of the seat in the match, known when it ended"),
}
"""Column -> (type, what it is)."""

Row = dict[str, Any]

_to_json = msgspec.json.Encoder().encode


def decision_rows(record: MatchRecord) -> Iterator[Row]:
    """A row for each move of a match that a bot was asked for or that was forced.

    ValueError if its moves cannot be played.
    """
    forced = frozenset(record.forced)
    times = [iter(each) for each in record.times]
    faults = {fault.move: str(fault.kind) for fault in record.faults}
    points = [result["scores"] for result in record.results]
    state = games.get(record.game).start(record.players, record.seed, record.options)
    for index, move in enumerate(record.moves):
        seat = state.turn
        if seat is not None:
            ms = None if index in forced else next(times[seat], None)
            if ms is not None or index in forced:
                said = record.info.get(index, {})
                numbers = {key: one for key, one in said.items() if not isinstance(one, str)}
                yield {
                    "match": record.match,
                    "block": record.block,
                    "seat": seat,
                    "bot": record.seating[seat],
                    "index": index,
                    "view": _to_json(state.view(seat).to_dict()).decode(),
                    "moves": state.moves().texts(),
                    "move": move,
                    "forced": index in forced,
                    "ms": ms if ms is None else round(ms, 3),
                    "fault": faults.get(index),
                    "info": _to_json(numbers).decode() if numbers else None,
                    "deal_points": points[len(state.results)][seat],
                    "match_points": record.scores[seat],
                }
        try:
            state = state.advance(move)
        except IllegalMove as error:
            raise ValueError(
                f"Move {index} ({move}) of match {record.match} is not legal: {error.detail}"
            ) from None
