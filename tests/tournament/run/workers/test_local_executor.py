"""What a worker process cannot do ends the run with a sentence."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.support.tournament import played
from tournament.bot.launch import LaunchSettings
from tournament.bot.url_bot import StartError
from tournament.run.workers import local_executor
from tournament.run.workers.bot_pool import BotPool
from tournament.run.workers.executor import Finished, Job, RunError, Voided
from tournament.run.workers.local_executor import LocalExecutor


class PoolWithoutPorts(BotPool):
    def play_job(self, *_arguments: object) -> Iterator[Finished | Voided]:
        raise StartError("No free port was found.")


def test_a_table_without_a_free_port_stops_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_executor, "BotPool", PoolWithoutPorts)
    cup = played.cup()
    with closing(LocalExecutor(cup, LaunchSettings(cup.limits, 1), 1)) as tables:
        tables.submit(Job(played.first_block(cup), (0, 1, 2)))
        with pytest.raises(RunError, match="No free port was found"):
            list(tables.receive(60))
