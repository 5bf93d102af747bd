"""What keeps bots or workers from playing is reported in a sentence."""

import multiprocessing
import os
import resource
import signal
import struct
from collections.abc import Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from multiprocessing.connection import Connection

import pytest

from tests.support.tournament import played
from tests.support.tournament.cups import bot
from tools import hostile
from tools.hostile.server import ABOUT
from tournament.bot.launch import LaunchSettings
from tournament.bot.url_bot import StartError
from tournament.config.cup import Bot, Cup, Limits, RunSettings
from tournament.model import Identity
from tournament.run.workers import local_executor
from tournament.run.workers.bot_pool import BotPool
from tournament.run.workers.executor import Finished, Inspected, Job, RunError, Voided
from tournament.run.workers.local_executor import LocalExecutor


def inspected(
    *bots: Bot, game: str = "doudizhu", start_ms: int = 60_000, referee: str | None = None
) -> Inspected:
    cup = Cup("Cup", game, 3, bots, run=RunSettings(referee=referee))
    with closing(BotPool(cup, LaunchSettings(Limits(), start_ms))) as pool:
        return pool.inspect()


@pytest.mark.parametrize(
    ("how", "problem"),
    [
        ("sleep 1000", 'wrong: "sleep 1000" did not answer GET / on 127.0.0.1:'),
        ("false", 'wrong: "false" ended with code 1 before it answered GET /.'),
        ("nothing -x", 'wrong: "nothing -x" cannot be started: there is no'),
        ("http://127.0.0.1:1", "wrong: nothing accepts connections at http://127.0.0.1:1 (Conn"),
        ("http://no.invalid", "wrong: nothing accepts connections at http://no.invalid"),
    ],
)
def test_a_bot_that_does_not_answer_is_reported(how: str, problem: str) -> None:
    wrong = Bot("wrong", url=how) if how.startswith("http") else Bot("wrong", command=how)
    start_ms = 300 if how.startswith("sleep") else 60_000
    (found,) = inspected(wrong, start_ms=start_ms).problems
    assert found.startswith(problem)


def test_a_bot_of_another_game_or_protocol_is_reported() -> None:
    with hostile.running(hostile.hang, {**ABOUT, "protocol": 2, "games": ["dasan"]}) as url:
        bots = Bot("toy", command=bot("toy-1")), Bot("newer", url=url)
        assert inspected(*bots, game="dasan").problems == (
            "newer: it speaks protocol 2; this runner speaks 1.",
            "toy: it does not play dasan; it says that it plays doudizhu.",
        )


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"<h1>It works</h1>", "Its answer is not JSON"),
        (b'{"status": "ok"}', 'Its answer has no "protocol")'),
        (b'{"protocol": 1}', 'Its answer has no "games")'),
    ],
)
def test_another_server_at_the_url_of_a_bot_is_reported(body: bytes, why: str) -> None:
    with hostile.running(hostile.hang, hostile.answer(body)) as url:
        (problem,) = inspected(Bot("wrong", url=url)).problems
    assert problem.startswith(f"wrong: what answers GET / at {url} is not a bot ({why}")
    assert problem.endswith("); start it, or fix its url.")


def test_a_rules_service_that_does_not_answer_is_reported() -> None:
    (problem,) = inspected(referee="http://127.0.0.1:1").problems
    assert "The rules service at http://127.0.0.1:1 does not answer GET /healthz (no" in problem


def test_what_bots_state_about_themselves_is_kept_as_text() -> None:
    about = {**ABOUT, "name": "n\x1b" * 99, "version": ["2"], "author": "Ann <b>"}
    with hostile.running(hostile.hang, about) as url:
        stated = inspected(Bot("one", url=url)).about
    assert stated == {"one": Identity(name="n\\x1b" * 32, author="Ann <b>")}


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


class StoppedPool(BotPool):
    def play_job(self, *_arguments: object) -> Iterator[Finished | Voided]:
        vars(local_executor)["OWN_S"] = 0  # in the worker
        ended = Finished(next(iter(played.played(played.cup()))), last=False)
        yield ended
        os.setpgid(0, 0)  # in a group without a parent outside, Ctrl-Z does nothing anyway
        os.kill(os.getpid(), signal.SIGTSTP)
        yield ended
        os.kill(os.getpid(), signal.SIGSTOP)


def test_a_stopped_worker_is_lost_but_ctrl_z_stops_none(monkeypatch: pytest.MonkeyPatch) -> None:
    cup = replace(played.cup(), bots=())
    job = Job(played.first_block(played.cup()), (0, 1, 2))
    monkeypatch.setattr(local_executor, "BotPool", StoppedPool)
    with closing(LocalExecutor(cup, LaunchSettings(cup.limits, 1), 1)) as tables:
        tables.submit(job)
        first, second, between = (next(iter(tables.receive(s))) for s in (60, 60, 2))
        assert (type(first), first) == (Finished, second)
        tables.inspect(())
        monkeypatch.setattr(local_executor, "OWN_S", 0)
        (worker,) = multiprocessing.active_children()
        os.kill(worker.pid or 0, signal.SIGSTOP)
        with pytest.raises(RunError, match="does not respond; was it stopped"):
            tables.inspect(())
        tables.submit(job)
        for lost in (between, *tables.receive(2)):
            assert "did not respond in time" in getattr(lost, "why", "")


class HalfPool(BotPool):
    def play_job(self, *_arguments: object) -> Iterator[Finished | Voided]:
        def send_half(connection: Connection, data: memoryview) -> None:
            os.write(connection.fileno(), data[:2])
            os.kill(os.getpid(), signal.SIGSTOP)

        Connection._send_bytes = send_half  # type: ignore[attr-defined]
        yield Finished(next(iter(played.played(played.cup()))), last=True)


def test_a_worker_stopped_in_mid_message_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    cup = played.cup()
    monkeypatch.setattr(local_executor, "BotPool", HalfPool)
    monkeypatch.setattr(local_executor, "_REST_S", struct.pack("ll", 0, 1))
    with closing(LocalExecutor(cup, LaunchSettings(cup.limits, 1), 1)) as tables:
        tables.submit(Job(played.first_block(cup), (0, 1, 2)))
        (lost,) = tables.receive(60)
        assert "ended or was stopped" in getattr(lost, "why", "")


def test_a_limit_on_open_files_stops_the_run_with_a_sentence() -> None:
    cup = played.cup()
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as stack:
        tables = stack.enter_context(closing(LocalExecutor(cup, LaunchSettings(cup.limits, 1), 1)))
        stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, limits)
        resource.setrlimit(resource.RLIMIT_NOFILE, (3, limits[1]))
        with pytest.raises(RunError, match="can be started: Too many open files"):
            tables.inspect(())
