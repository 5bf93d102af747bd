"""Blocks are handed out in the drawn order, however often a run is interrupted."""

from contextlib import suppress
from pathlib import Path

import pytest

from tests.support import played
from tests.support.cups import standings
from tests.support.one_table import OneTable, Stopped, play, stop


@pytest.mark.parametrize("format", ["round-robin", "swiss"])
def test_blocks_are_handed_out_in_the_drawn_order(tmp_path: Path, format: str) -> None:
    names = [f"b{at}" for at in range(6)]
    deals = {"round-robin": 2, "swiss": 9}[format]
    cup = played.cup(names, format=format, seating="fixed", deals=deals)
    played.run(tmp_path / "whole", cup).close()
    order: list[int] = []
    with played.unfinished(tmp_path / "stopped", cup) as store:
        for after in ({21: stop}, {}):
            tables = OneTable(cup)
            with suppress(Stopped):
                play(store, cup, after, tables)
            order += tables.blocks
    blocks = played.plan(cup).blocks
    assert order == [*range(1, 23), *range(22, blocks + 1)], "22 was interrupted"
    assert standings(tmp_path / "stopped") == standings(tmp_path / "whole")
