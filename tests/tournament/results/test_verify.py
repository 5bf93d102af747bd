"""Verification accepts honest runs and names what was forged."""

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.support.tournament.memory_run import MemoryRun
from tests.support.tournament.played import cup, played, run, unfinished
from tournament.config.cup import Bot
from tournament.records import MatchRecord
from tournament.results.files.export import rows
from tournament.results.standings import standings
from tournament.results.verify import verify
from tournament.store.store import Store


def in_memory(store: Store) -> MemoryRun:
    return MemoryRun(store.run(), list(store.summaries()), list(store.matches()))


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> MemoryRun:
    with run(tmp_path_factory.mktemp("run"), cup(commit=True), {"cat": 12}) as store:
        return in_memory(store)


def details(of: MemoryRun, **facts: Any) -> list[tuple[str | None, str]]:
    """The mismatches of a run with these facts."""
    found = verify(replace(of, about=replace(of.about, **facts))).mismatches
    return [(one.match, one.detail) for one in found]


def test_an_honest_run_is_verified(honest: MemoryRun) -> None:
    assert any(record.struck for record in honest.records), "strikes should be among them"
    done = verify(honest)
    assert done.mismatches == []
    assert (done.matches, done.blocks, done.deals) == (6, 2, 6)
    assert done.moves == sum(len(record.moves) for record in honest.records)
    assert done.commitment is True
    assert done.to_dict()["verified"] is True


def test_a_run_under_way_is_verified_so_far(tmp_path: Path) -> None:
    with unfinished(tmp_path, cup(), islice(played(cup()), 4)) as store:
        done = verify(store)
    assert (done.verified, done.finished, done.matches) == (True, False, 4)


def test_fresh_cards_follow_from_the_seed(tmp_path: Path) -> None:
    bots = tuple(Bot(name, url="http://127.0.0.1:9") for name in ("ann", "bob", "cat"))
    shared = replace(cup(), bots=bots)
    fresh = replace(shared, format=replace(shared.format, cards="fresh"))
    with run(tmp_path / "fresh", fresh) as store, run(tmp_path / "shared", shared) as other:
        assert verify(store).mismatches == verify(other).mismatches == []
        assert len({match.seed for match in store.matches()}) == 6
        assert len({match.seed for match in other.matches()}) == 2
        assert [row.seed for row in rows(store)][::3] == [m.seed for m in store.matches()]
        assert standings(store).incidents == ()
        assert "may have remembered" in standings(other).incidents[0]
        swapped = in_memory(store)
        swapped.records[1] = replace(swapped.records[1], seed=swapped.records[0].seed)
        assert verify(swapped).mismatches


def chosen_as_default(record: MatchRecord) -> dict[str, Any]:
    """A fault at a move that the bot chose."""
    others = {*record.forced, *(fault.move for fault in record.faults)}
    asked = (index for index in range(6, len(record.moves)) if index not in others)
    chosen = next(index for index in asked if record.moves[index] != "pass")
    fault = replace(record.faults[0], move=chosen, played=record.moves[chosen])
    return {"faults": (*record.faults, fault)}


FORGERIES: dict[str, Callable[[MatchRecord], dict[str, Any]]] = {
    "The scores are": lambda one: {"scores": (one.scores[0] + 1, *one.scores[1:])},
    "The scores after strikes are": lambda one: {"adjusted": (99, *one.adjusted[1:])},
    "The results of the deals": lambda one: {"results": one.results[1:]},
    "The seats struck out are": lambda one: {"struck": () if one.struck else (1,)},
    "The seats struck out are []": lambda one: {"faults": one.faults[1:]},
    "Two faults are recorded": lambda one: {"faults": (*one.faults, one.faults[0])},
    "The default move at": chosen_as_default,
    "Its seed is": lambda _: {"seed": "my lucky seed"},
    "Its seating is": lambda one: {"seating": (*one.seating[1:], one.seating[0])},
    "The game is not over": lambda one: {"moves": one.moves[:-1]},
    "comes after the end of the game": lambda one: {"moves": (*one.moves, "pass")},
    "Move 0 (call:4h)": lambda one: {"moves": ("call:4h", *one.moves)},
}


