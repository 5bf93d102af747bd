"""Which block is handed out next: fewer starts, and at every moment a fair sample."""

import itertools
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.tournament import played
from tests.tournament.cups import standings
from tests.tournament.memory_run import MemoryRun
from tests.tournament.one_table import OneTable
from tournament.config import Bot, Cup, Format
from tournament.formats import Block, make_schedule
from tournament.formats.round_scores import RoundScores
from tournament.formats.schedule import Table
from tournament.records import Decision, MatchRecord, VoidRecord
from tournament.run import runner
from tournament.run.executor import Event, Job
from tournament.run.hand_out import MAX_WINDOW, Assignment, choose, window
from tournament.run.runner import Runner
from tournament.store.store import Store

PLAYERS = 3


def test_the_first_table_whose_bots_run_is_chosen_and_no_further_one_is_read() -> None:
    tables = iter([("a", "b"), ("a", "c"), ("a", "d")])
    assert choose(tables, [{"a", "c"}]) == Assignment(1, 0, 0)
    assert next(tables) == ("a", "d")


def test_a_table_goes_to_the_worker_whose_bots_run() -> None:
    assert choose([("a", "b")], [set(), {"b"}, {"a", "b"}, {"a"}]) == Assignment(0, 2, 0)
    assert choose([("a", "b"), ("c", "d")], [{"d"}, {"a"}]) == Assignment(0, 1, 1)


def test_of_equal_tables_the_one_that_starts_no_bot_twice_comes_first() -> None:
    assert choose([("a", "b"), ("c", "d")], [set()], busy={"b"}) == Assignment(1, 0, 2)
    assert choose([("a", "b"), ("c", "d")], [set(), {"x"}]) == Assignment(0, 0, 2)


def test_without_a_table_or_a_free_worker_there_is_no_choice() -> None:
    assert choose([], [set()]) is None
    assert choose([("a", "b")], []) is None


def test_the_window_is_a_tenth_of_what_comes_before() -> None:
    assert [window(before, 10) for before in (0, 99, 200, 2000, 10**6)] == [
        10,
        10,
        20,
        200,
        MAX_WINDOW,
    ]
    assert window(0, 0) == 1


def drawn(bots: int, deals: int) -> list[Block]:
    """The blocks of a round-robin in the drawn order."""
    entries = tuple(Bot(f"b{at}", "x") for at in range(bots))
    cup = Cup("Cup", "doudizhu", PLAYERS, entries, format=Format(deals=deals))
    (only,) = make_schedule(cup, "seed").rounds(RoundScores(MemoryRun({}, [])))
    return list(only.blocks)


