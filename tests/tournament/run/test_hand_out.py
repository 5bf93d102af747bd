"""In which order blocks are handed out: the drawn one, however often a run is interrupted."""

import io
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from stich.console.progress import JsonLines
from tests.tournament import played
from tests.tournament.cups import standings
from tests.tournament.one_table import OneTable
from tournament.config import Bot, Cup
from tournament.records import MatchRecord
from tournament.run.executor import Job
from tournament.run.runner import Runner


class Ordered(OneTable):
    """It notes the numbers of the blocks."""

    def __init__(self, cup: Cup, order: list[int]) -> None:
        super().__init__(cup)
        self.order = order

    def submit(self, job: Job) -> None:
        super().submit(job)
        self.order.append(job.block.number)


class Stopped(Exception):
    """The run was interrupted."""


class Watcher(JsonLines):
    """Interrupts a run after so many matches."""

    def __init__(self, stop_after: int) -> None:
        super().__init__(io.StringIO())
        self.left = stop_after

    def match(self, record: MatchRecord) -> None:
        self.left -= 1
        if not self.left:
            raise Stopped


@pytest.mark.parametrize("format", ["round-robin", "swiss"])
def test_blocks_are_handed_out_in_the_drawn_order_and_resumed_there(
    tmp_path: Path, format: str
) -> None:
    names = [f"b{at}" for at in range(9)]
    cup = replace(
        played.cup(
            names, format=format, seating="fixed", deals=1 if format == "round-robin" else 9
        ),
        bots=tuple(Bot(name, "x") for name in names),
    )
    played.run(tmp_path / "whole", cup).close()
    schedule = played.schedule(cup)
    order: list[int] = []
    with played.unfinished(tmp_path / "stopped", cup) as store:
        for stop_after in (21, -1):
            executor = Ordered(cup, order)
            with suppress(Stopped), Runner(cup, schedule, store, executor) as run:
                run.run(Watcher(stop_after))
        store.put({"finished": True, "places": None, "total": store.count()})
    assert order == [*range(1, 23), *range(22, schedule.blocks + 1)], "22 was interrupted"
    assert standings(tmp_path / "stopped") == standings(tmp_path / "whole")
