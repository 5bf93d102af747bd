import csv
import io
import json
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

import games
from learning.encoding import Encoding
from tests.support.tournament.cups import stich
from tests.support.tournament.played import cup, played, run, unfinished
from tournament.display.replay import to_dict
from tournament.errors import ReplayError
from tournament.records import FallbackRecord, MatchRecord
from tournament.results.files.export import FORMATS, ExportError, SeatRow, decision_rows, export
from tournament.results.info_sums import InfoSum, info_sums
from tournament.results.integrity import integrity
from tournament.store.store import Store
from web.arena.app import create_app
from web.report import report


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
    return [json.loads(line) for line in written(store, "jsonl").splitlines()]


def test_csv_and_jsonl_have_a_row_for_every_seat(store: Store, rows: list[dict[str, Any]]) -> None:
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
        assert row["fallbacks"] == sum(fallback.seat == seat for fallback in record.fallbacks)
        assert row["answers"] == len(record.answered(seat))
        assert row["think_ms"] == pytest.approx(sum(record.answered(seat)), abs=0.01)
        assert row["side"] == (None if record.sides is None else record.sides[seat])
    assert sum(row["illegal"] for row in rows) > 0
    assert any(row["struck_out"] for row in rows)
    assert sum(row["fallbacks"] for row in rows) == 1
    for cells, row in zip(csv_rows(store), rows, strict=True):
        for name, value in row.items():
            text = str(value).lower() if isinstance(value, bool) else str(value)
            assert cells[name] == ("" if value is None else text)


@pytest.mark.parametrize("names", [("=1+1", "+49", "-x"), ("@SUM(A1)", "\tx", "a=b")])
def test_a_spreadsheet_takes_no_name_for_a_formula(names: tuple[str, ...], tmp_path: Path) -> None:
    with run(tmp_path, cup(names)) as made:
        bots = {row["bot"] for row in csv_rows(made)}
    assert bots == {name if name == "a=b" else f"'{name}" for name in names}


def test_parquet_has_the_same_values_or_names_what_to_install(
    store: Store, rows: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    table = parquet.read_table(io.BytesIO(written(store, "parquet")))
    assert table.to_pylist() == rows
    types = {field.name: str(field.type) for field in table.schema}
    expected = {"confidence": "double", "top": "int64", "challenger": "string", "settled": "bool"}
    assert types.items() >= expected.items()
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ExportError, match=r"pip install 'stich\[parquet\]'"):
        written(store, "parquet")


def test_a_run_without_matches_has_columns_and_no_rows(tmp_path: Path) -> None:
    files = {format: io.BytesIO() for format in FORMATS}
    with unfinished(tmp_path, cup()) as empty:
        assert [export(empty, format, out) for format, out in files.items()] == [0] * len(files)
    assert files["csv"].getvalue().decode() == ",".join(SeatRow.__struct_fields__) + "\n"
    done = stich("export", tmp_path, "--format", "matches")
    says = "There are no rows: no block that counts has finished.\n"
    assert (done.returncode, done.stdout, done.stderr) == (0, "", says)


def test_a_row_of_a_decision_has_the_view_the_move_and_points() -> None:
    matches = played(cup(options={"deals": 2}), {"cat": 12})
    record = next(match for match in matches if match.struck)
    rows = {row.index: row for row in decision_rows(record)}
    state = games.get(record.game).start(record.players, record.seed, record.options)
    encoding, times = Encoding(record.game, record.players), list(map(iter, record.times))
    for index, move in enumerate(record.moves):
        seat = state.turn
        assert seat is not None
        if row := rows.get(index):
            view, moves = state.view(seat), state.moves()
            encoded, texts = encoding.encode(view), moves.texts()
            ms = None if len(texts) == 1 else round(next(times[seat]), 3)
            assert (row.match, row.block, row.index) == (record.match, record.block, index)
            assert (row.seat, row.bot, row.info) == (seat, record.seating[seat], None)
            assert (row.moves, row.move, row.action) == (texts, move, texts.index(move))
            assert (row.forced, row.ms) == (len(texts) == 1, ms)
            points = record.results[len(state.results)]["scores"][seat], record.scores[seat]
            assert (row.deal_points, row.match_points) == points
            assert (row.words, row.numbers) == (encoded.words, encoded.numbers)
            assert row.move_words == encoding.encode_moves(moves)
            assert json.loads(row.view) == view.to_dict()
        state = state.advance(move)
    assert [*map(list, times)] == [[]] * 3  # no rows for a seat that is struck out
    faults = {index: row.fault for index, row in rows.items() if row.fault}
    assert faults == {fault.move: str(fault.kind) for fault in record.faults}


