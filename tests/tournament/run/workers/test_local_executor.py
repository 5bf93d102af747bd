"""What a worker process cannot do ends the run with a sentence."""

import multiprocessing
import os
import resource
import signal
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace

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


def test_a_worker_that_was_stopped_while_idle_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    cup = replace(played.cup(), bots=())
    with closing(LocalExecutor(cup, LaunchSettings(cup.limits, 1), 1)) as tables:
        tables.inspect(())
        monkeypatch.setattr(local_executor, "OWN_S", 0)
        (worker,) = multiprocessing.active_children()
        os.kill(worker.pid or 0, signal.SIGSTOP)
        tables.submit(Job(played.first_block(played.cup()), (0, 1, 2)))
        while not (events := list(tables.receive(0.1))):
            pass
        assert "did not respond in time" in getattr(events[0], "why", "")


def test_a_limit_on_open_files_stops_the_run_with_a_sentence() -> None:
    cup = played.cup()
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as stack:
        tables = stack.enter_context(closing(LocalExecutor(cup, LaunchSettings(cup.limits, 1), 1)))
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))
        with pytest.raises(RunError, match="can be started: Too many open files"):
            tables.inspect(())
