"""Rows of decisions: the view, the legal moves, the move, and the points."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec.structs import asdict

import games
from learning.encoding import Encoding
from tests.support.played import cup, played, unfinished
from tournament.records import MatchRecord
from tournament.results.export import ExportError, decision_rows, export


@pytest.fixture(scope="module")
def record() -> MatchRecord:
    of = cup(options={"deals": 2})
    return next(one for one in played(of, {"cat": 12}) if one.struck)


def test_a_row_has_the_view_the_move_and_the_points(record: MatchRecord) -> None:
    rows = {row.index: asdict(row) for row in decision_rows(record)}
    state = games.get(record.game).start(record.players, record.seed, record.options)
    encoding, asked = Encoding(record.game, record.players), [0] * record.players
    for index, move in enumerate(record.moves):
        seat = state.turn
        assert seat is not None
        if index in rows:
            row = rows[index]
            assert json.loads(row["view"]) == state.view(seat).to_dict()
            assert row["moves"] == state.moves().texts()
            assert (row["seat"], row["bot"], row["move"]) == (seat, record.seating[seat], move)
            assert row["forced"] == (index in record.forced) == (len(row["moves"]) == 1)
            assert row["deal_points"] == record.results[len(state.results)]["scores"][seat]
            assert row["match_points"] == record.scores[seat]
            encoded = encoding.encode(state.view(seat))
            assert (row["words"], row["numbers"]) == (encoded.words, encoded.numbers)
            assert row["move_words"] == encoding.encode_moves(state.moves())
            assert row["action"] == row["moves"].index(move)
            if not row["forced"]:
                assert row["ms"] == round(record.times[seat][asked[seat]], 3)
                asked[seat] += 1
        state = state.advance(move)
    assert asked == [len(times) for times in record.times]  # none for a seat that is struck out
    assert {index: row["fault"] for index, row in rows.items() if row["fault"]} == {
        fault.move: str(fault.kind) for fault in record.faults
    }


def test_an_illegal_move_is_named(tmp_path: Path) -> None:
    first, *_ = played(cup())
    changed = replace(first, seatings=1, moves=(first.moves[0], "play:zz", *first.moves[2:]))
    says = rf"Move 1 \(play:zz\) of match {first.match} is not"
    with unfinished(tmp_path, cup(), [changed]) as store, pytest.raises(ExportError, match=says):
        export(store, "decisions", io.BytesIO(), text=True)
