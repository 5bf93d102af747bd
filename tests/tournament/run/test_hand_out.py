"""Which blocks are handed out when, and how a run that was interrupted ends."""

from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.tournament import played
from tests.support.tournament.cups import standings, succeed
from tests.support.tournament.one_table import OneTable, Stopped, play, stop
from tests.tournament.run.conftest import BOTS, FAULTY, STOP
from tournament.config.cup import Bot
from tournament.run.resume import resume
from tournament.run.workers.executor import Job, RunError

NAMES = (*BOTS, "eve", "fay")


@pytest.mark.parametrize("format", ["round-robin", "swiss"])
def test_blocks_are_handed_out_in_the_drawn_order(tmp_path: Path, format: str) -> None:
    deals = 2 if format == "round-robin" else 9
    cup = played.cup(NAMES, format=format, seating="fixed", deals=deals)
    order: list[int] = []
    with played.unfinished(tmp_path, cup) as store:
        for after in ({21: stop}, {}):
            tables = OneTable(cup)
            with suppress(Stopped):
                play(store, cup, after, tables)
            order += tables.blocks
    blocks = played.plan(cup).blocks
    assert order == [*range(1, 23), *range(22, blocks + 1)], "22 was interrupted"


class OneWorker(OneTable):
    def submit(self, job: Job) -> None:
        if self.blocks:
            raise RunError("No worker process can be started.")
        super().submit(job)


def test_a_match_is_kept_if_the_next_block_gets_no_worker(tmp_path: Path) -> None:
    cup = played.cup(BOTS)
    with played.unfinished(tmp_path, cup) as store:
        tables = OneWorker(cup)
        with pytest.raises(RunError):
            play(store, cup, {}, tables)
        assert [match.match for match in store.summaries()] == tables.played


@pytest.mark.parametrize("how", ["swiss", "knockout", "gauntlet", "halving", "stop"])
def test_every_cup_resumes_to_the_same_end(tmp_path: Path, how: str) -> None:
    """What follows depends on the stored matches alone, in whatever order these came."""
    cup = STOP if how == "stop" else played.cup(NAMES, format=how, deals=1)
    whole, half = tmp_path / "whole", tmp_path / "half"
    with played.unfinished(whole, cup) as store:
        play(store, cup, {}, OneTable(cup, faulty=FAULTY))
        records = list(store.matches())[::-2]
        assert store.run().settled == (("ann",) if how == "stop" else ())
    with played.unfinished(half, cup, records) as store:
        tables = OneTable(cup, 2, faulty=FAULTY)
        play(store, cup, {}, tables)
        assert {record.match for record in records}.isdisjoint(tables.played)
    assert standings(half) == standings(whole)
    succeed("verify", half)


def test_an_extended_cup_equals_a_cup_that_began_so(tmp_path: Path) -> None:
    small, large = tmp_path / "small", tmp_path / "large"
    grown = played.cup(BOTS, deals=3)
    played.run(large, grown).close()
    with played.run(small, played.cup(BOTS[:3])) as store:
        resume(store, grown)
        play(store, grown, {})
        # Somebody may have looked at the cup before it was extended.
        assert standings(small)["ranges"] == "anytime"
        store._put(extended=False)
    assert standings(small) == standings(large)


def test_a_bot_by_url_plays_one_match_at_a_time(tmp_path: Path) -> None:
    """Two bots at the same URL share its number of tables, and every table has one of them."""
    cup = played.cup(BOTS)
    urls = Bot("ann", url="http://127.0.0.1:9"), Bot("bob", url="http://127.0.0.1:9/")
    cup = replace(cup, bots=(*urls, *cup.bots[2:]))
    tables = OneTable(cup, 2)
    with played.unfinished(tmp_path, cup) as store:
        play(store, cup, {}, tables)
    assert tables.inspected == {*BOTS}, "a bot that is away must be back before it resumes"
    assert tables.most == dict.fromkeys(BOTS, 1)
