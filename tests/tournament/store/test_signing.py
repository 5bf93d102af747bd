"""Only the runner adds to a store: every reader refuses and names what others write."""

import json
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.tournament import played
from tests.tournament.cups import served_toys, standings, stich, write
from tournament.config import read_cup
from tournament.formats import Block
from tournament.formats.draws import draw
from tournament.formats.round_scores import RoundScores
from tournament.paths import KEY_FILE
from tournament.records import MatchRecord
from tournament.run.resume import resume
from tournament.store import signing
from tournament.store.store import Store, StoreError

READERS = ("standings", "matches", "verify", "export", "report", "integrity")
NAMED = "match {} was not written by the runner of this run, or has been changed since"


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The place of a signing key, which is not there yet."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "stich" / KEY_FILE


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A cup and its finished run, whose bots are still there."""
    folder = tmp_path_factory.mktemp("signed")
    with served_toys(3) as bots:
        done = stich("run", write(folder, bots, deals=2), "--out", folder / "run")
        assert done.returncode == 0, done.stderr
        yield folder


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """A copy of the run, to be changed."""
    return shutil.copytree(finished / "run", tmp_path / "run")


def change(run: Path, statement: str, *values: object) -> None:
    """What a bot of the same user can do."""
    with sqlite3.connect(run / "run.sqlite") as database:
        database.execute(statement, values)
    database.close()


def first(run: Path) -> str:
    with Store.open(run) as store:
        return next(store.summaries()).match


CHANGES = {
    "score": "UPDATE matches SET scores = '[9,-4,-5]', adjusted = '[9,-4,-5]' WHERE match = ?",
    "seating": "UPDATE matches SET seating = '[0,0,0]' WHERE match = ?",
    "type": "UPDATE matches SET deals = x'00' WHERE match = ?",
    "times": "UPDATE matches SET times = x'00' WHERE match = ?",
    "block": "UPDATE blocks SET round = 2 WHERE id = (SELECT block_id FROM matches WHERE match=?)",
    "other block": "UPDATE matches SET block_id = 3 - block_id, number = 7 WHERE match = ?",
    "no proof": "DELETE FROM signatures WHERE match = ?",
    "proof of another": (
        "UPDATE signatures SET (sequence, details, mac, signature) = (SELECT sequence, details,"
        " mac, signature FROM signatures WHERE match <> ?1) WHERE match = ?1"
    ),
    "no MAC": "UPDATE signatures SET mac = x'', signature = x'' WHERE match = ?",
}


@pytest.mark.parametrize("statement", CHANGES.values(), ids=CHANGES)
def test_a_changed_match_is_refused_and_named(run: Path, statement: str) -> None:
    match = first(run)
    change(run, statement, match)
    for command in READERS:
        done = stich(command, run)
        assert done.returncode == 1
        assert NAMED.format(match) in done.stdout + done.stderr
    assert NAMED.format(match) in stich("replay", run, match).stderr


@pytest.mark.parametrize("table", ["details", "faults"])
def test_changed_moves_are_refused_and_named(run: Path, table: str) -> None:
    match = first(run)
    if table == "details":
        other = "(SELECT data FROM details WHERE match <> ?1 LIMIT 1)"
        change(run, f"UPDATE details SET data = {other} WHERE match = ?1", match)
    else:
        change(run, "INSERT INTO faults VALUES (?, 0, 1, 'timeout', '', x'')", match)
    for done in (stich("verify", run), stich("replay", run, match), stich("report", run)):
        assert done.returncode == 1
        assert NAMED.format(match) in done.stdout + done.stderr


def test_verify_names_every_match_that_was_changed(run: Path) -> None:
    """In its result, in its moves, in its faults; it names no other."""
    with Store.open(run) as store:
        ids = [summary.match for summary in store.summaries()]
    score, moves, fault = changed = ids[0], ids[2], ids[-1]
    change(run, CHANGES["score"], score)
    change(run, "UPDATE details SET data = x'00' WHERE match = ?", moves)
    change(run, "INSERT INTO faults VALUES (?, 0, 1, 'timeout', '', x'')", fault)
    found = json.loads(stich("verify", run, "--json").stdout)
    assert not found["verified"]
    assert tuple(problem["match"] for problem in found["problems"]) == changed
    for problem in found["problems"]:
        assert NAMED.format(problem["match"]) in problem["detail"]


@pytest.mark.parametrize("sequence", [0, 5])
def test_a_missing_match_is_noticed(run: Path, sequence: int) -> None:
    """The first or the last one that was written."""
    which = "match = (SELECT match FROM signatures WHERE sequence = ?)"
    change(run, f"UPDATE matches SET block_id = 99 WHERE {which}", sequence)
    for command in READERS:
        done = stich(command, run)
        assert done.returncode == 1
        assert "1 of the matches that the runner wrote are missing" in done.stdout + done.stderr


@pytest.mark.parametrize("fact", ["seed", "places", "finished", "config", "signer", "proofs"])
def test_changed_facts_are_refused(run: Path, fact: str) -> None:
    change(run, 'UPDATE meta SET value = \'["00", "00"]\' WHERE key = ?', fact)
    for command in READERS:
        done = stich(command, run)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.count("\n") == 1
        assert "what it says about the run was not written by its runner" in done.stderr or (
            fact == "signer" and "is signed by the key" in done.stderr
        )


def test_it_does_not_pass_for_a_store_without_signatures(run: Path) -> None:
    change(run, "UPDATE meta SET value = '1' WHERE key = 'version'")
    assert stich("standings", run).returncode == 1


def legal_match(finished: Path, folder: Path, at: int) -> MatchRecord:
    """A match of the cup as the runner would play it, its scores exchanged."""
    with Store.open(finished / "run") as store:
        record = list(store.matches())[at]
    return replace(record, scores=record.scores[::-1], adjusted=record.adjusted[::-1])


def forge(run: Path, record: MatchRecord, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write a match as a whole, with the program itself but another key."""
    with monkeypatch.context() as patch:
        patch.setattr("tournament.store.store.make_key", lambda: signing.SigningKey(b"x" * 32))
        patch.setattr("tournament.store.provenance.Provenance.check_writer", lambda *_: None)
        with Store.open(run) as store:
            store.add(record)


