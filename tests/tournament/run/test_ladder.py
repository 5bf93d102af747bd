"""A ladder from its first epoch to its end: bots come and go, the runner is stopped and resumed."""

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from stich.console.progress import JsonLines
from tests.tournament import hostile, played
from tournament.config import Bot, Clock, Cup, Join, Run
from tournament.records import DecisionKind, MatchRecord
from tournament.results.standings import standings
from tournament.results.verify import verify
from tournament.run.joining import join
from tournament.run.session import run_cup
from tournament.store.store import Store

HOUSE = ("house0", "house1", "house2")
JOINED = ("ann", "bob", "cat")


@dataclass
class Hall:
    """The end of the connections of the bots of a test; those in `away` are not there."""

    urls: Mapping[str, str]
    away: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)
    excluded: Mapping[str, str] = field(default_factory=dict)

    def tables(self) -> Mapping[str, int]:
        return dict.fromkeys(self.urls.keys() - self.away - self.failed.keys(), 2)

    def url_of(self, bot: str) -> str:
        return "http://127.0.0.1:9" if bot in self.away else self.urls[bot]

    def fail(self, bots: Mapping[str, str]) -> None:
        self.failed |= bots

    def exclude(self, bots: Mapping[str, str]) -> None:
        self.excluded = dict(bots)

    def wait_for_bots(self, cup: Cup, *_: object) -> Cup:
        raise AssertionError("A ladder waits for nobody.")


class Stopped(Exception):
    """As if the runner were killed."""


class Organiser(JsonLines):
    """Does something after so many matches of the run."""

    def __init__(self, target: Path, **after: Callable[[], object]) -> None:
        super().__init__(io.StringIO())
        self._target = target
        self._after = {int(name[1:]): act for name, act in after.items()}

    def match(self, record: MatchRecord) -> None:
        with Store.open(self._target) as store:
            act = self._after.pop(store.count(), None)
        if act:
            act()


@pytest.fixture
def urls() -> Iterator[dict[str, str]]:
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(hostile.running(hostile.toy(name)))
            for name in (*HOUSE, *JOINED)
        }


@pytest.fixture
def hall(urls: dict[str, str]) -> Hall:
    return Hall({name: urls[name] for name in JOINED})


@pytest.fixture
def ladder(urls: dict[str, str]) -> Cup:
    cup = played.cup(HOUSE, format="ladder", deals=1)
    bots = tuple(Bot(name, url=urls[name], max_matches=4) for name in HOUSE)
    return replace(
        cup,
        bots=bots,
        join=Join(open=True),
        clock=Clock(2000, 0),
        run=Run(concurrency=2),
        outage_s=1,
        format=replace(cup.format, cards="fresh"),
    )


def enter(target: Path, cup: Cup, *bots: str) -> None:
    for bot in bots:
        join(str(target), cup, bot, bot)


def decide(target: Path, kind: DecisionKind, bot: str = "") -> None:
    with Store.open(target) as store:
        store.decide(kind, "", bot)


def stop() -> None:
    raise Stopped


def play(target: Path, cup: Cup, hall: Hall, **after: Callable[[], object]) -> None:
    run_cup(cup, target / "cup.toml", str(target), Organiser(target, **after), gateway=hall)


def table(target: Path) -> dict[str, Any]:
    with Store.open(target) as store:
        found = verify(store)
        assert found.mismatches == []
        data = standings(store).to_dict()
    for line in data["standings"]:
        del line["move_ms"]
    del data["decisions"], data["incidents"]
    return data


def rosters(target: Path) -> list[Sequence[str]]:
    with Store.open(target) as store:
        return [epoch.bots for epoch in store.epochs()]


def test_bots_join_in_the_middle_and_a_stopped_run_goes_on_as_if_it_had_not_been(
    tmp_path: Path, ladder: Cup, hall: Hall
) -> None:
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    for target, interrupt in ((whole, {}), (stopped, {"m11": stop, "m31": stop})):
        after: dict[str, Callable[[], object]] = {
            "m4": partial(enter, target, ladder, *JOINED),
            "m54": partial(decide, target, DecisionKind.FINISH),
            **interrupt,
        }
        for _ in range(1 + len(interrupt)):
            with suppress(Stopped):
                play(target, ladder, hall, **after)
    assert rosters(whole) == rosters(stopped) == [HOUSE, (*HOUSE, *JOINED)]
    assert table(whole) == table(stopped)
