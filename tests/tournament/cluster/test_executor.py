"""Which worker of a cluster plays a block, without Dask."""

from dataclasses import replace
from unittest.mock import Mock

from tests.tournament import played
from tests.tournament.memory_run import MemoryRun
from tournament.cluster.archive import Archives
from tournament.cluster.executor import ClusterExecutor
from tournament.cluster.members import Joined, Worker
from tournament.config import Bot
from tournament.formats import make_schedule
from tournament.formats.round_scores import RoundScores
from tournament.run.executor import Job

CUP = replace(played.cup("abcdef"), bots=tuple(Bot(name, "x") for name in "abcdef"))
(ROUND,) = make_schedule(CUP, "seed").rounds(RoundScores(MemoryRun({}, [])))
JOBS = {block.table: Job(block, (0,)) for block in ROUND.blocks}


def worker(name: str, tables: int) -> Worker:
    made: Worker = Mock(spec=Worker)
    made.name, made.tables = name, tables
    return made


def test_a_block_goes_to_the_worker_with_most_free_tables() -> None:
    executor = ClusterExecutor(CUP, "tcp://127.0.0.1:1", Archives())
    one, two = worker("one", 1), worker("two", 2)
    for each in (one, two):
        list(executor._on_event(Joined(each)))
    for job, on in zip(JOBS.values(), (two, one, two), strict=False):
        assert executor.has_free_table
        executor.submit(job)
        assert job.block.number in executor._playing[on]
    assert not executor.has_free_table
    executor.close()
