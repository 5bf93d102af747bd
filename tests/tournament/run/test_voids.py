"""Matches that the organiser makes void, in runs that are being played and that have ended."""

from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path

import pytest

from tests.support.tournament import played
from tests.support.tournament.cups import code_and_text, fails, standings, succeed
from tests.support.tournament.one_table import Clock, OneTable, Organiser, play
from tests.tournament.run.conftest import BOTS
from tournament.decisions import pending
from tournament.records import AnyDecision, Revocation, Void
from tournament.run.consequences import apply_voids
from tournament.store.engine import StoreError
from tournament.store.store import Store


def test_a_match_of_a_finished_run_is_void_and_kept(run: Path) -> None:
    with Store.open(run) as store:
        before = {match.match: match for match in store.matches()}
        match = list(before)[5]
    code, text = code_and_text("void", run, match[:10], "--why", "The network was down.")
    assert (code, text) == (0, "1 match of block 2 void, to be played again.\n")
    with Store.open(run) as store:
        assert {other.match for other in store.matches()} == before.keys() - {match}
        assert not store.run().finished
        (void,) = store.voids()
        assert isinstance(void, Revocation)
        assert (void.match, void.decision, void.why) == (match, 1, "The network was down.")
        play(store, played.cup(BOTS), {})
        assert {record.match for record in store.matches()} == before.keys()
        assert store.run().finished
    sentence = "1 match of block 2 became void (The network was down.)."
    for command in ("standings", "verify"):
        code, text = code_and_text(command, run)
        assert (code, sentence in text.replace("\n", " ")) == (0, True)
    (decision,) = standings(run)["decisions"]
    assert (decision["kind"], decision["matches"]) == ("void", [match])


def test_an_error_while_a_match_becomes_void_is_told(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object) -> None:
        raise StoreError("The disk is full.")

    monkeypatch.setattr("stich.commands.decisions.apply_voids", fail)
    fails("The disk is full.", "void", run, 1)


def test_a_match_that_cannot_be_played_again_stays(tmp_path: Path) -> None:
    swiss, public = tmp_path / "swiss", tmp_path / "public"
    played.run(swiss, played.cup(BOTS, format="swiss")).close()
    fails("Block 1 has decided how the cup continues", "void", swiss, 1)
    succeed("void", swiss, 4)
    played.run(public, played.cup(commit=True)).close()
    fails("This cup has ended and its seed was shown", "void", public, 1)


@pytest.mark.parametrize("format", ["round-robin", "swiss"])
def test_a_decision_that_comes_when_a_round_ends_takes_effect(
    tmp_path: Path, clock: Clock, format: str
) -> None:
    """The last match of each round becomes void just when it is stored.

    The clock stands still, so the session has not looked for decisions meanwhile.
    """
    cup = played.cup(BOTS, format=format)
    tables, total = OneTable(cup), played.plan(cup).matches
    ends = [total // 2, total] if format == "swiss" else [total]
    with played.unfinished(tmp_path / "run", cup) as store:

        def void() -> None:
            *_, (_, last) = store.written_after(-1)
            store.decide(Void(block=last.block, matches=(last.match,)))

        play(store, cup, dict.fromkeys(ends, void), tables)
        assert store.count() == total
        assert not pending(store.decisions(), store.voids())
    again = [at for at, match in enumerate(tables.played) if match in tables.played[:at]]
    assert again == [end + at for at, end in enumerate(ends)]
    succeed("verify", tmp_path / "run")


def test_a_decision_that_comes_as_one_is_read_takes_effect(tmp_path: Path, clock: Clock) -> None:
    cup = played.cup(BOTS)
    with played.unfinished(tmp_path, cup) as store:

        def void(number: int) -> None:
            match = list(store.matches())[number]
            store.decide(Void(block=match.block, matches=(match.match,)))

        class Hasty(Organiser):
            def decided(self, decision: AnyDecision) -> None:
                if len(store.decisions()) == 1:
                    void(1)

        tables = OneTable(cup, clock=clock)
        play(store, cup, {3: partial(void, 0)}, tables, Hasty)
        assert (store.count(), len(store.voids())) == (24, 2)
    succeed("verify", tmp_path)


def test_a_void_that_is_killed_at_any_moment_loses_no_match(tmp_path: Path) -> None:
    cup = played.cup(deals=1)
    played.run(tmp_path, cup).close()
    before = standings(tmp_path)["standings"]
    for writes in count():
        transactions = [Store._write] * writes
        with pytest.MonkeyPatch.context() as patch, suppress(IndexError):  # killed: none is left
            patch.setattr(Store, "_write", lambda store, left=transactions: left.pop()(store))
            succeed("void", tmp_path, 1)
            break
        if writes == 1:
            fails("This is already to be voided; `stich run` plays it", "void", tmp_path, 1)
        with Store.open(tmp_path) as store:
            assert store.count() == 3 or not store.run().finished
            play(store, cup, {})
        assert standings(tmp_path)["standings"] == before
        succeed("verify", tmp_path)
    assert writes == 3  # the decision, that the run is open again, and the matches


def test_blocks_of_a_withdrawn_bot_do_not_become_void(run: Path) -> None:
    """Of two blocks with dan, who leaves, one cannot become void, and one was void in part."""
    with Store.open(run) as store:
        dans = sorted({match.block for match in store.summaries() if "dan" in match.table})
        others = {match.match for match in store.summaries() if match.block != dans[0]}
        first = next(match.match for match in store.summaries() if match.block == dans[0])
    succeed("void", run, first)
    succeed("withdraw", run, "dan", "--yes")
    fails("dan no longer plays, so this cannot be played again.", "void", run, dans[1])
    with Store.open(run) as store:
        plan = played.plan(played.cup(BOTS))
        apply_voids(store, plan)
        assert {match.match for match in store.summaries()} == others, "no block in part"
        assert len(store.voids()) == 3
        assert store.voids()[-1].why == "dan no longer plays, so its block cannot be completed."
        store.finish()
        assert apply_voids(store, plan) == []
    succeed("verify", run)
