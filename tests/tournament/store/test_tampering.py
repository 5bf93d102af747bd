"""Only the user's own commands write to a store: what others change is found out."""

import json
import shutil
import sqlite3
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from tests.support import played
from tests.support.cups import served_toys, stich, write
from tournament.config.parse import read_cup
from tournament.formats import Block
from tournament.formats.draws import draw
from tournament.formats.scores import Scores
from tournament.paths import KEY_FILE, STORE_FILE
from tournament.records import Disqualify, Pause, Void, Withdraw
from tournament.results.verify import verify
from tournament.run.resume import resume
from tournament.store import note as notes
from tournament.store import signing
from tournament.store.store import Store, StoreError

CHANGED = "was changed by another program, or is an older copy"


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The place of the signing key of a user who has none yet."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "stich" / KEY_FILE


@pytest.fixture(scope="module")
def under_way(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with faults, decisions and void matches that has not ended."""
    folder = tmp_path_factory.mktemp("under-way")
    of = played.cup(deals=2)
    with played.unfinished(folder, of, islice(played.played(of, {"cat": 5}), 8)) as store:
        first = next(store.summaries()).match
        store.decide(Void(why="A test.", block=1, matches=(first,)))
        store.decide(Withdraw(bot="cat"))
        store.void_finished([(first, 1, "A test.")])
    return folder


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("finished")
    with played.run(folder, played.cup(deals=2), {"cat": 5}) as store:
        for bot in ("cat", "bob"):
            store.decide(Disqualify(why="It is signed too.", bot=bot))
    return folder


@pytest.fixture(scope="module")
def cup(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The file of a cup whose bots are there."""
    with served_toys(3) as bots:
        yield write(tmp_path_factory.mktemp("cup"), bots, deals=2)


def copy(run: Path, tmp_path: Path) -> Path:
    return shutil.copytree(run, tmp_path / "run", dirs_exist_ok=True)


def change(run: Path, statements: str) -> None:
    """What a program of the same user can do."""
    with sqlite3.connect(run / STORE_FILE) as database:
        database.executescript(statements)
    database.close()


ONE = "(SELECT max(match) FROM matches WHERE faulty)"
CHANGES = {
    "summary": f"UPDATE matches SET summary = zeroblob(length(summary)) WHERE match = {ONE}",
    "type": f"UPDATE matches SET summary = 1000000000000000 WHERE match = {ONE}",
    "faults": "UPDATE matches SET faulty = NOT faulty",
    "block": "UPDATE blocks SET round = 2 WHERE id = 1",
    "order": "UPDATE matches SET entry = 99 WHERE entry IN (SELECT min(entry) FROM matches)",
    "moves": f"UPDATE details SET data = x'00' WHERE match = {ONE}",
    "no moves": f"DELETE FROM details WHERE match = {ONE}",
    "a match less": f"DELETE FROM matches WHERE match = {ONE}",
    "a fact": "UPDATE meta SET value = '\"x\"' WHERE key = 'seed'",
    "a fact more": "INSERT INTO meta VALUES ('x', '1', 2)",
    "a fact less": "DELETE FROM meta WHERE key = 'total'",
    "a block": "UPDATE blocks SET block = 7 WHERE id = 1",
    "a digest": "UPDATE entries SET digest = 'x' WHERE entry = 9",
    "an entry less": "DELETE FROM entries WHERE entry = 9",
    "a match without an entry": "DELETE FROM entries WHERE \"table\" = 'matches'",
    "a decision": "UPDATE decisions SET data = replace(data, 'cat', 'ann')",
    "a decision less": "DELETE FROM decisions WHERE id = 2",
    "a void match less": "DELETE FROM voids",
}


@pytest.mark.parametrize("statement", CHANGES.values(), ids=CHANGES)
def test_a_changed_store_is_refused_before_the_end(
    statement: str, under_way: Path, tmp_path: Path
) -> None:
    run = copy(under_way, tmp_path)
    with Store.open(run) as store:
        store.check()
    change(run, statement)
    with Store.open(run) as store, pytest.raises(StoreError, match=r"run\.sqlite: (was|is)") as why:
        store.check()
    assert "restore an intact copy" in str(why.value)


@pytest.mark.parametrize("statement", CHANGES.values(), ids=CHANGES)
def test_a_changed_store_is_found_by_verify_after_the_end(
    statement: str, finished: Path, tmp_path: Path
) -> None:
    run = copy(finished, tmp_path)
    with Store.open(run) as store:
        assert verify(store).mismatches == []
    change(run, "INSERT INTO voids VALUES (1, '{}', 2)" if "voids" in statement else statement)
    with Store.open(run) as store:
        assert not verify(store).verified


def test_a_run_that_has_ended_without_a_signature_is_not_verified(
    finished: Path, tmp_path: Path
) -> None:
    run = copy(finished, tmp_path)
    change(run, "DELETE FROM meta WHERE key = 'signature'")
    done = stich("verify", run)
    assert done.returncode == 1
    assert "The run has ended, but is not signed." in done.stdout


def test_what_was_changed_while_the_runner_played_is_not_signed(
    cup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of = played.cup()
    with played.unfinished(tmp_path, of, played.played(of)) as store:
        change(tmp_path, CHANGES["faults"])
        with pytest.raises(StoreError, match=CHANGED):
            store.finish()
        assert not store.run().finished


def test_forged_facts_do_not_pass_with_the_next_change(under_way: Path, tmp_path: Path) -> None:
    run = copy(under_way, tmp_path)
    change(run, CHANGES["a decision"])
    with Store.open(run) as store:
        store.record_total(7)
        with pytest.raises(StoreError, match=CHANGED):
            store.check()
    change(run, CHANGES["a fact"])
    with Store.open(run) as store, pytest.raises(StoreError, match=CHANGED):
        store._put(seed="y")


def test_an_older_copy_is_refused_unless_the_user_takes_it(cup: Path, tmp_path: Path) -> None:
    """One commit may be missing: whoever is killed has noted what was not committed any more."""
    run = tmp_path / "run"
    with Store.create(run) as store:
        resume(store, read_cup(cup))
    done = stich("run", cup, "--out", run)
    assert done.returncode == 0, done.stderr
    with Store.open(run) as store:
        records = list(store.matches())
    again = tmp_path / "again"
    copies = []
    with Store.create(again) as store:
        resume(store, read_cup(cup))
        for number, record in enumerate(records[:4]):
            copies.append((tmp_path / f"{number}.sqlite").as_posix())
            with sqlite3.connect(again / STORE_FILE) as database:
                database.execute("VACUUM INTO ?", [copies[-1]])
            database.close()
            store.add(record)
    shutil.copy(copies[-1], again / STORE_FILE)
    with Store.open(again) as store:
        store.check()
        assert store.count() == 3
    shutil.copy(copies[-2], again / STORE_FILE)
    done = stich("run", cup, "--out", again)
    assert done.returncode == 1
    assert CHANGED in done.stderr
    assert done.stderr.endswith(f"run: stich trust {again}\n")
    assert stich("trust", again).returncode == 0
    done = stich("run", cup, "--out", again)
    assert done.returncode == 0, done.stderr
    assert "2 of them done already" in done.stderr
    assert stich("verify", again).returncode == 0


def test_elsewhere_a_run_is_read_with_a_note(finished: Path, tmp_path: Path, key: Path) -> None:
    """By a user who has not made it, with and without a key of their own."""
    run = copy(finished, tmp_path)
    with sqlite3.connect(run / STORE_FILE) as database:
        query = "SELECT value FROM meta WHERE key = 'signer'"
        signer = json.loads(database.execute(query).fetchone()[0])
    database.close()
    for _ in range(2):
        done = stich("standings", run)
        assert done.returncode == 0
        assert f"is a run of the key {signer}, which is not yours" in done.stderr
        assert stich("verify", run).returncode == 0
        signing.make_key()
    assert stich("trust", signer[1:]).returncode == 2
    assert stich("trust", signer).returncode == 0
    done = stich("standings", run)
    assert (done.returncode, done.stderr) == (0, "")
    told = json.loads(stich("verify", run, "--json").stdout)
    assert (told["signer"], told["trusted"]) == (signer, True)
    assert stich("verify", run, "--key", signer).returncode == 0
    done = stich("verify", run, "--key", "00" * 32)
    assert done.returncode == 1
    assert f"the signer is {signer}" in done.stdout
    change(run, CHANGES["faults"])
    assert "The store does not hold what entry " in stich("verify", run).stdout


def test_elsewhere_a_run_is_resumed_once_it_is_taken_over(
    cup: Path, tmp_path: Path, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    with Store.create(run) as store:
        resume(store, read_cup(cup))
        store.decide(Pause())
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
    done = stich("resume", run)
    assert done.returncode == 1
    assert done.stderr.endswith(
        "was begun by another user or on another machine; to take it over as it is, run: stich"
        f" trust {run}\n"
    )
    assert stich("trust", run).returncode == 0
    assert stich("resume", run).returncode == 0
    assert stich("run", cup, "--out", run).returncode == 0
    done = stich("verify", run)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_store_of_another_version_is_refused_in_a_sentence(
    finished: Path, cup: Path, tmp_path: Path
) -> None:
    run = copy(finished, tmp_path)
    for version in ("2", "null", '"x"'):
        change(run, f"UPDATE meta SET value = '{version}' WHERE key = 'version'")
        for words in (("standings", run), ("run", cup, "--out", run), ("verify", run)):
            done = stich(*words)
            assert (done.returncode, done.stderr.count("\n")) == (1, 1)
            assert "written by another version of stich (store " in done.stderr


def test_the_key_and_the_note_are_the_users_alone(key: Path, tmp_path: Path) -> None:
    with Store.create(tmp_path / "run") as store:
        resume(store, played.cup())
        signer, run = store.run().signer, store.run().id
    note = key.parent / "runs" / run
    for path, mode in ((key, 0o600), (note, 0o600), (key.parent, 0o700), (note.parent, 0o700)):
        assert path.stat().st_mode & 0o777 == mode
    assert signing.make_key().public == signer
    key.chmod(0o644)
    with pytest.raises(StoreError, match="others can read the signing key; `chmod 600` it"):
        signing.make_key()
    key.chmod(0o600)
    key.write_text("rubbish")
    with pytest.raises(StoreError, match="not a signing key; restore it"):
        signing.make_key()
    note.write_text("rubbish")
    with pytest.raises(StoreError, match="restore it"):
        Store.open(tmp_path / "run")
    notes.forget(run)
    assert list(note.parent.iterdir()) == []


def test_a_run_needs_a_place_for_its_key(key: Path, cup: Path, tmp_path: Path) -> None:
    key.parent.parent.touch()
    done = stich("run", cup, "--out", tmp_path / "run")
    assert done.returncode == 1
    assert done.stderr.endswith("set XDG_STATE_HOME to a folder in which you can write.\n")
    assert done.stderr.count("\n") == 1


def test_without_a_home_there_is_no_place_for_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    def home() -> Path:
        raise RuntimeError

    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr(Path, "home", home)
    with pytest.raises(StoreError, match="no home folder for the signing key; set XDG_STATE_HOME"):
        signing.make_key()


def test_match_ids_tell_nothing_about_the_seed(key: Path, tmp_path: Path) -> None:
    """One seed has the same ids in every run of a user, and other ids for another user."""

    def blocks(name: str) -> list[Block]:
        with Store.create(tmp_path / name) as store:
            plan = resume(store, played.cup())
            (part,) = plan.rounds(store.run(), Scores(store))
        return list(part.blocks)

    mine = blocks("one")
    assert blocks("two") == mine
    key.unlink()
    for block, other in zip(mine, blocks("other user"), strict=True):
        assert (block.key, block.seeds) == (other.key, other.seeds)
        assert not set(block.matches) & set(other.matches)
        for number, match in enumerate(block.matches):
            assert match != draw("match", "2026-spring", block.key, str(number))[:16]


def test_nobody_else_reads_a_run_or_holds_its_lock(cup: Path, tmp_path: Path) -> None:
    assert stich("run", cup, "--out", tmp_path / "run").returncode == 0
    assert (tmp_path / "run").stat().st_mode & 0o777 == 0o700
    found = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "run").iterdir()}
    assert found.keys() >= {"run.sqlite", "run.lock"}
    assert set(found.values()) == {0o600}
