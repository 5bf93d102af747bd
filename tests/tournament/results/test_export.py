import csv
import io
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.played import cup, played, run, unfinished
from tournament.records import FallbackRecord
from tournament.results.export import FORMATS, ExportError, SeatRow, export
from tournament.store.store import Store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    names = ('ann "the, first"', "böb ♠", "cat")
    first, *others = played(cup(names), {"cat": 12})
    first = replace(first, fallbacks=(FallbackRecord(seat=1, move=0, why="no answer"),))
    with unfinished(tmp_path_factory.mktemp("run"), cup(names), [first, *others]) as made:
        made.finish()
        yield made


def written(store: Store, format: str) -> bytes:
    out = io.BytesIO()
    assert export(store, format, out) == 18
    return out.getvalue()


def csv_rows(store: Store) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(written(store, "csv").decode("utf-8"), newline="")))


@pytest.fixture(scope="module")
def rows(store: Store) -> list[dict[str, Any]]:
    """The rows as JSON."""
    return [json.loads(line) for line in written(store, "jsonl").splitlines()]


def test_there_is_a_row_for_every_seat_of_every_match(
    store: Store, rows: list[dict[str, Any]]
) -> None:
    records = {record.match: record for record in store.matches()}
    assert len(rows) == sum(record.players for record in records.values())
    for row in rows:
        record = records[row["match"]]
        seat = row["seat"]
        assert list(row) == list(SeatRow.__struct_fields__)
        assert row["bot"] == record.seating[seat]
        assert (row["score"], row["adjusted"]) == (record.scores[seat], record.adjusted[seat])
        assert row["seed"] == record.seed
        assert row["struck_out"] == (seat in record.struck)
        assert row["fallbacks"] == sum(one.seat == seat for one in record.fallbacks)
        assert row["answers"] == len(record.answered(seat))
        assert row["think_ms"] == pytest.approx(sum(record.answered(seat)), abs=0.01)
        assert row["side"] == (None if record.sides is None else record.sides[seat])
    assert sum(row["illegal"] for row in rows) > 0
    assert any(row["struck_out"] for row in rows)
    assert sum(row["fallbacks"] for row in rows) == 1


def test_csv_has_the_same_values(store: Store, rows: list[dict[str, Any]]) -> None:
    for cells, row in zip(csv_rows(store), rows, strict=True):
        for name, value in row.items():
            text = str(value).lower() if isinstance(value, bool) else str(value)
            assert cells[name] == ("" if value is None else text)


@pytest.mark.parametrize("names", [("=1+1", "+49", "-x"), ("@SUM(A1)", "\tx", "a=b")])
def test_a_spreadsheet_takes_no_name_for_a_formula(names: tuple[str, ...], tmp_path: Path) -> None:
    with run(tmp_path, cup(names)) as made:
        bots = {row["bot"] for row in csv_rows(made)}
    assert bots == {name if name == "a=b" else f"'{name}" for name in names}


def test_parquet_has_the_same_values(store: Store, rows: list[dict[str, Any]]) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(io.BytesIO(written(store, "parquet")))
    assert table.to_pylist() == rows
    types = {field.name: str(field.type) for field in table.schema}
    assert {types[name] for name in ("think_ms", "slowest_ms", "confidence")} == {"double"}
    assert {types[name] for name in ("block", "side", "top")} == {"int64"}
    assert {types[name] for name in ("cup", "format", "challenger")} == {"string"}
    assert types["settled"] == "bool"


def test_a_run_without_matches_has_columns_and_no_rows(tmp_path: Path) -> None:
    with unfinished(tmp_path, cup()) as empty:
        for format in FORMATS:
            out = io.BytesIO()
            assert export(empty, format, out) == 0
            if format == "csv":
                assert out.getvalue().decode().strip().split(",") == list(SeatRow.__struct_fields__)


def test_without_pyarrow_the_error_names_what_to_install(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ExportError, match=r"pip install 'stich\[parquet\]'"):
        export(store, "parquet", io.BytesIO())
