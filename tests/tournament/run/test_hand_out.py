"""In which order blocks are handed out: the drawn one, however often a run is interrupted."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support import played
from tests.support.cups import standings
from tests.support.one_table import OneTable, Organiser, Stopped, stop
from tournament.config.cup import Bot
from tournament.run.roster import Roster
from tournament.run.session import Session


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
    plan = played.plan(cup)
    order: list[int] = []
    with played.unfinished(tmp_path / "stopped", cup) as store:
        for after in ({21: stop}, {}):
            executor = OneTable(cup)
            organiser = Organiser(store, after)
            with (
                suppress(Stopped),
                Session(plan, Roster(cup), executor, store, organiser) as session,
            ):
                session.play()
            order += executor.blocks
    assert order == [*range(1, 23), *range(22, plan.blocks + 1)], "22 was interrupted"
    assert standings(tmp_path / "stopped") == standings(tmp_path / "whole")
