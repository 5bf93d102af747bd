import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tests.support.tournament import played
from tests.support.tournament.moments import before_statement
from tests.support.tournament.store_records import NAMES, fault, record
from tournament.model import Identity
from tournament.records import Epoch, FaultKind, Pause, Resume, Void
from tournament.run.resume import only_runner
from tournament.store.reader import StoreReader
from tournament.store.store import Store, StoreError

READS: dict[str, Callable[[StoreReader], object]] = {
    "run": lambda reader: reader.run(),
    "is_signed": lambda reader: reader.is_signed(),
    "match": lambda reader: reader.match(record(2).match),
    "matches": lambda reader: list(reader.matches()),
    "summaries": lambda reader: [match.match for match in reader.summaries()],
}


def test_a_match_comes_back_as_it_was(store: Store) -> None:
    faults = (fault(1), fault(2, FaultKind.ILLEGAL))
    written = record(faults=faults, struck=(1,), times=((), (12.5, 1.0), ()))
    store.add(written)
    assert list(store.matches()) == [store.match(written.match)] == [written]
    (summary,) = store.summaries()
    assert summary.faults == ((0, 0, 0, 0), (1, 0, 0, 1), (0, 0, 0, 0))
    assert summary.sides == (0, 1, 1)
    assert [list(times) for times in summary.times] == [[], [1.0], []]
    for name in ("match", "block", "seating", "scores", "adjusted", "deals", "struck", "table"):
        assert getattr(summary, name) == getattr(written, name)


def test_information_is_shown_once_the_block_is_complete(store: Store) -> None:
    info = {1: {"comment": "a \u2660", "nodes": 48000.0}, 3: {"value": -1.5}}
    for number in range(3):
        assert not any(match.info for match in store.matches())
        store.add(record(1, number, forced=(0, 2), info=info, info_full=(2,)))
    store.add(record(2, 0, info=info))
    matches = list(store.matches())
    assert [match.info for match in matches] == [info, info, info, {}]
    assert (matches[0].forced, matches[0].info_full) == ((0, 2), (2,))
    assert store.match(matches[3].match).info == {}


