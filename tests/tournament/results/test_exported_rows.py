"""Standings of an export are those of its store; a row that cannot be used is refused."""

import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.support.played import cup, exported, run
from tournament.config.cup import FILE_FORMATS, Cup
from tournament.display.formatting import format_stop
from tournament.formats.round_robin import Gauntlet
from tournament.formats.stop import Stop
from tournament.records import Disqualify
from tournament.results.export import export
from tournament.results.exported_rows import ExportedRows
from tournament.results.exported_rows import Row as Columns
from tournament.results.lines import LineError
from tournament.results.standings import StopRule, standings

Row = dict[str, Any]
REQUIRED = [each.name for each in msgspec.structs.fields(Columns) if each.required]


@pytest.fixture
def rows(tmp_path: Path) -> list[Row]:
    """The rows of a finished run."""
    with run(tmp_path, cup(), {}) as store:
        return exported(store, "jsonl")


def table(rows: list[Row]) -> Row:
    lines = [json.dumps(row).encode() for row in rows]
    found = standings(ExportedRows(lines, "rows.jsonl")).to_dict()
    for line in found["standings"]:
        del line["move_ms"], line["fallback"]  # an export has only sums of times
    return found


def made(format: str) -> Cup:
    of = cup([f"bot{i}" for i in range(7)], format=format, deals=2, seating="fixed")
    if isinstance(of.format, Gauntlet):
        return replace(of, format=replace(of.format, challenger="bot3"))
    return replace(of, stop=Stop(2, 0.9)) if of.format.may_stop else of


@pytest.mark.parametrize("format", [name for name in FILE_FORMATS if name != "ladder"])
@pytest.mark.parametrize("finished", [True, False])
def test_an_export_ranks_as_its_store_does(tmp_path: Path, format: str, finished: bool) -> None:
    """With the same places, course and end, also while the run goes on."""
    with run(tmp_path, made(format), {}) as store:
        if not finished:
            store.reopen(store.count())
        elif format == "halving":
            store.finish(settled=("bot1", "bot2"))
        expected = standings(store).to_dict()
        rows = exported(store, "jsonl")
    for line in expected["standings"]:
        del line["move_ms"], line["fallback"]
    assert table(rows) == expected
    places = {line["bot"]: line["place"] for line in expected["standings"]}
    assert {row["bot"]: row["place"] for row in rows} == places
    decided = finished or not FILE_FORMATS[format].decides_places
    assert all((place is not None) == decided for place in places.values())


@pytest.mark.parametrize("format", ["halving", "knockout"])
def test_an_export_has_the_places_after_a_disqualification(tmp_path: Path, format: str) -> None:
    """Also where all rows of a final are missing, so that they tell no more who reached it."""
    of = cup([f"bot{i}" for i in range(8)], format=format, seating="fixed")
    with run(tmp_path, of) as store:
        winner = standings(store).standings[0].bot
        store.decide(Disqualify(bot=winner))
        places = {line.bot: line.place for line in standings(store).standings}
        rows = exported(store, "jsonl")
    found = {line["bot"]: line["place"] for line in table(rows)["standings"]}
    assert len(found) > 1
    assert found == {bot: places[bot] for bot in found}


def test_an_export_says_when_a_cup_ended_after_a_disqualification(tmp_path: Path) -> None:
    """It has fewer blocks, and no rows of a bot by which the cup ended."""
    with run(tmp_path, made("round-robin")) as store:
        store.finish(settled=("bot1", "bot2"))
        blocks = standings(store).blocks
        store.decide(Disqualify(bot="bot1"))
        out = io.BytesIO()
        export(store, "jsonl", out)
        says = format_stop(standings(store))
    found = standings(ExportedRows(out.getvalue().splitlines(), "rows.jsonl"))
    assert found.blocks < blocks
    assert found.stop == StopRule(2, 0.9, ("bot2",), blocks)
    because = f"Ended after {blocks} blocks, because the top 2 were separated from the rest at 90 %"
    assert format_stop(found) == f"{because}: bot2."
    assert says == f"{because}: bot2, bot1."


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
        (lambda rows: rows[1].update(adjusted="3"), "2: adjusted: Expected `int`, got `str`"),
        (lambda rows: rows[1].update(deals=7), "2: deals: must be the same for all seats"),
        (lambda rows: rows[1].update(seat=0), "1: seat: block 1, seating 0 must have one row"),
        (lambda rows: rows.pop(1), "1: seat: block 1, seating 0 must have one row for each seat"),
        (lambda rows: rows[1].update(cup="Other"), '2: cup: is "Other"'),
        (lambda rows: [row.update(bot="new") for row in rows[3:4]], "block 1 has other bots"),
        (lambda rows: rows[1].update(format="swiss"), '2: format: is "swiss", but "round-robin"'),
        (lambda rows: [row.update(top=1) for row in rows], "1: confidence: is missing"),
        (lambda rows: rows[3].update(place=9), "in place 9 here and in"),
        (lambda rows: rows.clear(), "there is no row"),
        (lambda rows: rows[1].update(adjusted=2**53), "2: adjusted: Expected `int` <= 10000"),
        (
            lambda rows: [row.update(challenger="zed") for row in rows],
            '1: challenger: there is no bot "zed" in the rows; name one of theirs',
        ),
        (lambda rows: rows[1].update(bot="\ud800"), "2: line: is not JSON"),
    ],
)
def test_a_bad_row_is_refused(
    rows: list[Row], change: Callable[[list[Row]], object], message: str
) -> None:
    rows.sort(key=lambda row: (row["block"], row["seating"], row["seat"]))
    change(rows)
    with pytest.raises(LineError) as error:
        table(rows)
    assert message in str(error.value)


def test_more_bots_than_can_be_compared_are_refused() -> None:
    lines = [
        json.dumps({"block": bot // 2, "seating": 0, "seat": bot % 2, "bot": str(bot),
                    "adjusted": 1, "deals": 1}).encode()
        for bot in range(2_002)
    ]  # fmt: skip
    with pytest.raises(LineError, match="2002 bots are more than the 2000"):
        ExportedRows(lines, "x")
