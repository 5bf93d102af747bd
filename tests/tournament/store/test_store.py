"""The store: matches are atomic, in SQLite and in PostgreSQL."""

import gc
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from click.testing import CliRunner

from stich.cli import cli
from tests.tournament import played, postgres
from tests.tournament.cups import ROOT, served_toys, standings, stich, toys, write
from tests.tournament.moments import before_statement
from tournament.records import Answer, DecisionKind, FaultKind, FaultRecord, MatchRecord
from tournament.run.resume import only_runner
from tournament.store.engine import shown_target
from tournament.store.reader import StoreReader
from tournament.store.store import Store, StoreError

NAMES = ("ann", "böb", "cat")


@pytest.fixture(scope="session")
def postgresql() -> Iterator[str]:
    where = postgres.programs()
    if where is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    with postgres.server(where) as url:
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def target(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The location of a new store."""
    if request.param == "sqlite":
        return str(tmp_path / "run")
    url: str = request.getfixturevalue("postgresql")
    engine = sa.create_engine(url.replace("postgresql", "postgresql+psycopg", 1))
    with engine.begin() as connection:
        connection.execute(sa.text("DROP SCHEMA public CASCADE"))
        connection.execute(sa.text("CREATE SCHEMA public"))
    engine.dispose()
    return url


@pytest.fixture
def store(target: str) -> Iterator[Store]:
    with Store.create(target) as store:
        yield store


FAULTY = next(one for one in played.played(played.cup(NAMES), {"böb": 40}) if one.faults)


def fault(turn: int = 1, kind: FaultKind = FaultKind.TIMEOUT) -> FaultRecord:
    words: dict[str, Any] = {
        "detail": "Its output: \0 \ud800 ☃.",
        "answer": Answer(200, "X: \0", "\ud800", 3),
    }
    return replace(FAULTY.faults[0], seat=1, turn=turn, kind=kind, output="\0last words", **words)


def record(block: int = 1, number: int = 0, **fields: Any) -> MatchRecord:
    usual = replace(
        FAULTY,
        match=f"{block:08x}{number:08x}",
        block=block,
        key=f"block {block}",
        number=number,
        scores=(2, -1, -1),
        adjusted=(2, -1, -1),
        results=({"deal": 1, "scores": [2, -1, -1], "declarer": 0},),
        struck=(),
        faults=(),
        times=((1.5, 2.25), (), (3.0,)),
        outputs=("", "böb says \x1b[2J", ""),
        wall_ms=20.5,
        own_ms=1.25,
    )
    return replace(usual, **fields)


def test_a_match_comes_back_as_it_was(store: Store) -> None:
    one = record(
        faults=(fault(1), fault(2, FaultKind.ILLEGAL)), struck=(1,), times=((), (12.5, 1.0), ())
    )
    store.add(one)
    assert list(store.matches()) == [one]
    assert store.match(one.match) == one
    assert list(store.faults()) == [(one.match, each) for each in one.faults]
    (summary,) = store.summaries()
    assert summary.faults == ((0, 0, 0, 0), (1, 0, 0, 1), (0, 0, 0, 0))
    assert summary.sides == (0, 1, 1)
    assert [list(times) for times in summary.times] == [[], [1.0], []]
    for name in ("match", "block", "seating", "scores", "adjusted", "deals", "struck", "table"):
        assert getattr(summary, name) == getattr(one, name)


def test_what_bots_said_is_shown_once_the_block_is_complete(store: Store) -> None:
    said = {1: {"comment": "a \u2660", "nodes": 48000.0}, 3: {"value": -1.5}}
    for number in range(3):
        assert not any(match.info for match in store.matches())
        store.add(record(1, number, forced=(0, 2), info=said, info_full=(2,)))
    store.add(record(2, 0, info=said))
    found = list(store.matches())
    assert [match.info for match in found] == [said, said, said, {}]
    assert (found[0].forced, found[0].info_full) == ((0, 2), (2,))
    assert store.match(found[3].match).info == {}


def test_the_order_is_the_schedules_not_that_of_arrival(store: Store) -> None:
    for block, number in ((3, 1), (1, 2), (3, 0), (1, 0), (2, 2)):
        store.add(record(block, number))
    expected = [(1, 0), (1, 2), (2, 2), (3, 0), (3, 1)]
    assert [(match.block, match.number) for match in store.matches()] == expected
    assert [(match.block, match.number) for match in store.summaries()] == expected
    assert [(block.block, block.played) for block in store.blocks()] == [(1, 2), (2, 1), (3, 2)]
    store.grow({}, lambda block: 10 - block.block)
    assert [block.block for block in store.blocks()] == [7, 8, 9]
    assert [match.block for match in store.summaries()] == [7, 7, 8, 9, 9]


def test_a_match_is_not_added_twice(store: Store) -> None:
    store.add(record())
    for other in (
        record(scores=(0, 0, 0)),
        record(match="another"),
        record(block=7, match=record().match),
    ):
        with pytest.raises(StoreError, match=r"UNIQUE constraint|duplicate key"):
            store.add(other)
    assert store.count() == 1
    assert [block.block for block in store.blocks()] == [1]
    assert store.match(record().match).scores == (2, -1, -1)


def test_a_match_is_found_by_the_beginning_of_its_id(store: Store) -> None:
    store.add(record(1))
    store.add(record(2))
    assert store.match("00000002").block == 2
    for wrong, says in (("0000", "More than one"), ("%", "no match"), ("_", "no match")):
        with pytest.raises(StoreError, match=says):
            store.match(wrong)


READS: dict[str, Callable[[StoreReader], object]] = {
    "decisions": lambda reader: reader.decisions(),
    "facts": lambda reader: reader.facts(),
    "faults": lambda reader: list(reader.faults()),
    "is_signed": lambda reader: reader.is_signed(),
    "match": lambda reader: reader.match(record(2).match),
    "matches": lambda reader: list(reader.matches()),
    "summaries": lambda reader: [one.match for one in reader.summaries()],
    "voids": lambda reader: [one.match for one in reader.voids()],
}


def read_all(reader: StoreReader) -> object:
    with reader.snapshot() as now:
        return [read(now) for read in READS.values()]


@pytest.mark.parametrize(
    "read", [*READS.values(), read_all], ids=[*READS, "everything in a snapshot"]
)
def test_what_a_reader_reads_is_of_one_moment(
    store: Store, target: str, read: Callable[[StoreReader], object]
) -> None:
    """A match becomes void, and the organiser decides something, before each statement of the
    reader."""
    first, *rest = (record(1, number, faults=(fault(1), fault(2))) for number in range(3))
    store.put({})
    for one in (first, *rest, record(2)):
        store.add(one)
    happened = 1
    while happened:
        happened = 0
        with StoreReader.open(target) as reader:
            before = read(reader)
            with before_statement(reader._engine, moment := len(store.voids()) + 1) as changes:
                changes.append(lambda: store.decide(DecisionKind.VOID, "", matches=[first.match]))
                changes.append(lambda: store.void_finished([(first.match, moment, "")]))
                found = read(reader)
                happened = not changes
            assert found in (before, read(reader)), moment
        if happened:
            store.add(first)
    assert moment > 1


def test_of_two_decisions_at_once_one_waits(store: Store, target: str) -> None:
    store.put({})
    with Store.open(target) as other:
        rival = threading.Thread(target=lambda: other.decide(DecisionKind.RESUME, "Second."))
        waiting = sa.text("SELECT count(*) FROM pg_locks WHERE NOT granted")

        def let_the_rival_begin(
            _connection: object, _cursor: object, text: str, *_: object
        ) -> None:
            if text.startswith("INSERT INTO decisions"):
                rival.start()
                with store._engine.connect() as connection:
                    while store.folder is None and not connection.execute(waiting).scalar():
                        connection.rollback()

        sa.event.listen(store._engine, "before_cursor_execute", let_the_rival_begin)
        store.decide(DecisionKind.PAUSE, "First.")
        rival.join()
    assert [one.why for one in store.decisions()] == ["First.", "Second."]


def test_a_decision_knows_how_many_matches_had_ended(store: Store) -> None:
    store.add(record())
    store.decide(DecisionKind.PAUSE, "Lunch.")
    store.add(record(number=1))
    store.decide(DecisionKind.RESUME, "")
    assert [(one.number, one.after) for one in store.decisions()] == [(1, 1), (2, 2)]


def test_facts_are_set_all_or_none(store: Store) -> None:
    store.put({"name": "☃", "finished": False})
    store.put({"finished": True})
    assert store.facts().items() >= {"name": "☃", "finished": True}.items()
    with pytest.raises(TypeError):
        store.put({"name": "x", "finished": object()})
    assert store.get("name") == "☃"


def test_there_is_one_runner(target: str) -> None:
    with (
        Store.create(target) as first,
        Store.create(target) as second,
        only_runner(first),
    ):
        first.add(record())
        with pytest.raises(StoreError, match="another runner is at work"), only_runner(second):
            pass
        assert second.count() == 1
    with Store.open(target) as third, only_runner(third):
        pass


@pytest.mark.parametrize("target", ["postgresql"], indirect=True)
def test_a_cup_runs_in_it_and_resumes(target: str, tmp_path: Path) -> None:
    where = ("--store", target)
    plain = tmp_path / "plain"
    with served_toys(3) as bots:
        assert stich("run", write(tmp_path, bots, deals=1), *where).returncode == 0
        pages = ("--out", tmp_path / "tokens", "--port", 0, "--exit")
        done = stich("arena", write(tmp_path, bots, deals=2), *where, *pages)
        assert done.returncode == 0, done.stderr
        assert "3 of them done already" in done.stderr
        for deals in (1, 2):
            cup = write(tmp_path, bots, deals=deals)
            assert stich("run", cup, "--out", plain).returncode == 0
    assert standings(target) == standings(plain)
    assert stich("verify", target).returncode == 0


def test_reading_does_not_make_a_run(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no run here"):
        Store.open(tmp_path / "nothing")
    assert not (tmp_path / "nothing").exists()


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ("mysql://x", "not the URL of a PostgreSQL database"),
        ("postgresql://x:port/name", "not the URL of a PostgreSQL database"),
        ("postgresql://nobody@127.0.0.1:1/x", "onnection"),
    ],
)
def test_a_missing_database_is_reported_in_a_sentence(where: str, says: str) -> None:
    with pytest.raises(StoreError, match=says) as error:
        Store.create(where)
    assert str(error.value).endswith(".")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--store", "sqlite:///x.db"), "sqlite:///x.db: not the URL of a PostgreSQL database; "),
        (("--store", "rubbish"), "Invalid value for '--store': not the URL of a PostgreSQL "),
        (("--store", "postgresql://x/y", "--out", "z"), "--out and --store exclude each other; "),
    ],
)
def test_what_is_not_a_store_is_a_usage_error(
    words: tuple[str, ...], says: str, tmp_path: Path
) -> None:
    done = CliRunner().invoke(cli, ["run", str(write(tmp_path, toys(3))), *words])
    assert done.exit_code == 2
    assert says in done.stderr
    assert not (ROOT / "rubbish").exists()


def end_connections(target: str) -> None:
    engine = sa.create_engine(target.replace("postgresql", "postgresql+psycopg", 1))
    # Within a minute: without a time, it would not wait until they have ended.
    ends = "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity"
    ends += " WHERE pid <> pg_backend_pid() AND datname IS NOT NULL"
    with engine.connect() as other:
        other.execute(sa.text(ends))
    engine.dispose()


@pytest.mark.parametrize("target", ["postgresql"], indirect=True)
def test_a_runner_connects_again_and_has_its_lock_again(target: str) -> None:
    with Store.create(target) as store, Store.create(target) as other, only_runner(store):
        store.add(record())
        end_connections(target)
        store.add(record(2))
        end_connections(target)
        assert store.decisions() == []
        store.put({"finished": True})
        with pytest.raises(StoreError, match="another runner is at work"), only_runner(other):
            pass
        assert other.count() == 2
        assert other.is_signed()


@pytest.mark.filterwarnings("ignore:.*ServerCursor.* was deleted:ResourceWarning")
@pytest.mark.parametrize("target", ["postgresql"], indirect=True)
def test_a_runner_that_loses_the_connection_while_it_reads_goes_on(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tournament.store.reader._CHUNK", 1)
    with Store.create(target) as store, only_runner(store):
        for block in (1, 2, 3):
            store.add(record(block))
        blocks = []
        for match in store.summaries():
            blocks.append(match.block)
            end_connections(target)
        assert blocks == [1, 2, 3]
        for read in (store.facts, store.count):
            with before_statement(store._engine, 1) as changes:
                changes.append(partial(end_connections, target))
                assert read()
                assert not changes
    gc.collect()  # the cursors of the lost connections, which would warn in a later test


@pytest.mark.parametrize("target", ["postgresql"], indirect=True)
@pytest.mark.parametrize("committed", [True, False])
def test_a_commit_of_unknown_outcome_is_done_once(
    target: str, committed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Store.create(target) as store, only_runner(store):
        store.add(record())
        dialect = store._engine.dialect
        commit = dialect.do_commit

        def lose_the_answer(connection: Any) -> None:
            monkeypatch.setattr(dialect, "do_commit", commit)
            if committed:
                commit(connection)
            connection.dbapi_connection.close()
            commit(connection)

        changes: dict[tuple[int, int, int], Callable[[], None]] = {
            (2, 0, 0): lambda: store.add(record(2)),
            (2, 1, 0): lambda: store.decide(DecisionKind.PAUSE, "Lunch."),
            (1, 1, 1): lambda: store.void_finished([(record(2).match, 1, "Lunch.")]),
        }
        for after, change in changes.items():
            monkeypatch.setattr(dialect, "do_commit", lose_the_answer)
            change()
            assert (store.count(), len(store.decisions()), len(store.voids())) == after
        store.check()


@pytest.mark.parametrize("name", ["cup?1", "cup#1", "cup%201", "a&b=c@d:1", "Schafkopf öß ☃"])
def test_a_folder_may_have_any_name(tmp_path: Path, name: str) -> None:
    for folder, block in ((tmp_path / name, 1), (tmp_path / f"{name}2", 2)):
        with Store.create(folder) as store:
            store.add(record(block))
        assert (folder / "run.sqlite").is_file()
    with Store.open(tmp_path / name) as store:
        assert [match.block for match in store.matches()] == [1]


def test_a_file_that_is_no_store_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "run.sqlite").write_text("This is no database, only a file of that name. " * 50)
    with pytest.raises(StoreError, match="not a database; restore an intact copy"):
        Store.open(tmp_path)


def test_a_file_where_the_folder_should_be_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be created: File exists; name a folder"):
        Store.create(tmp_path / "file")


@pytest.mark.parametrize("target", ["postgresql"], indirect=True)
def test_a_runner_that_has_lost_the_lock_to_another_writes_no_more(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection that holds the lock is the one that writes, so a second runner is safe."""
    monkeypatch.setattr("tournament.store.store._RETRY_S", 0)
    with Store.create(target) as first, Store.create(target) as second, only_runner(first):
        first.add(record())
        end_connections(target)
        with only_runner(second):
            for block in (2, 3):
                with pytest.raises(StoreError, match=r"run the command again|another runner"):
                    first.add(record(block))
            assert second.count() == 1
            second.add(record(4))
        assert first.count() == 2


def test_no_message_of_a_run_shows_a_password(tmp_path: Path) -> None:
    cup = write(tmp_path, toys(3))
    for url in (
        "postgresql://me:s3cret@127.0.0.1:1/x",
        "postgresql://me@127.0.0.1:1/x?password=s3cret",
        "me:s3cret@127.0.0.1:1/x",
        "postgresql://me:s3cret@127.0.0.1:port/x",
        "postgresql://me:a@s3cret@127.0.0.1:1/x",
    ):
        done = stich("run", cup, "--store", url)
        assert done.returncode in (1, 2)
        assert done.stderr
        assert "s3cret" not in done.stdout + done.stderr
    assert shown_target("postgresql://me:s3cret@h:5/x?sslmode=require&password=s3cret") == (
        "postgresql://me@h:5/x?sslmode=require"
    )
    assert shown_target("runs/a:b@c") == "runs/a:b@c"
