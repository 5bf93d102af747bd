import json
import shutil
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from unittest.mock import Mock

import pytest

from tests.support.tournament import played
from tests.support.tournament.cups import served_toys, stich, succeed, write
from tests.support.tournament.played import change
from tournament.config.parse import read_cup
from tournament.formats import Block
from tournament.formats.scores import Scores
from tournament.formats.seeds import draw
from tournament.paths import KEY_FILE, STORE_FILE
from tournament.records import Disqualify, Pause, Void, Withdraw
from tournament.results.verify import verify
from tournament.run.resume import resume
from tournament.store import chain, signing
from tournament.store.store import Store, StoreError

CHANGED = "was changed by another program, or is an older copy"
ONE = "(SELECT max(match) FROM matches WHERE faulty)"
CHANGES = {
    "summary": f"UPDATE matches SET summary = zeroblob(length(summary)) WHERE match = {ONE}",
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


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "stich" / KEY_FILE


@pytest.fixture(scope="module")
def under_way(tmp_path_factory: pytest.TempPathFactory) -> Path:
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
    with served_toys(3) as bots:
        yield write(tmp_path_factory.mktemp("cup"), bots, deals=2)


def copy(run: Path, tmp_path: Path) -> Path:
    return shutil.copytree(run, tmp_path / "run", dirs_exist_ok=True)


@pytest.mark.parametrize("statement", CHANGES.values(), ids=CHANGES)
def test_a_changed_store_is_refused_and_not_verified(
    statement: str, under_way: Path, finished: Path, tmp_path: Path
) -> None:
    """Before the end the runner refuses the store, and after the end `verify` finds the change."""
    run = copy(under_way, tmp_path)
    change(run, statement)
    with Store.open(run) as store, pytest.raises(StoreError, match=r"run\.sqlite: (was|is)") as why:
        store.check()
    assert "restore an intact copy" in str(why.value)
    run = copy(finished, tmp_path)
    change(run, "INSERT INTO voids VALUES (1, '{}', 2)" if "voids" in statement else statement)
    with Store.open(run) as store:
        assert not verify(store).verified


def test_an_ended_run_without_a_signature_is_not_verified(finished: Path, tmp_path: Path) -> None:
    run = copy(finished, tmp_path)
    change(run, "DELETE FROM meta WHERE key = 'signature'")
    done = stich("verify", run)
    assert done.returncode == 1
    assert "The run has ended, but is not signed." in done.stdout


def test_a_changed_schema_is_not_verified(finished: Path, tmp_path: Path) -> None:
    run = copy(finished, tmp_path)
    for statement, says in (
        ("ALTER TABLE meta ADD COLUMN more", "table meta.more"),
        ("CREATE VIEW more AS SELECT 1 AS one", "view more.one"),
        ("CREATE TRIGGER alters BEFORE INSERT ON meta BEGIN SELECT 1; END", "trigger alters"),
        ("DROP INDEX ix_blocks_round", "index ix_blocks_round"),
    ):
        change(run, statement)
        assert f"its schema was changed, {says}.\n" in stich("verify", run).stdout


def test_a_store_changed_during_the_run_is_not_signed(tmp_path: Path) -> None:
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


def test_an_older_copy_is_refused_unless_the_user_takes_it(tmp_path: Path) -> None:
    """One commit may be missing: a process that is killed has noted it before."""
    of, run = played.cup(), tmp_path / "run"
    records = list(played.played(of))
    with played.unfinished(run, of) as store:
        for number, record in enumerate(records[:4]):
            store.copy_to(tmp_path / str(number))
            store.add(record)
    shutil.copy(tmp_path / "3", run / STORE_FILE)
    with Store.open(run) as store:
        store.check()
        assert store.count() == 3
    shutil.copy(tmp_path / "2", run / STORE_FILE)
    done = stich("pause", run)
    assert done.returncode == 1
    assert CHANGED in done.stderr
    assert done.stderr.endswith(f"run: stich trust {run}\n")
    succeed("trust", run)
    with Store.open(run) as store:
        for record in records[2:]:
            store.add(record)
        store.finish()
        assert verify(store).mismatches == []


def test_elsewhere_a_run_is_read_with_a_note(finished: Path, tmp_path: Path, key: Path) -> None:
    """By a user who has not made the run, first without a key and then with one."""
    run = copy(finished, tmp_path)
    with Store.open(run) as store:
        signer = store.run().signer
    for _ in range(2):
        note = f"is a run of the key {signer}, which is not yours"
        assert note in succeed("standings", run).stderr
        succeed("verify", run)
        signing.make_key()
    assert stich("trust", signer[1:]).returncode == 2
    succeed("trust", signer.upper())
    assert succeed("standings", run).stderr == ""
    facts = json.loads(succeed("verify", run, "--json").stdout)
    assert (facts["signer"], facts["trusted"]) == (signer, True)
    succeed("verify", run, "--key", signer)
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
    assert "was begun by another user or on another machine; to take it over" in done.stderr
    assert done.stderr.endswith(f" as it is, run: stich trust {run}\n")
    for words in (("trust", run), ("resume", run), ("run", cup, "--out", run)):
        succeed(*words)
    assert succeed("verify", run).stderr == ""


def test_a_store_of_another_version_is_refused_in_a_sentence(
    finished: Path, cup: Path, tmp_path: Path
) -> None:
    run = copy(finished, tmp_path)
    change(run, "UPDATE meta SET value = '2' WHERE key = 'version'")
    for words in (("run", cup, "--out", run), ("verify", run)):
        done = stich(*words)
        assert (done.returncode, done.stderr.count("\n")) == (1, 1)
        assert "written by another version of stich (store 2," in done.stderr


def test_the_key_and_the_note_are_the_users_alone(key: Path, tmp_path: Path) -> None:
    with Store.create(tmp_path / "run") as store:
        resume(store, played.cup())
        signer, run = store.run().signer, store.run().id
    note = key.parent / "runs" / run
    paths = (key, note, key.parent, note.parent)
    assert [path.stat().st_mode & 0o777 for path in paths] == [0o600, 0o600, 0o700, 0o700]
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
    chain.forget(run)
    assert list(note.parent.iterdir()) == []


def test_a_run_needs_a_place_for_its_key(key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    key.parent.parent.touch()
    with pytest.raises(StoreError, match="; set XDG_STATE_HOME to a folder in which"):
        signing.make_key()
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setattr(Path, "home", Mock(side_effect=RuntimeError))
    with pytest.raises(StoreError, match="no home folder for the signing key; set XDG_STATE_HOME"):
        signing.make_key()


def test_match_ids_do_not_reveal_the_seed(key: Path, tmp_path: Path) -> None:
    """One seed has the same ids in every run of a user, and others for another user."""

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
        from_seed = [draw("match", "2026-spring", block.key, str(i))[:16] for i in range(6)]
        assert not {*block.matches} & {*other.matches, *from_seed}


def test_only_the_user_can_read_a_run_and_hold_its_lock(cup: Path, tmp_path: Path) -> None:
    succeed("run", cup, "--out", tmp_path / "run")
    paths = (tmp_path / "run", *(tmp_path / "run").iterdir())
    modes = {path.name: path.stat().st_mode & 0o777 for path in paths}
    assert modes.pop("run") == 0o700
    assert modes.keys() >= {"run.sqlite", "run.lock"}
    assert set(modes.values()) == {0o600}
