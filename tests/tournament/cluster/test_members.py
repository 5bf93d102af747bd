"""How workers join and leave, and what becomes of their jobs; workers do as a test says."""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import pytest

from tests.tournament.cluster.test_messages import CUP, RECORDS, job, void
from tournament.cluster import executor as executors
from tournament.cluster import members
from tournament.cluster.archive import Archives
from tournament.cluster.executor import ClusterExecutor
from tournament.cluster.link import ClusterError, Link, Member, Unsuited, WorkerBusy, WorkerGone
from tournament.cluster.messages import (
    Begin,
    Begun,
    Close,
    Done,
    Ping,
    Play,
    Played,
    Recall,
    Upload,
)
from tournament.run.executor import (
    Event,
    Finished,
    Inspected,
    Job,
    Lost,
    Notice,
    RunError,
    Voided,
)

BEGUN = Begun(Inspected((), {"ann": {"name": "ann"}}), "")


@dataclass
class Fake(Link):
    """A cluster in memory. What a worker does is a value, an error, or a function."""

    workers: dict[str, int] = field(default_factory=dict)
    does: dict[tuple[str, type], Any] = field(default_factory=dict)
    asked: list[tuple[str, type]] = field(default_factory=list)
    only: ClassVar["Fake"]

    async def members(self) -> dict[str, Member]:
        return {name: Member(name, name, tables) for name, tables in self.workers.items()}

    async def install(self, member: Member) -> None:
        await self._do(member, Link)

    async def ask(
        self, member: Member, session: str, request: Any, expected: Any, seconds: Any = None
    ) -> Any:
        self.asked.append((member.name, type(request)))
        return await self._do(member, type(request), request)

    async def _do(self, member: Member, what: type, *args: Any) -> Any:
        await asyncio.sleep(0)
        usual: dict[type, Any] = {Begin: BEGUN, Play: plays}
        done = self.does.get((member.name, what), usual.get(what, Done()))
        if callable(done):
            done = await done(*args)
        if isinstance(done, Exception):
            raise done
        return done

    async def close(self) -> None:
        pass


async def plays(request: Play) -> Played:
    return Played(RECORDS)


async def never(*_: object) -> None:
    await asyncio.Event().wait()


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Fake:
    made = Fake({"one": 1})

    async def connect(address: str) -> Link:
        return made

    monkeypatch.setattr(Link, "connect", connect)
    monkeypatch.setattr(members, "_LOOK_S", 0.001)
    monkeypatch.setattr(members, "WAIT_S", 0.0)
    return made


@pytest.fixture
def executor(fake: Fake) -> Iterator[ClusterExecutor]:
    with closing(ClusterExecutor(CUP, "tcp://h:1", Archives({"ab": b"x"}, {"ann": "ab"}))) as made:
        yield made


def news(executor: ClusterExecutor, wanted: Callable[[Event], bool]) -> list[Event]:
    """The events up to the first that is wanted."""
    found: list[Event] = []
    while True:
        for event in executor.receive(10):
            found.append(event)
            if wanted(event):
                return found


def joined(executor: ClusterExecutor, name: str = "one") -> list[Event]:
    said = f"Worker {name} has joined"
    return news(executor, lambda event: isinstance(event, Notice) and event.text.startswith(said))


def is_free(executor: ClusterExecutor) -> bool:
    return executor.has_free_table


def is_lost(event: Event) -> bool:
    return isinstance(event, Lost)


def test_a_job_is_played_on_the_worker_that_joined(executor: ClusterExecutor, fake: Fake) -> None:
    assert executor.inspect(()) == BEGUN.inspected
    assert not is_free(executor)
    joined(executor)
    assert is_free(executor)
    executor.submit(job())
    assert not is_free(executor)
    first, *others = news(executor, lambda event: event == Finished(RECORDS[0], False))
    assert first == Finished(RECORDS[2], True)
    assert others == [Finished(RECORDS[1], False), Finished(RECORDS[0], False)]
    assert is_free(executor)
    executor.recall()
    executor.close()
    order = [what for _, what in fake.asked if what not in (Ping, Recall)]
    assert order == [Upload, Begin, Play, Close]


def test_a_void_match_and_a_lost_table_come_after_what_is_finished(
    executor: ClusterExecutor, fake: Fake
) -> None:
    answers = iter(
        [
            Played(RECORDS[:1], void()),
            Played(RECORDS[:1], None, "its worker process ended"),
        ]
    )

    async def play(_: Play) -> Played:
        return next(answers)

    fake.does["one", Play] = play
    executor.inspect(())
    joined(executor)
    executor.submit(job())
    found = news(executor, lambda event: isinstance(event, Voided))
    assert found == [Finished(RECORDS[0], False), Voided(void())]
    executor.submit(job())
    found = news(executor, is_lost)
    assert found == [
        Finished(RECORDS[0], False),
        Lost(job().block.number, "on worker one its worker process ended"),
    ]


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (WorkerGone("cannot be reached"), "worker one cannot be reached"),
        (WorkerBusy(), "worker one plays for another runner"),
        (
            Played((replace(RECORDS[0], block=9),)),
            "worker one answered nonsense (block of match ",
        ),
    ],
)
def test_the_job_of_a_worker_that_goes_is_lost(
    executor: ClusterExecutor, fake: Fake, answer: Any, why: str
) -> None:
    fake.does["one", Play] = answer
    executor.inspect(())
    joined(executor)
    executor.submit(job())
    lost = news(executor, is_lost)[-1]
    assert isinstance(lost, Lost)
    assert (lost.block, lost.why[: len(why)]) == (job().block.number, why)