READERS: dict[str, Callable[[Store], object]] = {
    "decisions": lambda store: export(store, "decisions", io.BytesIO(), text=True),
    "report": report,
    "integrity": lambda store: integrity(store.matches()),
    "replay": lambda store: to_dict(next(store.matches()), store.run().cup),
}


@pytest.mark.parametrize("reader", READERS)
def test_an_illegal_move_is_named(reader: str, tmp_path: Path) -> None:
    first, *_ = played(cup())
    changed = replace(first, seatings=1, moves=(first.moves[0], "play:zz", *first.moves[2:]))
    says = rf"Move 1 \(play:zz\) of match {first.match} is not"
    with unfinished(tmp_path, cup(), [changed]) as store, pytest.raises(ReplayError, match=says):
        READERS[reader](store)


def test_a_deal_without_a_result_is_named() -> None:
    first, *_ = played(cup())
    for results in ((), ({"declarer": 0},), ({"scores": [0, [0], 0]},)):
        with pytest.raises(ReplayError, match="Its deal has no result"):
            list(decision_rows(replace(first, results=results)))


def with_info(record: MatchRecord) -> MatchRecord:
    info: dict[int, dict[str, str | float]] = {}
    state = games.get(record.game).start(record.players, record.seed, record.options)
    for index, move in enumerate(record.moves):
        bot = record.seating[state.turn or 0]
        if bot != "cat" and index not in record.forced:
            info[index] = {"comment": f"<b>{bot}", "tokens": {"ann": 10.0, "bob": 1e308}[bot]}
        state = state.advance(move)
    return replace(record, info=info)


@pytest.fixture
def informed(tmp_path: Path) -> Iterator[Store]:
    with unfinished(tmp_path, cup(), map(with_info, played(cup()))) as made:
        made.finish()
        yield made


def test_sums_of_info_are_shown_everywhere(informed: Store) -> None:
    ann, bob = info_sums(informed.matches())
    asked = sum(len(record.times[record.seating.index("ann")]) for record in informed.matches())
    assert ann == InfoSum("ann", "tokens", 10.0 * asked, asked, 6, 10, 10 * asked / 6)
    assert (bob.bot, bob.sum) == ("bob", sys.float_info.max)
    shown = json.loads(stich("standings", informed.folder, "--info", "--json").stdout)
    assert shown["info"] == [asdict(ann), asdict(bob)]
    assert "tokens" in stich("standings", informed.folder, "--info").stdout
    assert "info" not in json.loads(stich("standings", informed.folder, "--json").stdout)
    client = create_app(informed).test_client()
    assert "tokens" in client.get("/bots/ann").text
    assert "tokens" not in client.get("/bots/cat").text
    assert "Beside the moves" in report(informed)
    record = random.Random(1).choice(list(informed.matches()))
    text = stich("replay", informed.folder, record.match).stdout
    times = record.times[record.seating.index("ann")]
    assert text.count("<b>ann · tokens 10\n") == len(times)
    assert "the only legal move" in text
    steps = json.loads(stich("replay", informed.folder, record.match, "--json").stdout)["steps"][1:]
    assert [i for i, step in enumerate(steps) if step["forced"]] == list(record.forced)
    assert {i: step["info"] for i, step in enumerate(steps) if step["info"]} == record.info
