"""Makes a Dask worker that loads this module answer at once with made-up matches."""

from unittest.mock import patch

from benchmarks.cups.free_record import made_up
from tournament.records import MatchRecord
from tournament.run.workers.bot_pool import BotPool
from tournament.run.workers.executor import Inspected, Job


def free(pool: BotPool, job: Job, number: int, _expect: object) -> MatchRecord:
    """A match that nobody played."""
    return made_up(pool._cup, job.block.pairing(number))


# For the rest of the worker's process.
patch.object(BotPool, "_play", free).start()
patch.object(BotPool, "inspect", lambda *_: Inspected((), {})).start()
