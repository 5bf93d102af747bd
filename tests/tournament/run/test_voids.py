"""Matches that the organiser makes void, on runs that go on and that have ended."""

import itertools
import json
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support import played
from tests.support.cups import code_and_text, standings, stich, toys, write
from tests.support.one_table import OneTable, Organiser
from tests.tournament.run.conftest import BOTS
from tournament.decisions import pending
from tournament.records import AnyDecision, Revocation, Void
from tournament.run.roster import Roster
from tournament.run.session import Session
from tournament.run.voiding import apply_voids
from tournament.store.store import Store


def test_a_match_of_a_finished_run_is_void_and_kept(run: Path) -> None:
    with Store.open(run) as store:
        before = {match.match: match for match in store.matches()}
        match = list(before)[5]
    code, text = code_and_text("void", run, match[:10], "--why", "The network was down.")
    assert (code, text) == (0, "1 match of block 2 void, to be played again.\n")
    with Store.open(run) as store:
        assert {one.match for one in store.matches()} == before.keys() - {match}
        assert not store.run().finished
        (void,) = store.voids()
        assert isinstance(void, Revocation)
        assert (void.match, void.decision) == (match, 1)
        assert void.why == "The network was down."
        (decision,) = store.decisions()
        assert isinstance(decision, Void)
        assert decision.matches == (match,)
        store.add(before[match])  # played again
        store.finish()
        assert {one.match: one for one in store.matches()} == before
    assert stich("verify", run).returncode == 0
    for command in ("standings", "verify"):
        assert "1 match of block 2 became void (The network was down.)." in code_and_text(
            command, run
        )[1].replace("\n", " ")
    assert json.loads(stich("standings", run, "--json").stdout)["decisions"][0]["kind"] == "void"


def test_only_the_last_round_can_be_void(tmp_path: Path) -> None:
    played.run(tmp_path / "swiss", played.cup(BOTS, format="swiss")).close()
    code, text = code_and_text("void", tmp_path / "swiss", 1)
    assert code == 1
    assert text.startswith("Block 1 has decided how the cup continues")
    assert stich("void", tmp_path / "swiss", 4).returncode == 0


def test_an_ended_cup_whose_seed_is_known_is_not_played_again(tmp_path: Path) -> None:
    played.run(tmp_path / "run", played.cup(commit=True)).close()
    code, text = code_and_text("void", tmp_path / "run", 1)
    assert code == 1
    assert text.startswith("This cup has ended and its seed was shown")


@pytest.mark.parametrize("format", ["round-robin", "swiss"])
def test_a_decision_that_comes_when_a_round_ends_is_acted_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, format: str
) -> None:
    """The last match of each round becomes void just when it is written, whenever the runner has
    looked for decisions before."""
    monkeypatch.setattr("tournament.run.session.monotonic", lambda: 0.0)
    cup = played.cup(BOTS, format=format)
    plan = played.plan(cup)
    executor = OneTable(cup)
    with played.unfinished(tmp_path / "run", cup) as store:
        total = plan.matches
        ends = {total // 2, total} if format == "swiss" else {total}

        def void() -> None:
            *_, (_, last) = store.written_after(-1)
            store.decide(Void(block=last.block, matches=(last.match,)))

        organiser = Organiser(store, dict.fromkeys(ends, void))
        with Session(plan, Roster(cup), executor, store, organiser) as session:
            session.play()
        assert store.count() == total
        assert not pending(store.decisions(), store.voids())
        again = [at for at, match in enumerate(executor.played) if match in executor.played[:at]]
        assert again == ([total // 2, total + 1] if format == "swiss" else [total])
    assert stich("verify", tmp_path / "run").returncode == 0


def test_a_decision_that_comes_while_another_is_acted_on_loses_no_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tournament.run.session.monotonic", itertools.count().__next__)
    cup = played.cup(BOTS)
    with played.unfinished(tmp_path, cup) as store:

        def void(number: int) -> None:
            match = list(store.matches())[number]
            store.decide(Void(block=match.block, matches=(match.match,)))

        class Hasty(Organiser):
            """Makes a second match void as soon as the first decision is read."""

            def decided(self, decision: AnyDecision) -> None:
                if len(store.decisions()) == 1:
                    void(1)

        plan = played.plan(cup)
        organiser = Hasty(store, {3: partial(void, 0)})
        with Session(plan, Roster(cup), OneTable(cup), store, organiser) as session:
            session.play()
        assert store.count() == plan.matches
    assert stich("verify", tmp_path).returncode == 0


class Killed(BaseException):
    """What a test raises in place of the kill of a program."""


def killed_after(writes: int, monkeypatch: pytest.MonkeyPatch, *words: object) -> bool:
    """Run a command and kill it when it begins a transaction after so many; whether it was."""
    write = Store._write
    left = writes

    def counted(store: Store) -> Any:
        nonlocal left
        left -= 1
        if left < 0:
            raise Killed
        return write(store)

    with monkeypatch.context() as patch, suppress(Killed):
        patch.setattr(Store, "_write", counted)
        stich(*words)
    return left < 0


def test_a_void_that_is_killed_at_any_moment_loses_no_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cup = write(tmp_path, toys(3), deals=1)  # whose cards stay the same
    out = tmp_path / "run"
    assert stich("run", cup, "--out", out).returncode == 0
    before = standings(out)["standings"]
    writes = 0
    while killed_after(writes, monkeypatch, "void", out, 1):
        with Store.open(out) as store:
            assert store.count() == 3 or not store.run().finished
        assert stich("run", cup, "--out", out).returncode == 0
        assert standings(out)["standings"] == before
        assert stich("verify", out).returncode == 0
        writes += 1
    assert writes == 3  # the decision, that the run is open again, and the matches


def test_who_repeats_a_void_does_not_void_twice(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert killed_after(1, monkeypatch, "void", run, 3)
    code, text = code_and_text("void", run, 3)
    assert (code, text) == (1, "This is already to be voided; `stich run` plays it again.\n")


def test_what_cannot_be_played_again_does_not_become_void(run: Path) -> None:
    """Two blocks at tables of dan, who leaves: one cannot become void, one was void in part."""
    with Store.open(run) as store:
        dans = sorted({one.block for one in store.summaries() if "dan" in one.table})
        others = {one.match for one in store.summaries() if one.block != dans[0]}
        match = next(one.match for one in store.summaries() if one.block == dans[0])
    assert stich("void", run, match).returncode == 0
    assert stich("withdraw", run, "dan", "--yes").returncode == 0
    code, text = code_and_text("void", run, dans[1])
    assert code == 1
    assert text.startswith("dan no longer plays, so this cannot be played again.")
    with Store.open(run) as store:
        plan = played.plan(played.cup(BOTS))
        apply_voids(store, plan)
        assert {one.match for one in store.summaries()} == others, "no block in part"
        assert len(store.voids()) == 3
        assert store.voids()[-1].why == "dan no longer plays, so its block cannot be completed."
        store.finish()
        assert apply_voids(store, plan) == []
    assert stich("verify", run).returncode == 0
