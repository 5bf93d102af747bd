"""Standings of an export are those of its store; a row that cannot be used is refused."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.tournament.played import cup, run
from tournament.results.export import export
from tournament.results.exported_rows import REQUIRED, ExportedRows, RowError
from tournament.results.standings import standings

Row = dict[str, Any]


@pytest.fixture
def rows(tmp_path: Path) -> list[Row]:
    """The rows of a finished run."""
    with run(tmp_path, cup(), {}) as store:
        out = io.BytesIO()
        export(store, "jsonl", out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def table(rows: list[Row]) -> Row:
    found = standings(ExportedRows(map(json.dumps, rows), "rows.jsonl")).to_dict()
    for line in found["standings"]:
        del line["move_ms"]  # an export has only their sums
    return found


@pytest.mark.parametrize("format", ["round-robin", "knockout"])
def test_an_export_ranks_as_its_store_does(tmp_path: Path, format: str) -> None:
    of = cup([f"bot{i}" for i in range(6)], format=format, deals=2)
    with run(tmp_path, of, {}) as store:
        expected = standings(store).to_dict()
        out = io.BytesIO()
        export(store, "jsonl", out)
    for line in expected["standings"]:
        del line["move_ms"]
    assert table([json.loads(line) for line in out.getvalue().splitlines()]) == expected


def test_the_order_of_rows_does_not_matter(rows: list[Row]) -> None:
    assert table(rows[::-1]) == table(rows)


def test_the_required_fields_are_enough(rows: list[Row]) -> None:
    few = table([{field: row[field] for field in REQUIRED} for row in rows])
    assert [line["score"] for line in few["standings"]] == [
        line["score"] for line in table(rows)["standings"]
    ]
    assert (few["finished"], few["ranges"]) == (False, "anytime")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[1].pop("adjusted"), "2: adjusted: is missing"),
        (lambda rows: rows[1].update(adjusted="3"), "2: adjusted: must be a whole number"),
        (lambda rows: rows[1].update(deals=0), "2: deals: must be 1 or more"),
        (lambda rows: rows[1].update(deals=7), "2: deals: must be the same for all seats"),
        (lambda rows: rows[1].update(bot=""), "2: bot: must be the name"),
        (lambda rows: rows[1].update(seat=0), "2: seat: block 1, seating 0, seat 0 is in line 1"),
        (lambda rows: rows.pop(1), "1: seat: block 1, seating 0 must have a row for each seat"),
        (lambda rows: rows[1].update(cup="Other"), '2: cup: is "Other"'),
        (lambda rows: [row.update(bot="new") for row in rows[3:4]], "block 1 has other bots"),
        (lambda rows: rows.clear(), "there is no row"),
    ],
)
def test_a_bad_row_is_refused(
    rows: list[Row], change: Callable[[list[Row]], object], message: str
) -> None:
    rows.sort(key=lambda row: (row["block"], row["seating"], row["seat"]))
    change(rows)
    with pytest.raises(RowError) as error:
        table(rows)
    assert message in str(error.value)


@pytest.mark.parametrize("line", ["{", "[]", "3", '{"a": ' + "[" * 100_000])
def test_a_line_that_is_no_object_is_refused(line: str) -> None:
    with pytest.raises(RowError, match=r"^x:1: this line is not"):
        ExportedRows([line], "x")
