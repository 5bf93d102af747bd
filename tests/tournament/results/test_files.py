"""Exported files: their schema, what is read out of them, and what is refused."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import jsonschema
import msgspec
import pytest

from tests.support import make_schemas
from tests.support.tournament.cups import started, stich, succeed
from tests.support.tournament.played import MATCH_KEY, cup, exported, played, run, unfinished
from tournament.config.cup import FILE_FORMATS, Cup
from tournament.display.formatting import format_stop
from tournament.formats.round_robin import Gauntlet
from tournament.formats.stopping import Stop
from tournament.model import Identity
from tournament.records import Disqualify
from tournament.results.files.exported_rows import ExportedRows, Row
from tournament.results.files.match_file import MatchFile
from tournament.results.files.match_lines import LineError
from tournament.results.standings import Standings, StopRule, standings
from tournament.store.run_reader import NoMatch
from tournament.store.store import Store

Line = dict[str, Any]
NO_FAULTS: Line = {"forced": [], "faults": [], "info": {}}
INFO: dict[int, dict[str, str | float]] = {0: {"comment": "hm", "value": 1.5}, 1: {"nodes": 48_000}}


def write(path: Path, lines: list[Line]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run with faults, strikes, information beside moves and decisions."""
    folder, of = tmp_path_factory.mktemp("run"), cup(("ann", "böb", "cat", "dan"))
    records = (replace(record, info=INFO) for record in played(of, {"cat": 12}))
    with unfinished(folder, of, records) as store:
        store.finish()
        for version in ("1", "2"):
            store.record_about({"böb": Identity("Böb", version)})
        store.record_total(store.count())
        store.decide(Disqualify(bot="dan", why="It attacked."))
    return folder


@pytest.fixture(scope="module")
def lines(finished: Path) -> list[Line]:
    with Store.open(finished) as store:
        return exported(store, "matches")


def test_the_schema_beside_the_page_is_that_of_the_lines(lines: list[Line]) -> None:
    schema = json.loads(make_schemas.MATCH.read_text("utf-8"))
    made = make_schemas.schema(make_schemas.MATCH)
    assert schema == made, "run: python -m tests.support.make_schemas"
    validator = jsonschema.Draft202012Validator(schema)
    for line in lines:
        validator.validate(line)
    assert any(line["faults"] for line in lines)
    assert any(line["struck_out"] for line in lines)
    assert lines[0]["info"] == {str(index): info for index, info in INFO.items()}
    assert not validator.is_valid({**lines[0], "block": "1"})


def test_a_file_is_read_as_its_run_and_has_pages(
    finished: Path, lines: list[Line], tmp_path: Path
) -> None:
    file = write(tmp_path / "spring.jsonl", lines)
    for format in ("csv", "decisions", "matches"):
        of_run = succeed("export", finished, "--format", format).stdout
        of_input = stich("export", "-", "--format", format, input=file.read_text("utf-8")).stdout
        assert of_run == succeed("export", file, "--format", format).stdout == of_input != ""
    decisions = [{**made, "at": ""} for made in lines[0]["cup"]["decisions"]]
    undated = {"started": "0001-01-01T00:00:00Z", "cup": lines[0]["cup"] | {"decisions": decisions}}
    write(file, [line | undated for line in lines])
    (tmp_path / "temporary").mkdir()
    served = started("arena", file, "--port", "0", TMPDIR=str(tmp_path / "temporary"))
    try:
        assert served.stderr is not None
        line = served.stderr.readline()
        url = re.search(r"http://\S+", line)
        assert url, line
        for path in ("", "/watch/next", f"/matches/{lines[0]['match']}"):
            with urlopen(url[0] + path) as page:
                assert re.search(r"böb|b\\u00f6b", page.read().decode())
    finally:
        served.terminate()
        served.communicate()
    assert list((tmp_path / "temporary").iterdir()) == []


def test_unfinished_blocks_are_not_written(tmp_path: Path) -> None:
    of = cup()
    records = list(played(of))
    with unfinished(tmp_path, of, records[:4]) as store:
        lines = exported(store, "matches")
        rows = exported(store, "decisions")
    assert [line["block"] for line in lines] == [records[0].block] * 3
    whole = json.dumps([lines, rows])
    for secret in (records[3].seed, records[3].match, str(of.seed), MATCH_KEY):
        assert secret not in whole


