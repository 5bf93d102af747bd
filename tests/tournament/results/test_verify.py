from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.support.tournament.memory_run import MemoryRun
from tests.support.tournament.played import cup, played, run, unfinished
from tournament.config.cup import Bot
from tournament.records import FallbackRecord, MatchRecord
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
    mismatches = verify(replace(of, about=replace(of.about, **facts))).mismatches
    return [(mismatch.match, mismatch.detail) for mismatch in mismatches]


def test_an_honest_run_is_verified(honest: MemoryRun, tmp_path: Path) -> None:
    assert any(record.struck for record in honest.records), "strikes should be among them"
    done = verify(honest)
    moves = sum(len(record.moves) for record in honest.records)
    assert done.mismatches == []
    assert (done.matches, done.blocks, done.deals, done.moves) == (6, 2, 6, moves)
    assert done.commitment is done.to_dict()["verified"] is True
    fell_back = (FallbackRecord(seat=1, move=0, why="no answer"),)
    records = [replace(record, fallbacks=fell_back) for record in islice(played(cup()), 4)]
    with unfinished(tmp_path, cup(), records) as store:
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
    others = {*record.forced, *(fault.move for fault in record.faults)}
    asked = (index for index in range(6, len(record.moves)) if index not in others)
    chosen = next(index for index in asked if record.moves[index] != "pass")
    fault = replace(record.faults[0], move=chosen, played=record.moves[chosen])
    return {"faults": (*record.faults, fault)}


FORGERIES: dict[str, Callable[[MatchRecord], dict[str, Any]]] = {
    "The scores are": lambda match: {"scores": (match.scores[0] + 1, *match.scores[1:])},
    "The scores after strikes are": lambda match: {"adjusted": (99, *match.adjusted[1:])},
    "The results of the deals": lambda match: {"results": match.results[1:]},
    "The seats struck out are": lambda match: {"struck": () if match.struck else (1,)},
    "The seats struck out are []": lambda match: {"faults": match.faults[1:]},
    "Two faults are recorded": lambda match: {"faults": (*match.faults, match.faults[0])},
    "The default move at": chosen_as_default,
    "Its seed is": lambda _: {"seed": "my lucky seed"},
    "Its seating is": lambda match: {"seating": (*match.seating[1:], match.seating[0])},
    "The game is not over": lambda match: {"moves": match.moves[:-1]},
    "comes after the end of the game": lambda match: {"moves": (*match.moves, "pass")},
    "Move 0 (call:4h)": lambda match: {"moves": ("call:4h", *match.moves)},
}


@pytest.mark.parametrize("says", FORGERIES)
def test_a_forged_match_is_found(honest: MemoryRun, says: str) -> None:
    at = next(i for i, record in enumerate(honest.records) if record.struck)
    records = list(honest.records)
    records[at] = replace(records[at], **FORGERIES[says](records[at]))
    mismatches = verify(replace(honest, records=records)).mismatches
    assert {mismatch.match for mismatch in mismatches} == {records[at].match}
    assert any(says in mismatch.detail for mismatch in mismatches)


def test_what_the_table_or_the_matches_lack_is_found(honest: MemoryRun) -> None:
    records, summaries = honest.records, honest.summary_rows
    forged = [*summaries[:5], summaries[5]._replace(adjusted=(100, 0, 0))]
    for changed, says in (
        (replace(honest, summary_rows=forged), "Its adjusted in the table of matches: "),
        (replace(honest, summary_rows=summaries[:5], records=records[:5]), "The store lacks this"),
    ):
        (mismatch,) = verify(changed).mismatches
        assert mismatch.match == records[5].match
        assert mismatch.detail.startswith(says)


def test_a_deal_that_was_not_scheduled_is_found(honest: MemoryRun, tmp_path: Path) -> None:
    """The third deal of a longer cup is valid in itself, but this cup has only two."""
    with run(tmp_path, cup(deals=3, commit=True), {"cat": 12}) as store:
        longer = in_memory(store)
    records, summaries = longer.records, longer.summary_rows
    swap = MemoryRun(honest.about, summaries[:3] + summaries[6:], records[:3] + records[6:])
    swapped = verify(swap)
    detail_of = {mismatch.match: mismatch.detail for mismatch in swapped.mismatches}
    for extra, missing in zip(records[6:], honest.records[3:], strict=True):
        assert "no such match" in detail_of[extra.match]
        assert "lacks this match" in detail_of[missing.match]


def test_a_forged_fact_is_found(honest: MemoryRun) -> None:
    for facts, says in (
        ({"seed": "2026-autumn"}, "The seed is not the one that was committed to."),
        ({"commitment": None}, "The cup commits to its seed, but the store has no commitment."),
        ({"cup": cup()}, "The store has a commitment to a seed, but the cup does not"),
        ({"total": 7}, "The run's total is 7 matches; by its cup it is 6."),
        ({"places": {"ann": 1}}, "The places are None, the store has {'ann': 1}."),
        ({"settled": ("ann",)}, "Settled are [], the store has ['ann']."),
    ):
        match, detail = details(honest, **facts)[0]
        assert (match, detail[: len(says)]) == (None, says)


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
