"""Decisions for programs that learn: one row for each move that a bot was to make.

Columns are made from the matches, played again one after the other, so memory does not grow.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

import games
from games import IllegalMove
from tournament.records import MatchRecord


class DecisionRow(msgspec.Struct, frozen=True):
    """A decision: `view` and the numbers of `info` are JSON, `moves` the legal ones in canonical
    order. `ms` is None if nobody was asked, `fault` why the default move was played. The points are
    those of the seat, known when the deal or match ended."""

    match: str
    block: int
    seat: int
    bot: str
    index: int
    view: str
    moves: list[str]
    move: str
    forced: bool
    ms: float | None
    fault: str | None
    info: str | None
    deal_points: int
    match_points: int


_to_json = msgspec.json.Encoder().encode


def decision_rows(record: MatchRecord) -> Iterator[DecisionRow]:
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
                yield DecisionRow(
                    match=record.match,
                    block=record.block,
                    seat=seat,
                    bot=record.seating[seat],
                    index=index,
                    view=_to_json(state.view(seat).to_dict()).decode(),
                    moves=list(state.moves().texts()),
                    move=move,
                    forced=index in forced,
                    ms=ms if ms is None else round(ms, 3),
                    fault=faults.get(index),
                    info=_to_json(numbers).decode() if numbers else None,
                    deal_points=points[len(state.results)][seat],
                    match_points=record.scores[seat],
                )
        try:
            state = state.advance(move)
        except IllegalMove as error:
            raise ValueError(
                f"Move {index} ({move}) of match {record.match} is not legal: {error.detail}"
            ) from None