def handed_out(
    blocks: Sequence[Block], bots: int, kept: int, workers: int = 1
) -> Iterator[tuple[Block, int]]:
    """The blocks in the order in which workers that keep so many bots get them, each with the
    number of starts. The workers are free in turn."""
    pools: list[OrderedDict[str, None]] = [OrderedDict() for _ in range(workers)]
    waiting = list(blocks)
    for turn in itertools.count():
        if not waiting:
            return
        pool = pools[turn % workers]
        before = waiting[0].number - 1
        end = before + window(before, bots // PLAYERS)
        tables = (block.table for block in waiting if block.number <= end)
        chosen = choose(
            tables, [pool], {name for other in pools if other is not pool for name in other}
        )
        assert chosen is not None
        block = waiting.pop(chosen.table)
        for name in block.table:
            pool[name] = pool.pop(name, None)
        while len(pool) > max(kept, PLAYERS):
            pool.popitem(last=False)
        yield block, chosen.starts


@settings(deadline=None)
@given(
    bots=st.integers(3, 12),
    kept=st.integers(3, 12),
    workers=st.integers(1, 3),
    deals=st.integers(1, 6),
)
def test_every_prefix_is_a_fair_sample(bots: int, kept: int, workers: int, deals: int) -> None:
    """What was played is a prefix of the drawn order, but for one window: whoever the bots are
    and whatever they score. So no bot is further ahead of the drawn order than one window."""
    blocks = drawn(bots, deals)
    order = [block.number for block, _ in handed_out(blocks, bots, kept, workers)]
    assert sorted(order) == [block.number for block in blocks]
    played: set[int] = set()
    in_order: Counter[str] = Counter()
    in_fact: Counter[str] = Counter()
    for count, number in enumerate(order, 1):
        played.add(number)
        most = window(count, bots // PLAYERS)
        assert played.issuperset(range(1, count - most + 1))
        assert max(played) <= count + most
        in_order.update(blocks[count - 1].table)
        in_fact.update(blocks[number - 1].table)
        assert all(abs(in_fact[name] - in_order[name]) <= most for name in in_order | in_fact)


def test_where_no_bot_must_be_started_the_order_is_the_drawn_one() -> None:
    blocks = drawn(6, 2)
    order = list(handed_out(blocks, 6, kept=6))
    last = max(at for at, (_, starts) in enumerate(order) if starts)
    numbers = [block.number for block, _ in order[last + 1 :]]
    assert numbers == sorted(numbers)
    assert sum(starts for _, starts in order) == 6


@pytest.mark.parametrize(("kept", "most"), [(8, 0.85), (16, 0.35), (24, 0.11)])
def test_thirty_bots_that_do_not_all_fit_are_started_seldom(kept: int, most: float) -> None:
    """In the drawn order a block starts 2.2, 1.4 and 0.6 bots."""
    blocks = drawn(30, 1)
    starts = sum(starts for _, starts in handed_out(blocks, 30, kept))
    assert starts / len(blocks) < most


class FewBots(OneTable):
    """With one table, where as many bots run as sit there."""

    def __init__(self, cup: Cup) -> None:
        super().__init__(cup)
        self.order: list[int] = []
        self.starts = 0
        self._running: frozenset[str] = frozenset()

    def choose(self, tables: Iterable[Table]) -> Assignment | None:
        return choose(tables, [self._running])

    def submit(self, job: Job) -> None:
        super().submit(job)
        missing = set(job.block.table) - self._running
        self.starts += len(missing)
        assert bool(job.soon) is bool(missing)
        assert missing <= set(job.soon)
        self._running = frozenset(job.block.table)
        self.order.append(job.block.number)


class Tireless(FewBots):
    """It goes on as long as there are jobs before the runner looks at anything else."""

    def receive(self, seconds: float) -> Iterator[Event]:
        while self._job is not None:
            yield from super().receive(seconds)


class Stopped(Exception):
    """The run was interrupted."""


class Watcher:
    """Interrupts a run after so many matches."""

    def __init__(self, stop_after: int) -> None:
        self.left = stop_after

    def begin(self, done: int, total: int) -> None:
        pass

    def match(self, record: MatchRecord) -> None:
        self.left -= 1
        if not self.left:
            raise Stopped

    def void(self, record: VoidRecord) -> None:
        pass

    def lost(self, block: int, why: str) -> None:
        pass

    def notice(self, text: str) -> None:
        pass

    def decided(self, decision: Decision) -> None:
        pass

    def away(self, bots: Sequence[str]) -> None:
        pass


@pytest.mark.parametrize("format", ["round-robin", "swiss"])
def test_in_another_order_and_resumed_the_standings_are_equal_to_the_digit(
    tmp_path: Path, format: str
) -> None:
    names = [f"b{at}" for at in range(9)]
    cup = replace(
        played.cup(
            names, format=format, seating="fixed", deals=1 if format == "round-robin" else 9
        ),
        bots=tuple(Bot(name, "x") for name in names),
    )
    played.run(tmp_path / "drawn", cup).close()
    schedule = make_schedule(cup, cup.seed or "", played.MATCH_KEY)
    order: list[int] = []
    starts = 0
    with Store.create(tmp_path / "chosen") as store:
        store.put(played.facts(cup))
        for stop_after in (21, -1):
            executor = FewBots(cup)
            with suppress(Stopped), Runner(cup, schedule, store, executor) as run:
                run.run(Watcher(stop_after))
            order += executor.order
            starts += executor.starts
        store.put({"finished": True, "places": None, "total": store.count()})
    assert len(order) == schedule.blocks + 1  # the one in which the run was interrupted
    assert order != sorted(order)
    assert starts < 2 * len(order)
    assert standings(tmp_path / "chosen") == standings(tmp_path / "drawn")


def test_no_block_is_left_out_if_events_never_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "MAX_WINDOW", 4)
    names = [f"b{at}" for at in range(5)]
    cup = replace(
        played.cup(names, seating="fixed", deals=1), bots=tuple(Bot(name, "x") for name in names)
    )
    schedule = make_schedule(cup, cup.seed or "", played.MATCH_KEY)
    with Store.create(tmp_path / "run") as store:
        store.put(played.facts(cup))
        with Runner(cup, schedule, store, Tireless(cup)) as run:
            run.run(Watcher(-1))
        assert store.count() == schedule.matches == 10
