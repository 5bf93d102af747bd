"""A pool keeps as many bots running as fit into its memory, and always those that play."""

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import ClassVar

import pytest

from tests.support import played
from tournament.bot.launch import LaunchSettings
from tournament.bot.url_bot import StartError
from tournament.config.cup import Bot, Cup, Limits
from tournament.formats.format import Cards
from tournament.formats.round_robin import RoundRobin
from tournament.records import FaultKind
from tournament.run import bot_pool
from tournament.run.bot_pool import BotPool

PLAYERS = 3
FAULTY = next(iter(played.played(played.cup(), {"ann": 30, "bob": 30})))
FAULT, *_ = FAULTY.faults
RECORD = replace(FAULTY, faults=())


class FakeBot:
    """A bot that uses as many MB as its command says, and counts its starts."""

    starts: ClassVar[Counter[str]]
    running_now: ClassVar[set[str]]
    fails: ClassVar[set[str]]

    def __init__(self, bot: Bot, launch: LaunchSettings) -> None:
        self.name = bot.name
        self.url = f"http://{bot.name}"
        self.answered = False
        self.process = self  # for the methods of a process that a pool calls
        self.memory = float(bot.command or 0)
        self.starts[bot.name] += 1
        self.running_now.add(bot.name)

    @property
    def running(self) -> bool:
        return self.name in self.running_now

    def ready(self) -> "FakeBot":
        if self.name in self.fails:
            self.close()
            raise StartError(f"{self.name} does not start.")
        self.answered = True
        return self

    def clear_output(self) -> bool:
        return self.running

    def memory_mb(self) -> float:
        return self.memory

    def close(self) -> None:
        self.running_now.discard(self.name)


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[FakeBot]]:
    monkeypatch.setattr(bot_pool, "StartedBot", FakeBot)
    FakeBot.starts = Counter()
    FakeBot.running_now, FakeBot.fails = set(), set()
    yield FakeBot
    assert not FakeBot.running_now


def pool(memory_mb: float, *sizes_mb: int, limit_mb: int = 100, cards: Cards = "shared") -> BotPool:
    """A pool for bots named a, b, c, … with these sizes."""
    bots = tuple(Bot(chr(ord("a") + at), str(size)) for at, size in enumerate(sizes_mb))
    limits, format_ = Limits(memory_mb=limit_mb), RoundRobin(cards=cards)
    cup = Cup("Cup", "doudizhu", PLAYERS, bots, limits=limits, format=format_)
    return BotPool(cup, LaunchSettings(cup.limits, 1), memory_mb)


def seat(pool: BotPool, names: str, number: int = 0) -> None:
    """Seat these bots, and end their match."""
    players = pool.seat(names, number)
    assert all(isinstance(player, FakeBot) and player.running for player in players)
    pool.recycle(replace(RECORD, seating=tuple(names), number=number))
    assert FakeBot.running_now >= set(names)


@pytest.mark.parametrize(
    ("memory_mb", "tables", "left"),
    [
        (600, ["abc", "def", "ace", "bdf", "abc"], "abcdef"),
        (500, ["abc", "ade"], "abcde"),
        (500, ["abc", "ade", "adf"], "acdef"),
        (16, ["abc", "abc", "bcd"], "bcd"),
    ],
    ids=["all fit", "five fit", "the least recently used stops", "one table fits"],
)
def test_bots_run_on_as_far_as_they_fit_into_memory(
    memory_mb: int, tables: list[str], left: str
) -> None:
    with closing(pool(memory_mb, *[100] * 6)) as six:
        for names in tables:
            seat(six, names)
        assert FakeBot.running_now == set(left)
        assert FakeBot.starts == Counter(set("".join(tables)))


def test_no_process_plays_two_matches_of_a_block() -> None:
    with closing(pool(600, *[100] * 3)) as three:
        for number in (0, 1, 0, 1):
            seat(three, "abc", number)
        assert FakeBot.starts == Counter("abcabc")
        assert [bot for bot in three.seat("abc", 0, anew=True) if bot in three.seat("abc", 0)]
        assert FakeBot.starts == Counter("abcabcabc")


def test_with_fresh_cards_a_process_plays_a_whole_block() -> None:
    with closing(pool(600, *[100] * 3, cards="fresh")) as three:
        for number in (0, 1, 2):
            seat(three, "abc", number)
        assert FakeBot.starts == Counter("abc")


def test_bots_of_upcoming_matches_start_as_far_as_they_fit() -> None:
    for memory_mb, started in ((600, "abcabc"), (500, "abcab"), (5000, "abcabcabcde")):
        FakeBot.starts.clear()
        with closing(pool(memory_mb, *[100] * 6)) as six:
            seat(six, "abc", 0)
            six.seat("abc", 0, upcoming=[("abc", 1), ("bca", 2), ("def", 0)])
            assert FakeBot.starts == Counter(started)


def test_a_bot_that_was_late_is_stopped() -> None:
    with closing(pool(900, *[100] * 3)) as three:
        three.seat("abc")
        late = replace(FAULT, seat=1, kind=FaultKind.TIMEOUT)
        three.recycle(replace(RECORD, seating=tuple("abc"), number=0, faults=(late,)))
        assert FakeBot.running_now == set("ac")
