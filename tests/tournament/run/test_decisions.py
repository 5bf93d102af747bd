"""The organiser's decisions on runs that are being played and that have ended."""

import shutil
from collections.abc import Mapping
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tests.support.tournament import cups, played
from tests.support.tournament.cups import code_and_text, fails, standings, stich, succeed
from tests.support.tournament.moments import before_statement
from tests.support.tournament.one_table import Clock, OneTable, play
from tests.tournament.run.conftest import BOTS, FAULTY, STOP
from tournament.config.parse import read_cup
from tournament.formats import Plan
from tournament.model import Run
from tournament.records import Disqualify, Epoch, Undo, Void, Withdraw
from tournament.run.consequences import apply_voids, last_exclusion
from tournament.run.resume import resume
from tournament.store.store import Store


def test_a_decision_that_makes_no_sense_is_refused(run: Path) -> None:
    for command, *words, said in (
        ("withdraw", "eve", "There is no bot eve; there are ann, bob, cat, dan."),
        ("disqualify", "eve", "There is no bot eve; there are ann, bob, cat, dan."),
        ("withdraw", "ann", "This run has ended, so ann no longer plays anyway."),
        ("pause", "This run has ended."),
        ("resume", "This run has ended."),
        ("void", 999, "There is no finished match of block 999; `stich matches` lists"),
        ("void", "²", "There is no match ²; `stich matches` lists them all."),
    ):
        fails(str(said), command, run, *words)
    with Store.open(run) as store:
        assert store.decisions() == []


def test_the_tables_of_a_disqualified_bot_do_not_count(run: Path) -> None:
    """The decision can be reversed, also after the end."""
    before = standings(run)
    succeed("disqualify", run, "dan", "--why", "It attacked ann.", "--yes")
    table = standings(run)
    assert {line["bot"] for line in table["standings"]} == {"ann", "bob", "cat"}
    assert table["matches"] == 6
    assert any("dan was disqualified" in text for text in table["incidents"])
    succeed("verify", run)
    with Store.open(run) as store:
        assert store.count() == 24, "nothing is deleted"
    (run / "rows.jsonl").write_text(stich("export", run, "--format", "jsonl").stdout)
    unasked = [{**line, "fallback": None} for line in table["standings"]]  # rows do not tell
    assert standings(run / "rows.jsonl")["standings"] == unasked
    succeed("report", run)
    page = (run / "report.html").read_text()
    for part in ("It attacked ann.", "24 matches (6 count)", '<span class="tag">disqualified'):
        assert part in page
    assert "24 matches (6 count)" in code_and_text("standings", run)[1]
    fails("dan is disqualified already.\n", "disqualify", run, "dan")
    assert code_and_text("undo", run) == (0, "Taken back: disqualify dan.\n")
    after = standings(run)
    assert after["standings"] == before["standings"]
    assert "The latest decision about dan was taken back." in after["incidents"][1]
    succeed("verify", run)
    fails("No bot is withdrawn or disqualified.", "undo", run)
    succeed("disqualify", run, "dan", "--yes")


@pytest.mark.parametrize(
    ("format", "bots", "command", "said"),
    [
        ("round-robin", 3, "withdraw", "This leaves no table: the cup ends now. `stich undo`"),
        ("round-robin", 4, "withdraw", "18 matches at 3 tables will not be played. `stich undo`"),
        ("knockout", 4, "disqualify", "No table and no round falls away: at its tables the others"),
        ("ladder", 3, "disqualify", "stop counting when the next epoch begins. Too few bots are"),
    ],
)
def test_the_organiser_is_told_what_a_decision_would_do(
    tmp_path: Path, format: str, bots: int, command: str, said: str
) -> None:
    played.unfinished(tmp_path, played.cup(BOTS[:bots], format=format)).close()
    code, text = code_and_text(command, tmp_path, "ann")
    assert (code, said in text) == (2, True)
    assert text.endswith("To do so without being asked, add --yes.\n")
    with Store.open(tmp_path) as store:
        assert not store.decisions()