def test_a_match_that_was_forged_before_a_run_is_named_by_it(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, cup = tmp_path / "run", finished / "cup.toml"
    with Store.create(run) as store:
        resume(store, read_cup(cup))
    forged = legal_match(finished, run, 4)
    forge(run, forged, monkeypatch)
    for words in (("run", cup, "--out", run), ("standings", run), ("verify", run)):
        done = stich(*words)
        assert done.returncode == 1
        assert NAMED.format(forged.match) in done.stdout + done.stderr


def test_a_match_that_is_forged_during_a_run_is_named_by_it(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The runner does not look again which matches are finished, and then meets it."""
    run, cup = tmp_path / "run", finished / "cup.toml"
    forged = legal_match(finished, run, 5)
    add = Store.add

    def add_after_forger(store: Store, record: MatchRecord) -> None:
        monkeypatch.setattr(Store, "add", add)
        forge(run, forged, monkeypatch)
        store.add(record)

    monkeypatch.setattr(Store, "add", add_after_forger)
    done = stich("run", cup, "--out", run)
    assert done.returncode == 1
    assert f"match {forged.match} is in the store, but this runner did not write it" in done.stderr
    assert NAMED.format(forged.match) in stich("standings", run).stderr


def test_a_match_of_another_run_of_the_same_user_is_refused(finished: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    with Store.create(run) as store:
        resume(store, read_cup(finished / "cup.toml"))
    with sqlite3.connect(run / "run.sqlite") as database:
        database.execute("ATTACH ? AS other", [str(finished / "run" / "run.sqlite")])
        for table in ("blocks", "matches", "details", "signatures"):
            database.execute(f"INSERT INTO {table} SELECT * FROM other.{table}")
    database.close()
    assert NAMED.format(first(finished / "run")) in stich("standings", run).stderr


def test_the_key_is_the_users_alone(key: Path, tmp_path: Path) -> None:
    with Store.create(tmp_path / "run") as store:
        store.put({})
        signer = store.get("signer")
    assert (key.stat().st_mode & 0o777, key.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    assert signing.make_key().public == signer
    assert [path.name for path in key.parent.iterdir()] == [KEY_FILE]
    key.chmod(0o644)
    with pytest.raises(StoreError, match="others can read the signing key; `chmod 600` it"):
        Store.open(tmp_path / "run")
    key.chmod(0o600)
    key.write_text("rubbish")
    with pytest.raises(StoreError, match="not a signing key; restore it"):
        Store.open(tmp_path / "run")


def test_a_run_needs_a_place_for_its_key(key: Path, finished: Path, tmp_path: Path) -> None:
    key.parent.parent.touch()
    done = stich("run", finished / "cup.toml", "--out", tmp_path / "run")
    assert done.returncode == 1
    assert done.stderr.endswith("set XDG_STATE_HOME to a folder in which you can write.\n")
    assert done.stderr.count("\n") == 1


def test_without_a_home_there_is_no_place_for_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    def home() -> Path:
        raise RuntimeError

    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr(Path, "home", home)
    with pytest.raises(StoreError, match="no home folder for the signing key; set XDG_STATE_HOME"):
        signing.own_key()


def test_elsewhere_a_run_is_checked_with_its_public_key(
    finished: Path, run: Path, key: Path
) -> None:
    """On a machine without a key, and on one with another key."""
    done = stich("standings", run)
    assert done.returncode == 0
    with sqlite3.connect(run / "run.sqlite") as database:
        query = "SELECT value FROM meta WHERE key = 'signer'"
        signer = json.loads(database.execute(query).fetchone()[0])
    database.close()
    assert f"is signed by the key {signer}. This machine has no key" in done.stderr
    assert stich("verify", run).returncode == 0
    signing.make_key()
    done = stich("standings", run)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.endswith(f"run: stich trust {signer}\n")
    assert stich("trust", signer[1:]).returncode == 2
    assert stich("trust", signer).returncode == 0
    done = stich("standings", run)
    assert (done.returncode, done.stderr) == (0, "")
    assert stich("run", finished / "cup.toml", "--out", run).stdout.endswith(f"key {signer}\n")
    more = key.parents[2] / "more.toml"
    more.write_text((finished / "cup.toml").read_text().replace("deals = 2", "deals = 3"))
    refused = stich("run", more, "--out", run)
    assert refused.returncode == 1
    assert f"was begun with another signing key, {signer}; to resume it here" in refused.stderr
    match = json.loads(stich("matches", run, "--json").stdout.splitlines()[0])["match"]
    change(run, CHANGES["score"], match)
    assert NAMED.format(match) in stich("standings", run).stderr


def test_a_store_of_version_0_2_0_is_read_with_a_warning(finished: Path, run: Path) -> None:
    change(run, "DROP TABLE signatures")
    change(run, "DELETE FROM meta WHERE key IN ('run', 'signer', 'proofs')")
    change(run, "UPDATE meta SET value = '1' WHERE key = 'version'")
    done = stich("standings", run, "--json")
    assert done.returncode == 0
    assert done.stderr.startswith(f"Warning: {run / 'run.sqlite'} was written by stich 0.2.0")
    assert standings(run) == standings(finished / "run")
    for words in (("matches", run), ("verify", run), ("replay", run, first(run)), ("export", run)):
        assert stich(*words).returncode == 0
    done = stich("run", finished / "cup.toml", "--out", run)
    assert (done.returncode, done.stderr.count("Warning: ")) == (0, 1)
    change(run, "UPDATE meta SET value = 'false' WHERE key = 'finished'")
    done = stich("run", finished / "cup.toml", "--out", run)
    assert done.returncode == 1
    assert "was begun by stich 0.2.0, which did not sign results" in done.stderr


def test_match_ids_tell_nothing_about_the_seed(key: Path, tmp_path: Path) -> None:
    """One seed has the same ids in every run of a user, and other ids for another user."""

    def blocks(name: str) -> list[Block]:
        with Store.create(tmp_path / name) as store:
            _, schedule = resume(store, played.cup())
            (part,) = schedule.rounds(RoundScores(store))
        return list(part.blocks)

    mine = blocks("one")
    assert blocks("two") == mine
    key.unlink()
    for block, other in zip(mine, blocks("other user"), strict=True):
        assert (block.key, block.seed) == (other.key, other.seed)
        assert not set(block.matches) & set(other.matches)
        for number, match in enumerate(block.matches):
            assert match != draw("match", "2026-spring", block.key, str(number))[:16]