def test_bad_lines_and_files_without_matches_are_refused(lines: list[Line]) -> None:
    for change, field, what in (
        ({"moves": None}, "moves", "Expected `array`"),
        ({"format": "stich-match/2"}, "format", "--format matches"),
        ({"bots": ["ann"]}, "bots", "must have 3 entries"),
        ({"bots": ["x", "y", "z"]}, "bots", "are not those of block"),
        ({"seating": 0}, "match", "remove one"),
        ({"started": "2026-02-30T18:00:00Z"}, "started", "not a time in UTC, such as"),
        ({"started": "2026-02-28T18:00:00"}, "started", "not a time in UTC, such as"),
        ({"struck_out": [3]}, "struck_out", "from 0 to 2"),
        ({"forced": [0]}, "forced", "whose ms is null"),
        ({"info": {"9999": {"value": 1}}}, "info", "index of a move"),
        ({"bots": ["\x1b[2J", "böb", "cat"]}, "bots[0]", "control char"),
        ({"faults": [{"move": 9999, "kind": "illegal", "detail": ""}]}, "faults", "no time in ms"),
        ({"results": [{"scores": [1, 0, -1]}]}, "results", "of the deals"),  # of which declarer?
        ({"results": [{"declarer": 0, "scores": [[1], 0, 0]}]}, "results", "of the deals"),
        ({"options": {"deals": 0}}, "options", "is not that of the first line"),
        (NO_FAULTS | {"moves": ["play:3c"], "ms": [1]}, "moves", "move 0 (play:3c)"),
    ):
        changed = [lines[0], lines[1] | change, *lines[2:]]
        with pytest.raises(LineError, match=f"^bad:2: {re.escape(field)}: .*{re.escape(what)}"):
            MatchFile([json.dumps(line).encode() for line in changed], "bad")
    for text, what in (
        (b"", "there is no match"),
        (b"{", "1: line: is not JSON"),
        (b'{"block":0,"seating":0,"seat":0,"bot":"a","adjusted":4,"deals":1}', "--format matches"),
        (b'{"results":[{"x":' + b"[" * 100_000, "1: line: is not JSON"),
    ):
        with pytest.raises(LineError, match=what):
            MatchFile([text], "bad")


def test_a_match_of_a_file_is_found_by_a_part_of_any_id(lines: list[Line]) -> None:
    named = zip(("zebra", "zebra 2", "☃☃"), lines[:3], strict=True)
    file = MatchFile([json.dumps(line | {"match": name}).encode() for name, line in named], "file")
    for part, name in (("zebra", "zebra"), ("zebra ", "zebra 2"), ("☃", "☃☃")):
        assert file.match(part).match == name
    with pytest.raises(NoMatch, match="More than one"):
        file.match("zeb")


def test_verify_names_the_match_and_what_differs(lines: list[Line], tmp_path: Path) -> None:
    done = succeed("verify", write(tmp_path / "spring.jsonl", lines))
    for text in (f"{len(lines)} matches", "all agree", "A file shows neither signature"):
        assert text in done.stdout
    for change, code, says in (
        ({"scores": [99, 0, 0]}, 1, f"{lines[1]['match']}: The scores are"),
        ({"seating": 0}, 2, "spring.jsonl:2: match: "),
    ):
        changed = [lines[0], lines[1] | change, *lines[2:]]
        done = stich("verify", write(tmp_path / "spring.jsonl", changed))
        assert (done.returncode, says in done.stdout + done.stderr) == (code, True)


REQUIRED = [field.name for field in msgspec.structs.fields(Row) if field.required]


@pytest.fixture
def rows(tmp_path: Path) -> list[Line]:
    with run(tmp_path, cup()) as store:
        return exported(store, "jsonl")


def without_times(table: Standings) -> Line:
    """The table as JSON, without what rows have only as sums."""
    data = table.to_dict()
    for line in data["standings"]:
        del line["move_ms"], line["fallback"]
    return data


def read_back(rows: list[Line]) -> Standings:
    return standings(ExportedRows([json.dumps(row).encode() for row in rows], "rows.jsonl"))


def table(rows: list[Line]) -> Line:
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


def test_the_required_fields_in_any_order_are_enough(rows: list[Line]) -> None:
    few = read_back([{field: row[field] for field in REQUIRED} for row in rows[::-1]])
    assert few.standings[0].score == read_back(rows).standings[0].score
    assert (few.finished, few.ranges) == (False, "anytime")
    table = read_back([{**row, "fallbacks": 7} for row in rows])
    assert {line.fallback for line in table.standings} == {None}, "the number of moves is unknown"


def test_bad_rows_too_few_and_too_many_bots_are_refused(rows: list[Line]) -> None:
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