@pytest.mark.parametrize("says", FORGERIES)
def test_a_forged_match_is_found(honest: MemoryRun, says: str) -> None:
    at = next(i for i, record in enumerate(honest.records) if record.struck)
    records = list(honest.records)
    records[at] = replace(records[at], **FORGERIES[says](records[at]))
    mismatches = verify(replace(honest, records=records)).mismatches
    assert {mismatch.match for mismatch in mismatches} == {records[at].match}
    assert any(says in mismatch.detail for mismatch in mismatches)


def test_a_score_forged_in_the_table_alone_is_found(honest: MemoryRun) -> None:
    summaries = list(honest.summary_rows)
    summaries[2] = summaries[2]._replace(adjusted=(100, 0, 0))
    (mismatch,) = verify(replace(honest, summary_rows=summaries)).mismatches
    assert mismatch.match == summaries[2].match
    assert "adjusted" in mismatch.detail


def test_a_left_out_match_is_found(honest: MemoryRun) -> None:
    records, summaries = list(honest.records), list(honest.summary_rows)
    missing = records.pop(5)
    del summaries[5]
    (mismatch,) = verify(replace(honest, summary_rows=summaries, records=records)).mismatches
    assert mismatch.match == missing.match
    assert "The store lacks this match" in mismatch.detail


def test_a_deal_that_was_not_scheduled_is_found(honest: MemoryRun, tmp_path: Path) -> None:
    """The third deal of a longer cup is valid in itself, but this cup has only two."""
    with run(tmp_path, cup(deals=3, commit=True), {"cat": 12}) as store:
        longer = in_memory(store)
    records, summaries = longer.records, longer.summary_rows
    swapped = verify(
        MemoryRun(honest.about, summaries[:3] + summaries[6:], records[:3] + records[6:])
    )
    detail_of = {mismatch.match: mismatch.detail for mismatch in swapped.mismatches}
    for extra, missing in zip(records[6:], honest.records[3:], strict=True):
        assert "no such match" in detail_of[extra.match]
        assert "lacks this match" in detail_of[missing.match]


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("seed", "2026-autumn", "The seed is not the one that was committed to."),
        ("commitment", None, "The cup commits to its seed, but the store has no commitment."),
        ("total", 7, "The run's total is 7 matches; by its cup it is 6."),
        ("places", {"ann": 1}, "The places are None, the store has {'ann': 1}."),
        ("settled", ("ann",), "Settled are [], the store has ['ann']."),
    ],
)
def test_a_forged_fact_is_found(honest: MemoryRun, name: str, value: object, says: str) -> None:
    assert details(honest, **{name: value})[0] == (None, says)


def test_a_commitment_of_a_cup_without_one_is_found(honest: MemoryRun) -> None:
    plain = replace(honest.about.cup, commit=False)
    assert details(honest, cup=plain, commitment=None) == []
    ((_, detail),) = details(honest, cup=plain)
    assert detail.startswith("The store has a commitment to a seed, but the cup does not")


def test_changed_places_of_a_knockout_are_found(tmp_path: Path) -> None:
    with run(tmp_path, cup(tuple("abcdef"), format="knockout")) as store:
        assert verify(store).mismatches == []
        places = dict(store.run().places or {})
        best, second, *_ = places
        store.finish({**places, best: places[second], second: places[best]})
        ((_, detail),) = details(in_memory(store))
        assert detail.startswith(f"The places are {places}, the store has {{'")
        store.finish()
        assert not verify(store).verified
        store.reopen(store.count())
        assert verify(store).verified
        ((_, detail),) = details(replace(in_memory(store), signed=None), places=places)
        assert detail.startswith("The run has not ended, but the store has places")
