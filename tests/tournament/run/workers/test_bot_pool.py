"""A pool keeps as many bots running as fit into its memory, and always those that play."""

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import ClassVar

import pytest

from tests.support.tournament import played
from tournament.bot.launch import LaunchSettings
from tournament.config.cup import Bot, Cup, Limits
from tournament.formats.format import Cards
from tournament.formats.round_robin import RoundRobin
from tournament.records import FaultKind, FaultRecord
from tournament.run.workers import bot_pool
from tournament.run.workers.bot_pool import BotPool

FAULTY = next(iter(played.played(played.cup(), {"ann": 30, "bob": 30})))


class FakeBot:
    """A bot that uses 100 MB, and counts its starts."""

    starts: ClassVar[Counter[str]]
    running_now: ClassVar[set[str]]

    def __init__(self, bot: Bot, launch: LaunchSettings) -> None:
        self.name = bot.name
        self.url = f"http://{bot.name}"
        self.answered = False
        self.process = self  # for the methods of a process that a pool calls
        self.starts[bot.name] += 1
        self.running_now.add(bot.name)

    def ready(self) -> None:
        self.answered = True

    def clear_output(self) -> bool:
        return self.name in self.running_now

    def memory_mb(self) -> float:
        return 100

    def close(self) -> None:
        self.running_now.discard(self.name)


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(bot_pool, "StartedBot", FakeBot)
    FakeBot.starts, FakeBot.running_now = Counter(), set()
    yield
    assert not FakeBot.running_now


def pool(memory_mb: float, cards: Cards = "shared") -> closing[BotPool]:
    limits, bots = Limits(memory_mb=100), tuple(Bot(name, "x") for name in "abcdef")
    cup = Cup("Cup", "doudizhu", 3, bots, limits=limits, format=RoundRobin(cards=cards))
    return closing(BotPool(cup, LaunchSettings(limits, 1), memory_mb))


def seat(pool: BotPool, names: str, number: int = 0, *faults: FaultRecord) -> None:
    assert [player.url for player in pool.seat(names, number)] == [f"http://{x}" for x in names]
    pool.recycle(replace(FAULTY, seating=tuple(names), number=number, faults=faults))
    assert FakeBot.running_now >= set(names) - {names[fault.seat] for fault in faults}


@pytest.mark.parametrize(
    ("memory_mb", "tables", "left"),
    [
        (600, "abc def ace bdf abc", "abcdef"),
        (500, "abc ade", "abcde"),
        (500, "abc ade adf", "acdef"),
        (16, "abc abc bcd", "bcd"),
    ],
)
def test_bots_run_on_as_far_as_they_fit_into_memory(memory_mb: int, tables: str, left: str) -> None:
    with pool(memory_mb) as six:
        for names in tables.split():
            seat(six, names)
        assert FakeBot.running_now == set(left)
        assert FakeBot.starts == Counter({*tables} - {" "})


@pytest.mark.parametrize(("cards", "processes"), [("shared", 2), ("fresh", 1)])
def test_no_process_plays_two_matches_with_the_same_cards(cards: Cards, processes: int) -> None:
    with pool(600, cards) as six:
        for number in (0, 1, 0, 1):
            seat(six, "abc", number)
        assert FakeBot.starts == Counter("abc" * processes)
        anew = six.seat("abc", 0, anew=True)
        assert FakeBot.starts == Counter("abc" * (processes + 1))
        assert set(anew) & set(six.seat("abc", 0))


@pytest.mark.parametrize(
    ("memory_mb", "started"), [(600, "abcabc"), (500, "abcab"), (5000, "abcabcabcde")]
)
def test_bots_of_upcoming_matches_start_as_far_as_they_fit(memory_mb: int, started: str) -> None:
    with pool(memory_mb) as six:
        seat(six, "abc")
        six.seat("abc", 0, upcoming=[("abc", 1), ("bca", 2), ("def", 0)])
        assert FakeBot.starts == Counter(started)


def test_a_bot_that_was_late_is_stopped() -> None:
    with pool(600) as six:
        seat(six, "abc", 0, replace(FAULTY.faults[0], seat=1, kind=FaultKind.TIMEOUT))
        assert FakeBot.running_now == set("ac")