def test_matches_are_in_the_schedules_order(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    for block, number in ((3, 1), (1, 2), (3, 0), (1, 0), (2, 2)):
        store.add(record(block, number))
    expected = [(1, 0), (1, 2), (2, 2), (3, 0), (3, 1)]
    assert [(match.block, match.number) for match in store.matches()] == expected
    assert [(match.block, match.number) for match in store.summaries()] == expected
    assert [(block.block, block.played) for block in store.blocks()] == [(1, 2), (2, 1), (3, 2)]
    of = played.cup()
    grown = played.plan(of)
    monkeypatch.setattr(grown, "number", lambda block: 10 - block.block)
    store.grow(of, grown)
    assert [block.block for block in store.blocks()] == [7, 8, 9]
    assert [match.block for match in store.summaries()] == [7, 7, 8, 9, 9]


def test_a_match_is_added_once_and_found_by_its_id_or_a_part(store: Store) -> None:
    store.add(record())
    match = record().match
    for other in (record(scores=(0, 0, 0)), record(match="another"), record(7, match=match)):
        with pytest.raises(StoreError, match=r"UNIQUE constraint|duplicate key"):
            store.add(other)
    assert (store.count(), [block.block for block in store.blocks()]) == (1, [1])
    assert store.match(match).scores == (2, -1, -1)
    store.add(record(2))
    assert store.match("00000002").block == 2
    for wrong, says in (("0000", "More than one"), ("%", "no match"), ("_", "no match")):
        with pytest.raises(StoreError, match=says):
            store.match(wrong)


def read_all(reader: StoreReader) -> object:
    with reader.snapshot() as now:
        return [read(now) for read in READS.values()]


@pytest.mark.parametrize("read", [*READS.values(), read_all], ids=[*READS, "all in a snapshot"])
def test_a_reader_reads_the_store_as_of_one_moment(
    store: Store, target: str, read: Callable[[StoreReader], object]
) -> None:
    """Before each statement of the reader, a match becomes void and the organiser decides."""
    first, *rest = (record(1, number, faults=(fault(1), fault(2))) for number in range(3))
    store.begin(played.cup(NAMES), "seed", "key", None, 24)
    for match in (first, *rest, record(2)):
        store.add(match)
    happened = 1
    while happened:
        happened = 0
        with StoreReader.open(target) as reader:
            before = read(reader)
            with before_statement(reader._engine, moment := len(store.voids()) + 1) as changes:
                changes.append(lambda: store.decide(Void(block=1, matches=(first.match,))))
                changes.append(lambda: store.void_finished([(first.match, moment, "")]))
                during = read(reader)
                happened = not changes
            assert during in (before, read(reader)), moment
        if happened:
            store.add(first)
    assert moment > 1


def test_an_epoch_is_read_once_and_a_snapshot_lacks_later_ones(store: Store, target: str) -> None:
    store.begin(played.cup(NAMES), "seed", "key", None, 24)
    store.check()  # from now on readers and writers do not wait for each other
    first, second = (Epoch(number, "2026-01-01T00:00:00+00:00", NAMES, ()) for number in (1, 2))
    store.add(first)
    with StoreReader.open(target) as reader:
        with reader.snapshot() as before:
            (read,) = before.epochs()
            store.add(second)
            assert reader.epochs() == [first, second]
            assert before.epochs() == [first]
        assert reader.epochs()[0] is read


def test_one_of_two_simultaneous_decisions_waits(store: Store, target: str) -> None:
    store.begin(played.cup(NAMES), "seed", "key", None, 24)
    with Store.open(target) as other:
        rival = threading.Thread(target=lambda: other.decide(Resume(why="Second.")))
        waiting = sa.text("SELECT count(*) FROM pg_locks WHERE NOT granted")

        def let_the_rival_begin(_connection: object, _cursor: object, text: str, *_: Any) -> None:
            if text.startswith("INSERT INTO decisions"):
                rival.start()
                with store._engine.connect() as connection:
                    while store.folder is None and not connection.execute(waiting).scalar():
                        connection.rollback()

        sa.event.listen(store._engine, "before_cursor_execute", let_the_rival_begin)
        store.decide(Pause(why="First."))
        rival.join()
    assert [decision.why for decision in store.decisions()] == ["First.", "Second."]


def test_facts_of_a_run_are_recorded_all_or_none(store: Store) -> None:
    store.begin(played.cup(NAMES), "seed", "key", None, 24)
    store.record_unsandboxed()
    assert store.run().unsandboxed
    store.begin(played.cup(NAMES), "seed", "key", None, 24)
    assert not store.run().unsandboxed
    ann, cat = Identity("☃", "1"), Identity(author="Cat")
    store.record_checks({"ann": ann, "cat": cat}, {"böb": "It is away."})
    store.record_checks({"böb": Identity()}, {"cat": "It broke."})
    store.record_total(7)
    before = store.run()
    assert before.about == {"ann": (ann,), "cat": (cat,)}
    assert before.passed == {"ann", "böb"}
    assert (before.failed, before.total, before.finished) == ({"cat": "It broke."}, 7, False)
    assert before.begun
    with pytest.raises(TypeError):
        store._put(total=8, commitment=object())
    assert store.run() == before
    store.finish({"ann": 1}, ("ann",))
    store.record_total(9)
    after = store.run()
    assert (after.finished, after.places, after.settled) == (True, {"ann": 1}, ("ann",))
    assert (after.total, after.begun) == (9, before.begun)


def test_there_is_one_runner(target: str) -> None:
    with Store.create(target) as first, Store.create(target) as second, only_runner(first):
        first.add(record())
        with pytest.raises(StoreError, match="another runner is at work"), only_runner(second):
            pass
        assert second.count() == 1
    with Store.open(target) as third, only_runner(third):
        pass


def test_a_folder_may_have_any_name_but_that_of_a_file(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("cup?1", "cup#2", "cup%201", "a&b=c@d:1 öß ☃")]
    for block, folder in enumerate(folders):
        with Store.create(folder) as store:
            store.add(record(block))
        assert (folder / "run.sqlite").is_file()
    for block, folder in enumerate(folders):
        with Store.open(folder) as store:
            assert [match.block for match in store.matches()] == [block]
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match="cannot be created: File exists; name a folder"):
        Store.create(tmp_path / "file")


def test_a_folder_that_cannot_be_read_is_not_called_empty(tmp_path: Path) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    with pytest.raises(StoreError, match="loop: cannot be read: Too many levels of symbolic links"):
        Store.open(loop)
