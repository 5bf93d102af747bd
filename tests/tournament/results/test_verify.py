from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.memory_run import MemoryRun
from tests.support.played import cup, played, run, unfinished
from tournament.config.cup import Bot
from tournament.records import MatchRecord
from tournament.results.export import rows
from tournament.results.standings import standings
from tournament.results.verify import Mismatch, verify


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> MemoryRun:
    with run(tmp_path_factory.mktemp("run"), cup(commit=True), {"cat": 12}) as store:
        return MemoryRun(store.run(), list(store.summaries()), list(store.matches()))


def forged(honest: MemoryRun, at: int, **changes: Any) -> list[Mismatch]:
    records = list(honest.records)
    records[at] = replace(records[at], **changes)
    return verify(MemoryRun(honest.about, honest.summary_rows, records)).mismatches


def test_fresh_cards_follow_from_the_seed_of_the_run_and_the_table_says_what_is_shared(
    tmp_path: Path,
) -> None:
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
        records = list(store.matches())
        records[1] = replace(records[1], seed=records[0].seed)
        swapped = MemoryRun(store.run(), list(store.summaries()), records)
        assert verify(swapped).mismatches


def test_an_honest_run_is_verified(honest: MemoryRun) -> None:
    assert any(record.struck for record in honest.records), "strikes should be among them"
    done = verify(honest)
    assert done.mismatches == []
    assert done.verified
    assert (done.matches, done.blocks, done.deals) == (6, 2, 6)
    assert done.moves == sum(len(record.moves) for record in honest.records)
    assert done.commitment is True
    assert done.to_dict()["verified"] is True


FORGERIES: dict[str, Callable[[MatchRecord], dict[str, Any]]] = {
    "The scores are": lambda one: {"scores": (one.scores[0] + 1, *one.scores[1:])},
    "The scores after strikes are": lambda one: {"adjusted": (99, *one.adjusted[1:])},
    "The results of the deals": lambda one: {"results": one.results[1:]},
    "The seats struck out are": lambda one: {"struck": () if one.struck else (1,)},
    "The seats struck out are []": lambda one: {"faults": one.faults[1:]},
    "Its seed is": lambda _: {"seed": "my lucky seed"},
    "Its seating is": lambda one: {"seating": (*one.seating[1:], one.seating[0])},
    "The game is not over": lambda one: {"moves": one.moves[:-1]},
    "comes after the end of the game": lambda one: {"moves": (*one.moves, "pass")},
    "Move 0 (call:4h)": lambda one: {"moves": ("call:4h", *one.moves)},
}


@pytest.mark.parametrize("says", FORGERIES)
def test_what_was_forged_is_found(honest: MemoryRun, says: str) -> None:
    at = next(i for i, record in enumerate(honest.records) if record.struck)
    record = honest.records[at]
    mismatches = forged(honest, at, **FORGERIES[says](record))
    assert {mismatch.match for mismatch in mismatches} == {record.match}
    assert any(says in mismatch.detail for mismatch in mismatches)


def test_a_score_forged_in_the_table_alone_is_found(honest: MemoryRun) -> None:
    rows = list(honest.summary_rows)
    rows[2] = rows[2]._replace(adjusted=(100, 0, 0))
    (mismatch,) = verify(MemoryRun(honest.about, rows, honest.records)).mismatches
    assert mismatch.match == rows[2].match
    assert "adjusted" in mismatch.detail


def test_a_forged_move_is_found(honest: MemoryRun) -> None:
    """Another bid changes the value of the deal; the last bid comes before the first play."""
    moves = list(honest.records[1].moves)
    last = max(i for i, move in enumerate(moves) if move.startswith("bid:"))
    moves[last] = "bid:2" if moves[last] == "bid:3" else "bid:3"
    details = [mismatch.detail for mismatch in forged(honest, 1, moves=tuple(moves))]
    assert any("not legal" in detail or "scores" in detail for detail in details)


def test_default_moves_must_follow_their_rule(honest: MemoryRun) -> None:
    """A move is recorded as a default move, but the bot chose it."""
    record = next(record for record in honest.records if record.faults)
    others = {*record.forced, *(fault.move for fault in record.faults)}
    asked = (index for index in range(6, len(record.moves)) if index not in others)
    chosen = next(index for index in asked if record.moves[index] != "pass")
    fault = replace(record.faults[0], move=chosen, played=record.moves[chosen])
    details = forged(honest, honest.records.index(record), faults=(*record.faults, fault))
    assert any(each.detail.startswith("The default move at") for each in details)


