import os
import random
import shutil
import subprocess
import sys
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from msgspec.json import encode as encode_json
from msgspec.msgpack import encode

from tests.support.tournament import played
from tests.support.tournament.cups import ROOT, stich
from tournament.records import Pause
from tournament.results.verify import verify
from tournament.store.store import Store, StoreError

NAMES = ["ann", "bob", "cat"]
FACTS = ("x", 1, 1, "", 0, 3, "seed", NAMES)
REST = ((), None, ((0, 0, 0, 0),) * 3)
SUMMARIES = [
    (*FACTS, NAMES, [0, 0, 0], [0, 0, 0], 1, *REST, [b"123"] * 3),
    (*FACTS, NAMES, [0, 0, 0], [0, 0, 0], 1 << 40, *REST, [b""] * 3),
    (*FACTS, ["ann"], [0, 0, 0], [0, 0, 0], 1, *REST, [b""] * 3),
    (*FACTS, NAMES, ["x", None, [[1]]], [0, 0, 0], 1, *REST, [b""] * 3),
    (*FACTS, ["\x1b[2J", "bob", "cat"], [0, 0, 0], [0, 0, 0], 1, *REST, [b""] * 3),
    (*FACTS[:3], "\x1b[2J", *FACTS[4:], NAMES, [0, 0, 0], [0, 0, 0], 1, *REST, [b""] * 3),
]


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("intact")
    played.run(folder, played.cup(deals=2), {"cat": 10}).close()
    return folder


@pytest.mark.parametrize("command", ["standings", "verify", "export", "integrity", "replay"])
def test_flipped_bits_and_overwritten_bytes(command: str, intact: Path, tmp_path: Path) -> None:
    """At random places, and in the headers of pages, which decide what is found."""
    with Store.open(intact) as store:
        match = next(store.summaries()).match
    words = (match, "--json") if command == "replay" else ()
    before = stich(command, intact, *words).stdout.replace(str(intact), "")
    whole = (intact / "run.sqlite").read_bytes()
    chance, pages = random.Random(command), range(0, len(whole), 4096)
    heads = [chance.choice(pages) + chance.randrange(8) for _ in range(8)]
    refused = 0
    # A flip at 0 is always noticed. Other places may be free.
    for place in sorted({0, *heads, *chance.sample(range(len(whole)), 8)}):
        run = shutil.copytree(intact, tmp_path / str(place))
        damaged = bytearray(whole)
        damaged[place] ^= 1 << chance.randrange(8)
        (run / "run.sqlite").write_bytes(damaged)
        done = stich(command, run, *words)
        if done.returncode == 0:
            assert command != "verify" or done.stdout.replace(str(run), "") == before, place
        else:
            refused += 1
            assert done.returncode == 1, place
            assert command == "verify" or done.stderr.count("\n") == 1, done.stderr
    assert refused


def test_a_limit_on_file_size_is_named_with_its_fix(intact: Path, tmp_path: Path) -> None:
    program = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))\n"
        "from pathlib import Path; from tests.support.tournament import played\n"
        "played.run(Path(sys.argv[1]), played.cup(deals=40))\n"
    )
    words = [sys.executable, "-c", program, str(tmp_path)]
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=False)
    assert "no file may be larger (`ulimit -f`); what was finished is kept." in done.stderr
    with Store.open(tmp_path) as store:
        assert all(store.summaries())


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE matches SET summary = 1000000000000000",
        *(f"UPDATE matches SET summary = x'{encode(summary).hex()}'" for summary in SUMMARIES),
        "UPDATE blocks SET seatings = 'x'",
        "UPDATE details SET data = x'00'",
        "UPDATE meta SET value = '[[1]]' WHERE key = 'config'",
        "UPDATE meta SET value = '-1' WHERE key = 'places'",
        "UPDATE meta SET value = replace(value, '\"ann\"', '\"\\ud800\"') WHERE key = 'config'",
        "UPDATE meta SET value = replace(value, '\"ann\"', '\"\\u001b\"') WHERE key = 'config'",
        "INSERT INTO decisions VALUES (1, '{}', 2)",
        "INSERT INTO voids VALUES (1, 'null', 2)",
    ],
)
def test_no_command_breaks_whatever_a_store_holds(
    statement: str, intact: Path, tmp_path: Path
) -> None:
    run = shutil.copytree(intact, tmp_path / "run")
    played.change(run, statement)
    for command in ("standings", "matches", "export", "report"):
        done = stich(command, run)  # raises what would be a traceback
        assert command == "export" or "\x1b[2" not in done.stdout
    done = stich("verify", run)
    assert (done.returncode, "\x1b[2" in done.stdout) == (1, False)


def test_a_small_row_does_not_fill_the_memory(intact: Path, tmp_path: Path) -> None:
    """Nor is a row read whose game or seat does not exist, or replayed with bots that do not."""
    run = shutil.copytree(intact, tmp_path / "run")
    with Store.open(run) as store:
        first = next(store.matches())
    bomb = b'"' + bytes(1 << 27) + b'"'
    skat, seat = replace(first, game="skat"), replace(first, struck=(9,))
    others = replace(first, seating=("x", "y", "z"))
    for data, says in (
        (bomb, "more than 67108864 bytes"),
        (encode_json(skat), "There is no game"),
        (encode_json(seat), "has no seat 9"),
        (encode_json(others), "has other bots"),
    ):
        played.change(run, f"UPDATE details SET data = x'{zlib.compress(data).hex()}'")
        assert says in stich("replay", run, first.match, "--faults").stderr


def test_a_run_is_read_where_nothing_can_be_written(
    intact: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = shutil.copytree(intact, tmp_path / "a run?")
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write everywhere
    with Store.open(run) as store:
        assert verify(store).verified
        assert [path.name for path in run.iterdir()] == ["run.sqlite"]
        with pytest.raises(StoreError, match="readonly database; check whose"):
            store.decide(Pause())


def test_a_decision_after_a_damaged_one_is_refused(intact: Path, tmp_path: Path) -> None:
    run = shutil.copytree(intact, tmp_path / "run")
    played.change(run, "INSERT INTO decisions VALUES (1, '{}', 2)")
    with Store.open(run) as store, pytest.raises(StoreError, match="is damaged"):
        store.decide(Pause())