@pytest.mark.parametrize(("epoch", "finished", "out"), [(4, False, 0), (6, False, 1), (4, True, 1)])
def test_a_ladder_drops_results_at_its_next_epoch(epoch: int, finished: bool, out: int) -> None:
    epochs = (Epoch(1, f"2026-11-23T18:0{epoch}:00.000+00:00", BOTS, ()),)
    decisions = (Disqualify(number=1, at="2026-11-23T18:05:00.000+00:00", bot="ann"),)
    of = played.cup(BOTS, format="ladder")
    run = Run(cup=of, finished=finished, epochs=epochs, decisions=decisions)
    assert len(run.disqualified) == out


def test_the_organiser_is_asked_on_a_terminal(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stich.commands.decisions.is_asked", lambda: True)
    for answer, code in (("n\n", 1), ("", 130), ("y\n", 0)):
        done = stich("disqualify", run, "dan", input=answer)
        assert "the results of all its tables stop counting." in done.stdout
        assert "`stich undo` takes this back at any time. Go on?" in done.stdout
        assert done.returncode == code
        with Store.open(run) as store:
            assert len(store.decisions()) == (code == 0)


def test_nothing_is_decided_twice(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("stich.commands.decisions.is_asked", lambda: True)
    monkeypatch.setattr("click.confirm", lambda _: succeed("disqualify", run, "dan", "--yes"))
    done = stich("disqualify", run, "dan")
    assert (done.returncode, done.stderr) == (1, "dan is disqualified already.\n")

    def undo_meanwhile(store: Store, plan: Plan) -> Withdraw | Disqualify:
        last = last_exclusion(store, plan)
        store.decide(Undo(bot=last.bot))
        return last

    monkeypatch.setattr("stich.commands.decisions.last_exclusion", undo_meanwhile)
    fails("Another decision was made meanwhile; nothing was changed. Try again.\n", "undo", run)


def test_bots_of_a_disqualified_author_are_named(tmp_path: Path) -> None:
    out = tmp_path / "run"
    with cups.served_toys(4) as urls:
        bots = {name: {"url": url, "author": name} for name, url in urls.items()}
        bots["toy1"]["author"] = bots["toy3"]["author"] = "Zoe"
        cup = cups.write(tmp_path, bots, deals=1)
        with Store.create(out) as store:
            resume(store, read_cup(cup))
        done = succeed("disqualify", out, "toy1", "--yes")
        assert "Of the same author, and still playing: toy3." in done.stdout
        warnings = " ".join(stich("run", cup, "--out", out).stderr.split())
        assert "toy3 has the same author as toy1, which is disqualified." in warnings


def test_a_withdrawal_can_be_reversed_until_it_has_effects(run: Path) -> None:
    with Store.open(run) as store:
        match = next(match for match in store.summaries() if "dan" in match.table)
    for undone, matches in ((True, 24), (False, 21)):
        succeed("void", run, match.match)
        succeed("withdraw", run, "dan", "--yes")
        if undone:
            with Store.open(run) as store:
                store.record_total(21)  # as the session does once it has noticed
            succeed("undo", run)
            succeed("verify", run)
        with Store.open(run) as store:
            told: list[Mapping[str, str]] = []
            play(store, played.cup(BOTS), {}, exclude=told.append)
        assert standings(run)["matches"] == matches
        succeed("verify", run)
    assert told[-1] == {"dan": "The organiser decided that dan no longer plays."}
    fails("The cup has continued without dan since", "undo", run)
    # The table that was left out also seats another bot, which is not the reason.
    other = match.table[0]
    succeed("disqualify", run, other, "--yes")
    assert code_and_text("undo", run) == (0, f"Taken back: disqualify {other}.\n")


@pytest.mark.parametrize("format", ["knockout", "swiss", "halving"])
def test_a_disqualified_bot_leaves_its_place(tmp_path: Path, format: str) -> None:
    names = (*BOTS, "eve", "fay")
    played.run(tmp_path, played.cup(names, format=format)).close()
    winner, *before = standings(tmp_path)["standings"]
    succeed("disqualify", tmp_path, winner["bot"], "--yes")
    after = standings(tmp_path)["standings"]
    assert {line["bot"] for line in after} == {*names} - {winner["bot"]}
    if format == "knockout":
        assert [line["bot"] for line in after] == [line["bot"] for line in before]
        assert [line["place"] for line in after] == [line["place"] - 1 for line in before]
    succeed("verify", tmp_path)


def test_a_paused_run_continues_with_other_decisions(tmp_path: Path) -> None:
    """Of 48 matches toy3 plays 36, so some of the first 40 are without it."""
    gate, out = cups.Gate(40), tmp_path / "run"
    with cups.served_toys(4, gate) as bots:
        cup = cups.write(tmp_path, bots, deals=4, move_ms=60_000, concurrency=2)
        with cups.started("run", cup, "--out", out, "--json") as runner:
            seen = cups.events(runner)
            assert len(list(islice((e for e in seen if e["event"] == "match"), 40))) == 40
            succeed("pause", out, "--why", "Lunch.")
            pause = next(e for e in seen if e["event"] == "decision")
            assert (pause["decision"], pause["why"]) == ("pause", "Lunch.")
            gate.open()
            fails("This run is paused already.\n", "pause", out)
            with Store.open(out) as store:
                first = next(match for match in store.summaries() if "toy3" not in match.table)
            succeed("withdraw", out, "toy3", "--yes")
            assert "when the runner has time" in stich("void", out, first.match).stdout
            succeed("resume", out)
            rest = list(seen)
        assert runner.returncode == 0
    kinds = [event["decision"] for event in rest if event["event"] == "decision"]
    assert kinds == ["withdraw", "void", "resume"]
    *_, last = (event for event in rest if event["event"] == "match")
    with Store.open(out) as store:
        assert store.run().finished
        assert last["done"] == last["total"] == store.run().total == store.count() < 48
        assert sum("toy3" not in match.table for match in store.summaries()) == 12
        assert not any(match.faults for match in store.matches())
    succeed("verify", out)


@pytest.mark.parametrize("command", ["standings", "verify", "export", "matches"])
def test_a_command_reads_a_run_as_it_was_at_one_moment(tmp_path: Path, command: str) -> None:
    """A match becomes void before each statement of the command."""
    whole, out = tmp_path / "whole", tmp_path / "run"
    played.run(whole, played.cup(deals=1)).close()
    seen = []
    for moment in count(1):
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(whole, out)
        with Store.open(out) as store:
            store.accept()
        with before_statement(sa.Engine, moment) as changes:
            changes.append(lambda: make_void(out))
            seen.append(code_and_text(command, out))
            if changes:
                break
    make_void(out)
    before, after = seen[-1], code_and_text(command, out)
    assert before[0] == after[0] == 0
    assert before != after
    assert {*seen} == {before, after}


def make_void(out: Path) -> None:
    with Store.open(out) as store:
        store.decide(Void(block=1, matches=(next(store.summaries()).match,)))
        apply_voids(store, played.plan(played.cup(deals=1)))


def test_a_bot_that_is_withdrawn_from_a_knockout_leaves_it(tmp_path: Path) -> None:
    cup = played.cup((*BOTS, "eve", "fay"), format="knockout", deals=1)
    with played.unfinished(tmp_path, cup) as store:
        play(store, cup, {1: partial(store.decide, Withdraw(bot="ann"))})
    succeed("verify", tmp_path)
    fails("The cup has continued without ann since", "undo", tmp_path)


@pytest.mark.parametrize(
    ("before", "after_30", "settled"),
    [
        ([], [], [("ann",)]),
        ([], [Withdraw(bot="dan")], [("ann",), ()]),
        ([Withdraw(bot="ann"), Withdraw(bot="bob")], [], [()]),
        ([], [Disqualify(bot="ann")], [("bob",), ()]),
    ],
    ids=["none", "withdrawn", "before the first match", "the best"],
)
def test_a_cup_stops_early_without_the_bots_that_left(
    tmp_path: Path, clock: Clock, before: list[Any], after_30: list[Any], settled: list[Any]
) -> None:
    tables = OneTable(STOP, clock=clock, faulty=FAULTY)
    with played.unfinished(tmp_path, STOP) as store:
        store.decide(*before)
        play(store, STOP, {30: partial(store.decide, *after_30)}, tables)
        assert store.run().settled in settled
        if len(settled) == 1:
            assert store.count() < 18 * 4 * 3
    succeed("verify", tmp_path)
    # What is decided after the end does not change how the cup ended.
    if not before and not after_30:
        succeed("disqualify", tmp_path, "ann", "--yes")
        succeed("verify", tmp_path)
