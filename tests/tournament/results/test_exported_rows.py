import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.support.tournament.played import cup, exported, run
from tournament.config.cup import FILE_FORMATS, Cup
from tournament.display.formatting import format_stop
from tournament.formats.round_robin import Gauntlet
from tournament.formats.stopping import Stop
from tournament.records import Disqualify
from tournament.results.files.exported_rows import ExportedRows
from tournament.results.files.exported_rows import Row as Columns
from tournament.results.files.match_file import MatchFile
from tournament.results.files.match_lines import LineError
from tournament.results.standings import Standings, StopRule, standings

Row = dict[str, Any]
REQUIRED = [field.name for field in msgspec.structs.fields(Columns) if field.required]


@pytest.fixture
def rows(tmp_path: Path) -> list[Row]:
    with run(tmp_path, cup()) as store:
        return exported(store, "jsonl")


def without_times(table: Standings) -> Row:
    """The table as JSON, without what rows have only as sums."""
    data = table.to_dict()
    for line in data["standings"]:
        del line["move_ms"], line["fallback"]
    return data


def read_back(rows: list[Row]) -> Standings:
    return standings(ExportedRows([json.dumps(row).encode() for row in rows], "rows.jsonl"))


def table(rows: list[Row]) -> Row:
    return without_times(read_back(rows))


def made(format: str) -> Cup:
    of = cup([f"bot{i}" for i in range(6)], format=format, deals=2, seating="fixed")
    if isinstance(of.format, Gauntlet):
        return replace(of, format=replace(of.format, challenger="bot3"))
    return replace(of, stop=Stop(2, 0.9)) if of.format.may_stop else of


@pytest.mark.parametrize("format", [name for name in FILE_FORMATS if name != "ladder"])
def test_an_export_ranks_as_its_store_does(tmp_path: Path, format: str) -> None:
    with run(tmp_path, made(format)) as store:
        if format == "halving":
            store.finish(settled=("bot1", "bot2"))
        for finished in (True, False):
            if not finished:
                store.reopen(store.count())
            expected, rows = standings(store), exported(store, "jsonl")
            matches = [json.dumps(line).encode() for line in exported(store, "matches")]
            assert standings(MatchFile(matches, "spring.jsonl")) == expected
            assert table(rows) == without_times(expected)
            places = {line.bot: line.place for line in expected.standings}
            assert {row["bot"]: row["place"] for row in rows} == places
            decided = finished or not FILE_FORMATS[format].decides_places
            assert all((place is not None) == decided for place in places.values())


@pytest.mark.parametrize("format", ["halving", "knockout"])
def test_an_export_has_the_places_after_a_disqualification(tmp_path: Path, format: str) -> None:
    of = cup([f"bot{i}" for i in range(8)], format=format, seating="fixed")
    with run(tmp_path, of) as store:
        store.decide(Disqualify(bot=standings(store).standings[0].bot))
        places = {line.bot: line.place for line in standings(store).standings}
        rows = exported(store, "jsonl")
    ranked = {line["bot"]: line["place"] for line in table(rows)["standings"]}
    assert len(ranked) > 1
    assert ranked.items() <= places.items()


def test_an_export_says_when_a_cup_ended(tmp_path: Path) -> None:
    """After a disqualification, rows of blocks and of a bot by which the cup ended are missing."""
    with run(tmp_path, made("round-robin")) as store:
        store.finish(settled=("bot1", "bot2"))
        blocks = standings(store).blocks
        store.decide(Disqualify(bot="bot1"))
        export = read_back(exported(store, "jsonl"))
        stop = format_stop(standings(store))
    assert export.blocks < blocks
    assert export.stop == StopRule(2, 0.9, ("bot2",), blocks)
    because = f"Ended after {blocks} blocks, because the top 2 were separated from the rest at 90 %"
    assert (format_stop(export), stop) == (f"{because}: bot2.", f"{because}: bot2, bot1.")


def test_the_required_fields_in_any_order_are_enough(rows: list[Row]) -> None:
    few = read_back([{field: row[field] for field in REQUIRED} for row in rows[::-1]])
    assert few.standings[0].score == read_back(rows).standings[0].score
    assert (few.finished, few.ranges) == (False, "anytime")
    table = read_back([{**row, "fallbacks": 7} for row in rows])
    assert {line.fallback for line in table.standings} == {None}, "the number of moves is unknown"


def test_bad_rows_too_few_and_too_many_bots_are_refused(rows: list[Row]) -> None:
    for at, change, message in (
        (1, {"adjusted": "3"}, "2: adjusted: Expected `int`, got `str`"),
        (1, {"timeout": 1 << 31}, "2: timeout: Expected `int` <"),
        (1, {"deals": 7}, "2: deals: must be the same for all seats"),
        (1, {"cup": "Other"}, '2: cup: is "Other"'),
        (1, {"bot": "\ud800"}, "2: line: is not JSON"),
        (1, {"bot": "ann\x1b[2J"}, "2: bot: has control characters"),
        (3, {"bot": "new"}, "block 1 has other bots"),
        (3, {"place": 9}, "in place 9 here and in"),
        (None, {"top": 1}, "1: confidence: is missing"),
        (None, {"challenger": "zed"}, '1: challenger: there is no bot "zed" in the rows'),
    ):
        bad = [row | change if n == at or at is None else row for n, row in enumerate(rows)]
        with pytest.raises(LineError, match=re.escape(message)):
            table(bad)
    pairs = [rows[0] | {"block": bot // 2, "seat": bot % 2} for bot in range(2_002)]
    for some, says in (
        ([], "there is no row"),
        ([rows[0], *rows[2:]], "1: seat: block 1, seating 0 must have one row for each"),
        ([rows[0], {}], "2: block: is missing"),
        ([row | {"bot": str(bot)} for bot, row in enumerate(pairs)], "2002 bots are more than"),
    ):
        with pytest.raises(LineError, match=says):
            table(some)
