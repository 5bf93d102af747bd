import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import jsonschema
import pytest

from tests.support import make_schemas
from tests.support.tournament.cups import started, stich, succeed
from tests.support.tournament.played import MATCH_KEY, cup, exported, played, unfinished
from tournament.model import Identity
from tournament.records import Disqualify
from tournament.results.files.match_file import MatchFile
from tournament.results.files.match_lines import LineError
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