def test_a_left_out_match_is_found(honest: MemoryRun) -> None:
    for left_out in (0, 3, 5):
        records, rows = list(honest.records), list(honest.summary_rows)
        del records[left_out], rows[left_out]
        (mismatch,) = verify(MemoryRun(honest.about, rows, records)).mismatches
        assert mismatch.match == honest.records[left_out].match
        assert "The store lacks this match" in mismatch.detail


def test_a_deal_that_was_not_scheduled_is_found(honest: MemoryRun, tmp_path: Path) -> None:
    """The third deal of a longer cup is valid in itself, but this cup has only two."""
    with run(tmp_path, cup(deals=3, commit=True), {"cat": 12}) as store:
        records, rows = list(store.matches()), list(store.summaries())
    swapped = verify(MemoryRun(honest.about, rows[:3] + rows[6:], records[:3] + records[6:]))
    detail_of = {mismatch.match: mismatch.detail for mismatch in swapped.mismatches}
    for extra, missing in zip(records[6:], honest.records[3:], strict=True):
        assert "no such match" in detail_of[extra.match]
        assert "lacks this match" in detail_of[missing.match]


def test_another_seed_than_the_committed_one_is_found(honest: MemoryRun) -> None:
    about = replace(honest.about, seed="2026-autumn")
    done = verify(MemoryRun(about, honest.summary_rows, honest.records))
    assert done.commitment is False
    assert done.mismatches[0] == Mismatch(None, "The seed is not the one that was committed to.")


def about(honest: MemoryRun, **facts: Any) -> list[str]:
    done = verify(MemoryRun(replace(honest.about, **facts), honest.summary_rows, honest.records))
    return [mismatch.detail for mismatch in done.mismatches if mismatch.match is None]


def test_a_promised_commitment_cannot_be_left_out(honest: MemoryRun, tmp_path: Path) -> None:
    lacking = ["The cup commits to its seed, but the store has no commitment."]
    assert about(honest, commitment=None) == lacking
    with run(tmp_path, cup()) as store:
        plain = MemoryRun(store.run(), list(store.summaries()), list(store.matches()))
    assert about(plain) == []
    (detail,) = about(plain, commitment=honest.about.commitment)
    assert detail.startswith("The store has a commitment to a seed, but the cup does not")


@pytest.mark.parametrize(
    ("what", "value"),
    [
        ("total", 7),
        ("places", {"ann": 1, "bob": 2, "cat": 3}),
    ],
)
def test_facts_that_do_not_follow_from_the_cup_are_found(
    honest: MemoryRun, what: str, value: object
) -> None:
    (detail,) = about(honest, **{what: value})
    assert detail.startswith((f"The run's {what} is", f"The {what} are None, the store has"))


def test_changed_places_of_a_knockout_are_found(tmp_path: Path) -> None:
    with run(tmp_path, cup(tuple("abcdef"), format="knockout")) as store:
        assert verify(store).mismatches == []
        places = dict(store.run().places or {})
        best, second, *_ = places
        store.finish({**places, best: places[second], second: places[best]})
        (mismatch,) = verify(store).mismatches
        assert mismatch.detail.startswith(f"The places are {places}, the store has {{'")
        store.finish()
        assert not verify(store).verified
        store.reopen(store.count())
        assert verify(store).verified
        forged = replace(store.run(), places=places)
        (detail,) = [
            one.detail
            for one in verify(
                MemoryRun(forged, list(store.summaries()), list(store.matches()), signed=None)
            ).mismatches
        ]
        assert detail.startswith("The run has not ended, but the store has places")


def test_a_run_under_way_is_verified_as_far_as_it_is(tmp_path: Path) -> None:
    of = cup()
    with unfinished(tmp_path, of) as store:
        records: Iterator[MatchRecord] = iter(played(of))
        for _ in range(4):
            store.add(next(records))
        done = verify(store)
    assert done.verified
    assert not done.finished
    assert done.matches == 4


def test_what_cannot_be_read_is_a_problem(honest: MemoryRun) -> None:
    class Unreadable(MemoryRun):
        def matches(self, blocks: range | None = None) -> Iterator[MatchRecord]:
            yield self.records[0]
            raise ValueError("no JSON")

    done = verify(Unreadable(honest.about, honest.summary_rows, honest.records))
    assert "cannot be read beyond 1 match:" in done.mismatches[-1].detail
