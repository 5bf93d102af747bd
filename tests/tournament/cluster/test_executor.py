"""Which worker of a cluster plays a block, without Dask."""

from dataclasses import replace
from unittest.mock import Mock

from tests.tournament import played
from tests.tournament.memory_run import MemoryRun
from tournament.cluster.archive import Archives
from tournament.cluster.executor import ClusterExecutor
from tournament.cluster.members import Answered, Joined, Left, Worker
from tournament.cluster.messages import Played
from tournament.config import Bot
from tournament.formats import make_schedule
from tournament.formats.round_scores import RoundScores
from tournament.formats.schedule import Table
from tournament.run.executor import Job
from tournament.run.hand_out import Assignment

CUP = replace(played.cup("abcdef"), bots=tuple(Bot(name, "x") for name in "abcdef"))
(ROUND,) = make_schedule(CUP, "seed").rounds(RoundScores(MemoryRun({}, [])))
JOBS = {block.table: Job(block, (0,)) for block in ROUND.blocks}


def worker(name: str, tables: int) -> Worker:
    made: Worker = Mock(spec=Worker)
    made.name, made.tables = name, tables
    return made


def play(executor: ClusterExecutor, table: Table, on: Worker, running: str) -> None:
    """Submit a job; this worker has played it, and keeps these bots running."""
    executor.submit(JOBS[table])
    assert JOBS[table].block.number in executor._playing[on]
    answer = Answered(on, JOBS[table], Played((), running=frozenset(running)))
    list(executor._on_event(answer))


def test_a_block_goes_to_the_worker_whose_bots_run() -> None:
    executor = ClusterExecutor(CUP, "tcp://127.0.0.1:1", Archives())
    one, two = worker("one", 1), worker("two", 2)
    for each in (one, two):
        list(executor._on_event(Joined(each)))
    play(executor, ("a", "b", "c"), on=two, running="abc")
    executor.submit(JOBS["a", "b", "d"])
    assert JOBS["a", "b", "d"].block.number in executor._playing[two]
    executor.submit(JOBS["d", "e", "f"])
    assert JOBS["d", "e", "f"].block.number in executor._playing[one]
    assert executor.choose([("a", "d", "e"), ("a", "b", "e")]) == Assignment(1, 0, 1)
    list(executor._on_event(Left(two, "has ended")))
    assert executor.choose([("a", "d", "e")]) is None
    executor.close()
