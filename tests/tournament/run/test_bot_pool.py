"""Which bots a worker keeps running: as many as fit into its memory, and always those that play."""

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
    """A bot that uses so much memory as its command says, and counts its starts."""

    starts: ClassVar[Counter[str]]
    running_now: ClassVar[set[str]]
    fails: ClassVar[set[str]]

    def __init__(self, bot: Bot, launch: LaunchSettings) -> None:
        self.name = bot.name
        self.url = f"http://{bot.name}"
        self.answered = False
        self.process = self  # what a pool asks of the process, too
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
    """A pool for bots named a, b, c … of these sizes."""
    bots = tuple(Bot(chr(ord("a") + at), str(size)) for at, size in enumerate(sizes_mb))
    limits, format_ = Limits(memory_mb=limit_mb), RoundRobin(cards=cards)
    cup = Cup("Cup", "doudizhu", PLAYERS, bots, limits=limits, format=format_)
    return BotPool(cup, LaunchSettings(cup.limits, 1), memory_mb)


def running(pool: BotPool) -> set[str]:
    return {place.name for place in pool._started}


def seat(pool: BotPool, names: str, number: int = 0) -> None:
    """Seat them, and end the match."""
    players = pool.seat(names, number)
    assert all(isinstance(player, FakeBot) and player.running for player in players)
    pool.recycle(replace(RECORD, seating=tuple(names), number=number))
    assert FakeBot.running_now >= set(names)


def test_bots_that_fit_into_the_memory_are_started_once() -> None:
    with closing(pool(600, *[100] * 6)) as six:
        for names in ("abc", "def", "ace", "bdf", "abc"):
            seat(six, names)
        assert FakeBot.starts == Counter("abcdef")


def test_those_unused_for_longest_are_ended_when_memory_is_short() -> None:
    with closing(pool(500, *[100] * 6)) as six:
        for names in ("abc", "ade"):
            seat(six, names)
        assert running(six) == set("abcde")
        seat(six, "adf")
        assert running(six) == set("acdef")
        assert FakeBot.starts == Counter("abcdef")


def test_a_table_that_does_not_fit_plays_all_the_same() -> None:
    with closing(pool(16, *[100] * 4)) as tiny:
        for names in ("abc", "abc", "bcd"):
            seat(tiny, names)
        assert running(tiny) == set("bcd")
        assert FakeBot.starts == Counter("abcd")


def test_no_process_plays_two_matches_of_a_block() -> None:
    with closing(pool(600, *[100] * 3)) as three:
        for number in (0, 1, 0, 1):
            seat(three, "abc", number)
        assert FakeBot.starts == Counter("abcabc")
        assert [bot for bot in three.seat("abc", 0, anew=True) if bot in three.seat("abc", 0)]
        assert FakeBot.starts == Counter("abcabcabc")


def test_with_fresh_cards_one_process_plays_all_matches_of_a_block() -> None:
    with closing(pool(600, *[100] * 3, cards="fresh")) as three:
        for number in (0, 1, 2):
            seat(three, "abc", number)
        assert FakeBot.starts == Counter("abc")


def test_bots_of_upcoming_matches_are_started_as_far_as_they_fit() -> None:
    for memory_mb, started in ((600, "abcabc"), (500, "abcab"), (5000, "abcabcabcde")):
        FakeBot.starts.clear()
        with closing(pool(memory_mb, *[100] * 6)) as six:
            seat(six, "abc", 0)
            six.seat("abc", 0, upcoming=[("abc", 1), ("bca", 2), ("def", 0)])
            assert FakeBot.starts == Counter(started)


def test_a_bot_that_was_too_late_is_ended() -> None:
    with closing(pool(900, *[100] * 3)) as three:
        three.seat("abc")
        late = replace(FAULT, seat=1, kind=FaultKind.TIMEOUT)
        three.recycle(replace(RECORD, seating=tuple("abc"), number=0, faults=(late,)))
        assert running(three) == set("ac")
