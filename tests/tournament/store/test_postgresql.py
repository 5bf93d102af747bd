import gc
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.tournament import played
from tests.support.tournament.cups import ROOT, served_toys, standings, stich, succeed, toys, write
from tests.support.tournament.moments import before_statement
from tests.support.tournament.store_records import record
from tournament.records import Pause
from tournament.run.resume import only_runner, resume
from tournament.store.engine import shown_target
from tournament.store.store import Store, StoreError

Act = Callable[[], None]
NO_URL = "not the URL of a PostgreSQL database"


def test_a_cup_runs_in_a_database_and_resumes(postgresql: str, tmp_path: Path) -> None:
    where = ("--store", postgresql)
    plain = tmp_path / "plain"
    with served_toys(3) as bots:
        succeed("run", write(tmp_path, bots, deals=1), *where)
        pages = ("--out", tmp_path / "tokens", "--port", 0, "--exit")
        done = succeed("arena", write(tmp_path, bots, deals=2), *where, *pages)
        assert "3 of them done already" in done.stderr
        for deals in (1, 2):
            succeed("run", write(tmp_path, bots, deals=deals), "--out", plain)
    assert standings(postgresql) == standings(plain)
    succeed("verify", postgresql)


def test_a_runner_reconnects_and_takes_its_lock(postgresql: str, end_connections: Act) -> None:
    with Store.create(postgresql) as store, Store.create(postgresql) as other, only_runner(store):
        store.add(record())
        end_connections()
        store.add(record(2))
        end_connections()
        assert store.decisions() == []
        store.finish()
        with pytest.raises(StoreError, match="another runner is at work"), only_runner(other):
            pass
        assert other.count() == 2
        assert other.is_signed()


@pytest.mark.filterwarnings("ignore:.*ServerCursor.* was deleted:ResourceWarning")
def test_a_runner_reads_on_after_a_lost_connection(
    postgresql: str, end_connections: Act, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tournament.store.engine._CHUNK", 1)
    with Store.create(postgresql) as store, only_runner(store):
        resume(store, played.cup())
        assert not store.run().stopped
        for block in (1, 2, 3):
            store.add(record(block))
        blocks = []
        for match in store.summaries():
            blocks.append(match.block)
            end_connections()
        assert blocks == [1, 2, 3]
        for read in (store.run, store.count):
            with before_statement(store._engine, 1) as changes:
                changes.append(end_connections)
                assert read()
                assert not changes
    gc.collect()  # the cursors of the lost connections, which would warn in a later test


@pytest.mark.parametrize("committed", [True, False])
def test_a_change_is_committed_once_if_its_answer_is_lost(
    postgresql: str, committed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.create(postgresql) as store, only_runner(store):
        store.add(record())
        dialect = store._engine.dialect
        commit = dialect.do_commit

        def lose_the_answer(connection: Any) -> None:
            monkeypatch.setattr(dialect, "do_commit", commit)
            if committed:
                commit(connection)
            connection.dbapi_connection.close()
            commit(connection)

        changes: dict[tuple[int, int, int], Act] = {
            (2, 0, 0): lambda: store.add(record(2)),
            (2, 1, 0): lambda: store.decide(Pause(why="Lunch.")),
            (1, 1, 1): lambda: store.void_finished([(record(2).match, 1, "Lunch.")]),
        }
        for after, change in changes.items():
            monkeypatch.setattr(dialect, "do_commit", lose_the_answer)
            change()
            assert (store.count(), len(store.decisions()), len(store.voids())) == after
        store.check()


def test_a_runner_without_the_lock_cannot_write(
    postgresql: str, end_connections: Act, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection that holds the lock is the one that writes, so a second runner is safe."""
    monkeypatch.setattr("tournament.store.writer._RETRY_S", 0)
    with Store.create(postgresql) as first, Store.create(postgresql) as second, only_runner(first):
        first.add(record())
        end_connections()
        with only_runner(second):
            for block in (2, 3):
                with pytest.raises(StoreError, match=r"run the command again|another runner"):
                    first.add(record(block))
            assert second.count() == 1
            second.add(record(4))
        assert first.count() == 2


def test_a_runner_waits_for_the_database(
    postgresql: str, end_connections: Act, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sockets, link = postgresql.partition("host=")[2], tmp_path / "s"
    url = postgresql.replace(sockets, str(link))
    monkeypatch.setattr("tournament.store.writer.sleep", lambda _s: link.symlink_to(sockets))
    sentences: list[str] = []
    with Store.create(url, sentences.append) as store, only_runner(store):
        store.add(record())
        link.unlink()
        end_connections()
        store.add(record(2))
        assert store.count() == 2
    waits, back = "Waiting for the database, ", "The database answers again."
    assert [sentence[: len(waits)] for sentence in sentences] == [waits, back[: len(waits)]] * 2
    assert "No such file or directory" in sentences[0]
    with pytest.raises(StoreError, match='role "nobody2" does not exist'):
        Store.create(re.sub("//[^@]*@", "//nobody2@", url), sentences.append)
    assert len(sentences) == 4, "waited for a database that has refused"


def test_an_unusable_target_is_an_error_without_password(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tournament.store.writer._RETRY_S", 0)
    cup = write(tmp_path, toys(3))
    for words, code, says in (
        ("sqlite:///x.db", 2, f"sqlite:///x.db: {NO_URL}; "),
        ("rubbish", 2, f"Invalid value for '--store': {NO_URL}"),
        ("postgresql://x/y --out z", 2, "--out and --store exclude each other; "),
        ("postgresql://me:s3cret@127.0.0.1:1/x", 1, "onnection"),
        ("postgresql://me@127.0.0.1:1/x?password=s3cret", 1, "onnection"),
        ("postgresql://me:s3cret@127.0.0.1:port/x", 2, NO_URL),
        ("postgresql://me:a@s3cret@127.0.0.1:1/x", 2, "in a password, write %40"),
    ):
        done = stich("run", cup, "--store", *words.split())
        assert (done.returncode, done.stderr[-2:]) == (code, ".\n")
        assert says in done.stderr
        assert "s3cret" not in done.stdout + done.stderr
        assert not (ROOT / "rubbish").exists()
    url = "postgresql://me:s3cret@h:5/x?sslmode=require&password=s3cret"
    assert shown_target(url) == "postgresql://me@h:5/x?sslmode=require"
    assert shown_target("runs/a:b@c") == "runs/a:b@c"