def test_a_worker_that_left_and_came_back_joins_again(
    executor: ClusterExecutor, fake: Fake
) -> None:
    fake.does["one", Play] = never
    executor.inspect(())
    joined(executor)
    executor.submit(job())
    del fake.workers["one"]
    found = news(executor, lambda event: isinstance(event, Notice))
    assert found[0] == Lost(job().block.number, "worker one has left the cluster")
    assert found[1] == Notice(
        "Worker one has left the cluster. No worker is left; the run waits 60 s for one."
    )
    fake.workers["one"] = 1
    joined(executor)


def test_a_run_does_not_wait_forever_for_a_worker(
    executor: ClusterExecutor, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "LONELY_S", 0.0)
    executor.inspect(())
    joined(executor)
    fake.workers.clear()
    with pytest.raises(RunError, match="No worker is left at tcp://h:1"):
        news(executor, lambda event: False)


@pytest.mark.parametrize(
    "error", [WorkerGone("has been silent for 15 s"), WorkerBusy(), WorkerGone("cannot be reached")]
)
def test_a_worker_that_does_not_answer_keeps_nobody_waiting(
    executor: ClusterExecutor, fake: Fake, error: Exception
) -> None:
    fake.workers["two"] = 1
    fake.does["two", Ping] = error
    assert executor.inspect(()).problems == ()
    joined(executor)
    del fake.does["two", Ping]
    joined(executor, "two")


def test_nobody_can_play(executor: ClusterExecutor, fake: Fake) -> None:
    fake.does["one", Ping] = WorkerBusy()
    with pytest.raises(RunError) as error:
        executor.inspect(())
    assert str(error.value) == (
        "No worker at tcp://h:1 can play now: each plays for another runner, or does not answer."
        " Wait, or start others."
    )


def test_each_worker_with_a_problem_is_named(executor: ClusterExecutor, fake: Fake) -> None:
    fake.workers |= {"two": 1, "old": 1}
    fake.does["old", Link] = Unsuited("Worker old has stich 1, and this is stich 2.")
    fake.does["two", Begin] = Begun(Inspected(("ann: no.", "bob: no."), {}), "")
    problems = executor.inspect(()).problems
    assert sorted(problems) == [
        "Worker old has stich 1, and this is stich 2.",
        "Worker two: ann: no.\nWorker two: bob: no.",
    ]


def test_a_late_worker_with_a_problem_takes_no_part(executor: ClusterExecutor, fake: Fake) -> None:
    executor.inspect(())
    joined(executor)
    fake.does["late", Begin] = Begun(Inspected(("ann: no.",), {}), "")
    fake.workers["late"] = 2
    said = news(executor, lambda event: isinstance(event, Notice))[-1]
    assert said == Notice("Worker late: ann: no. It does not take part.")
    executor.submit(job())
    assert not executor.has_free_table


def test_what_is_said_of_a_sandbox_names_the_worker(executor: ClusterExecutor, fake: Fake) -> None:
    fake.does["one", Begin] = Begun(BEGUN.inspected, "Warning: no.")
    executor.inspect(())
    assert joined(executor)[0] == Notice("Worker one: Warning: no.")


def test_a_worker_that_cannot_play_stops_the_run(executor: ClusterExecutor, fake: Fake) -> None:
    fake.does["one", Play] = Unsuited("Worker one: the rules service has gone.")
    executor.inspect(())
    joined(executor)
    executor.submit(job())
    with pytest.raises(RunError, match=r"^Worker one: the rules service"):
        news(executor, lambda event: False)


def test_a_mistake_of_ours_is_no_sentence(executor: ClusterExecutor, fake: Fake) -> None:
    fake.does["one", Play] = KeyError("oops")
    executor.inspect(())
    joined(executor)
    executor.submit(job())
    with pytest.raises(KeyError, match="oops"):
        news(executor, lambda event: False)


def test_the_scheduler_goes(executor: ClusterExecutor, fake: Fake) -> None:
    fake.does["one", Ping] = Done()
    executor.inspect(())
    joined(executor)
    fake.does["one", Ping] = ClusterError("The scheduler at tcp://h:1 is gone.")
    with pytest.raises(RunError, match="is gone"):
        news(executor, lambda event: False)


def test_there_are_only_so_many_tables(executor: ClusterExecutor, fake: Fake) -> None:
    fake.workers = {"one": 399, "two": 5, "three": 1}
    executor.inspect(())
    said = [
        event.text
        for event in news(
            executor, lambda event: isinstance(event, Notice) and "two has joined" in event.text
        )
        if isinstance(event, Notice)
    ]
    assert "Worker two has joined, with 1 table." in said
    assert "Worker three is not used: others have 400 tables." in said
    jobs = [Job(replace(job().block, number=number), (0,)) for number in range(400)]
    fake.does |= {("one", Play): never, ("two", Play): never}
    for one in jobs:
        while not executor.has_free_table:
            list(executor.receive(10))
        executor.submit(one)
    assert not executor.has_free_table
