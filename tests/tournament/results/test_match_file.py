"""A file of matches is read as the run that it came from; a line that cannot be used is refused."""

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import jsonschema
import pytest

from tests.support import make_schemas
from tests.support.cups import started, stich
from tests.support.played import MATCH_KEY, cup, exported, played, run, unfinished
from tournament.config.cup import FILE_FORMATS
from tournament.model import Identity
from tournament.records import Disqualify, MatchRecord
from tournament.results.standings import standings
from tournament.store.store import Store

Line = dict[str, Any]


def write(path: Path, lines: list[Line]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run with faults, seats that were struck out, and decisions."""
    folder = tmp_path_factory.mktemp("run")
    with run(folder, cup(("ann", "böb", "cat", "dan")), {"cat": 12}) as store:
        for version in ("1", "2"):
            store.record_about({"böb": Identity("Böb", version)})
        store.record_begun(store.count())
        store.decide(Disqualify(bot="dan", why="It attacked."))
    return folder


@pytest.fixture(scope="module")
def lines(finished: Path) -> list[Line]:
    with Store.open(finished) as store:
        return exported(store, "matches")


def test_the_schema_beside_the_page_is_that_of_the_lines(lines: list[Line]) -> None:
    schema = json.loads(make_schemas.MATCH.read_text("utf-8"))
    assert schema == make_schemas.schema(make_schemas.MATCH), (
        "run: python -m tests.support.make_schemas"
    )
    validator = jsonschema.Draft202012Validator(schema)
    for line in lines:
        validator.validate(line)
    assert any(line["faults"] for line in lines)
    assert any(line["struck_out"] for line in lines)
    assert not validator.is_valid({**lines[0], "block": "1"})


@pytest.mark.parametrize("options", ["", "--format decisions", "--format matches"])
def test_a_file_is_read_as_its_run(
    finished: Path, lines: list[Line], tmp_path: Path, options: str
) -> None:
    """Its bytes too, from a file and from standard input."""
    file = write(tmp_path / "spring.jsonl", lines)
    of_run = stich("export", finished, *options.split())
    of_file = stich("export", file, *options.split())
    of_input = stich("export", "-", *options.split(), input=file.read_text("utf-8"))
    assert (of_file.returncode, of_file.stderr) == (0, "")
    assert of_run.stdout == of_file.stdout == of_input.stdout
    assert of_file.stdout


def test_a_file_has_pages(lines: list[Line], tmp_path: Path) -> None:
    """Whose temporary folder is gone afterwards."""
    file = write(tmp_path / "spring.jsonl", lines)
    (tmp_path / "temporary").mkdir()
    served = started("arena", file, "--port", "0", TMPDIR=str(tmp_path / "temporary"))
    try:
        assert served.stderr is not None
        said = served.stderr.readline()
        url = re.search(r"http://\S+", said)
        assert url, said
        for path in ("", f"/matches/{lines[0]['match']}"):
            with urlopen(url[0] + path) as page:
                assert "böb" in page.read().decode()
    finally:
        served.terminate()
        served.communicate()
    assert list((tmp_path / "temporary").iterdir()) == []


@pytest.mark.parametrize("format", [name for name in FILE_FORMATS if name != "ladder"])
def test_standings_of_a_file_are_those_of_its_run(tmp_path: Path, format: str) -> None:
    of = cup([f"bot{i}" for i in range(7)], format=format, deals=2, seating="fixed")
    with run(tmp_path / "run", of) as store:
        expected = json.loads(json.dumps(standings(store).to_dict()))
        file = write(tmp_path / "spring.jsonl", exported(store, "matches"))
    found = json.loads(stich("standings", file, "--json").stdout)
    assert found == expected


def test_blocks_that_go_on_are_not_written(tmp_path: Path) -> None:
    of = cup()
    with unfinished(tmp_path, of) as store:
        records = list(played(of))
        for record in records[:4]:
            store.add(record)
        found = exported(store, "matches")
        rows = exported(store, "decisions")
    assert {line["block"] for line in found} == {records[0].block}
    assert len(found) == 3
    whole = json.dumps([found, rows])
    assert records[3].seed not in whole
    assert records[3].match not in whole
    assert (of.seed or "") not in whole
    assert MATCH_KEY not in whole


def spoil(lines: list[Line], change: Callable[[Line], Any]) -> list[Line]:
    """A copy of the lines whose second is changed."""
    copied: list[Line] = json.loads(json.dumps(lines))
    change(copied[1])
    return copied


@pytest.mark.parametrize(
    ("change", "field", "what"),
    [
        (lambda line: line.pop("moves"), "moves", "is missing"),
        (lambda line: line.update(format="stich-match/2"), "format", "--format matches"),
        (lambda line: line.update(game="skat"), "game", "is not that of the first line"),
        (lambda line: line.update(bots=["ann"]), "bots", "must have 3 entries"),
        (lambda line: line.update(bots=["x", "y", "z"]), "bots", "are not those of block"),
        (lambda line: line.update(seating=0), "match", "remove one"),
        (lambda line: line.update(scores=[2**40, 0, 0]), "scores[0]", "Expected `int`"),
        (lambda line: line.update(struck_out=[3]), "struck_out", "from 0 to 2"),
        (lambda line: line.update(forced=[0]), "forced", "whose ms is null"),
        (lambda line: line.update(info={"9999": {"value": 1}}), "info", "index of a move"),
        (lambda line: line.update(bots=["\x1b[2J", "böb", "cat"]), "bots[0]", "control char"),
        (lambda line: line.update(faults=[{"move": 9999, "kind": "illegal", "detail": ""}]),
         "faults", "no time in ms"),
        (lambda line: line["cup"].update(name="Other"), "cup", "is not that of the first line"),
        (lambda line: line["moves"].__setitem__(0, "play:3c"), "moves", "move 0 (play:3c)"),
    ],
)  # fmt: skip
def test_a_bad_line_is_refused(
    lines: list[Line], tmp_path: Path, change: Callable[[Line], Any], field: str, what: str
) -> None:
    """With its number, the field, and the fix."""
    file = write(tmp_path / "bad.jsonl", spoil(lines, change))
    done = stich("standings", file)
    assert done.returncode == 2
    assert done.stderr.startswith(f"{file}:2: {field}: ")
    assert what in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (b"", "there is no match"),
        (b"{", "1: line: is not JSON"),
        (b"[]", "1: line: Expected `object`"),
        (b'{"block":0,"seating":0,"seat":0,"bot":"a","adjusted":4,"deals":1}', "--format matches"),
        (b'{"results":[{"x":' + b"[" * 100_000, "1: line: is not JSON"),
    ],
)
def test_what_is_no_file_of_matches_is_refused(tmp_path: Path, text: bytes, what: str) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_bytes(text)
    done = stich("verify", file)
    assert done.returncode == 2
    assert what in done.stderr


def test_a_file_is_verified(lines: list[Line], tmp_path: Path) -> None:
    done = stich("verify", write(tmp_path / "spring.jsonl", lines))
    assert done.returncode == 0
    assert f"{len(lines)} matches" in done.stdout
    assert "all agree" in done.stdout
    assert "A file shows neither signature" in done.stdout


def test_verify_names_the_match_and_what_differs(lines: list[Line], tmp_path: Path) -> None:
    changed = spoil(lines, lambda line: line["scores"].__setitem__(0, 99))
    done = stich("verify", write(tmp_path / "spring.jsonl", changed))
    assert done.returncode == 1
    assert f"{changed[1]['match']}: The scores are" in done.stdout


def with_thoughts(record: MatchRecord) -> MatchRecord:
    """The match as if bots had said something beside their first moves."""
    return replace(record, info={0: {"comment": "hm", "value": 1.5}, 1: {"nodes": 48_000}})


def test_what_bots_said_travels(tmp_path: Path) -> None:
    of = cup()
    with unfinished(tmp_path / "run", of) as store:
        for record in played(of):
            store.add(with_thoughts(record))
        store.finish()
        first, *rest = exported(store, "matches")
        row = exported(store, "decisions")[0]
    assert first["info"] == {"0": {"comment": "hm", "value": 1.5}, "1": {"nodes": 48_000}}
    file = write(tmp_path / "spring.jsonl", [first, *rest])
    again = stich("export", file, "--format", "matches").stdout.splitlines()
    assert json.loads(again[0]) == first
    assert json.loads(row["info"]) == {"value": 1.5}
