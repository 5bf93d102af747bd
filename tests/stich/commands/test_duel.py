"""Duels: every mixed seating, mirrored, until one bot is ahead or the budget is spent."""

import re
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.support.tournament import played
from tests.support.tournament.cups import bot, events, json_lines, started, stich, succeed
from tests.support.tournament.memory_run import run_of
from tournament.formats.scores import Scores
from tournament.model import Run

WORSE, BETTER = "random", "greedy"
Decided = tuple[Path, list[dict[str, Any]]]
WORDS = ("--game", "dasan", "--seed", "x", "--out")


@pytest.fixture(scope="module")
def decided(tmp_path_factory: pytest.TempPathFactory) -> Decided:
    out = tmp_path_factory.mktemp("duel") / "out"
    return out, json_lines("duel", WORSE, BETTER, *WORDS, out)


@pytest.mark.parametrize(
    ("game", "players", "seatings"),
    [("doudizhu", 3, 6), ("dasan", 4, 14), ("zhengfen", 5, 30), ("zhengfen", 6, 62)],
)
def test_every_mixed_seating_has_its_mirror(game: str, players: int, seatings: int) -> None:
    bots = (BETTER, WORSE)
    cup = played.cup(bots, game=game, players=players, format="duel", seating="mixed", deals=8)
    duel = played.plan(cup)
    blocks = next(duel.rounds(Run(cup=cup, finished=False), Scores(run_of([])))).blocks
    assert duel.matches == 8 * seatings
    mirror = {WORSE: BETTER, BETTER: WORSE}
    for block in blocks:
        assert len(set(block.seatings)) == seatings
        for seats in block.seatings:
            assert set(seats) == set(mirror)
            assert tuple(mirror[name] for name in seats) in block.seatings


def test_a_duel_ends_when_one_bot_is_better(decided: Decided) -> None:
    *_, result = decided[1]
    assert (result["event"], result["ended"], result["better"]) == ("finished", "decided", BETTER)
    assert (result["blocks"] < 1000, result["evidence"] >= 20) == (True, True)
    looks = [event for event in decided[1] if event["event"] == "look"]
    assert [look["blocks"] for look in looks][:2] == [8, 16]
    assert all(look["low"] < look["difference"] < look["high"] for look in looks)
    ranks = [(line["bot"], line["rank"]) for line in result["standings"]]
    assert ranks == [(BETTER, [1, 1]), (WORSE, [2, 2])]
    duel = result["duel"]
    assert (duel["ahead"], duel["behind"], duel["better"]) == (BETTER, WORSE, BETTER)
    assert 0 < duel["low"] < duel["difference"] == -result["difference"] < duel["high"]
    assert duel["max_difference"] == 9


def test_the_folder_of_a_duel_has_its_result(decided: Decided) -> None:
    out, (*_, result) = decided
    (table,) = json_lines("standings", out)
    assert table == {key: result[key] for key in table}
    stich("export", out, "--format", "jsonl", "-o", out / "rows.jsonl")
    (exported,) = json_lines("standings", out / "rows.jsonl")
    assert exported["duel"] == result["duel"]
    shown = " ".join(stich("standings", out).stdout.split())
    lead = f"{result['duel']['difference']:.2f} points"
    assert f"blocks: {BETTER} is better than {WORSE}, by {lead}" in shown
    assert result["matches"] == 6 * result["blocks"]
    succeed("verify", out)


def test_a_stopped_duel_resumes_to_the_same_end(decided: Decided, tmp_path: Path) -> None:
    words = (WORSE, BETTER, *WORDS, tmp_path / "stopped")
    process, printed = started("duel", *words, "--concurrency", 2, "--json"), []
    for event in events(process):
        printed.append(event)
        if len(printed) == 20:
            process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130
    assert "Resume with the same command" in errors
    last = printed[-1]
    assert (last["event"], last["ended"], last["better"]) == ("stopped", "stopped", None)
    assert [line["rank"] for line in last["standings"]] == [[1, 2], [1, 2]]
    resumed, whole = json_lines("duel", *words)[-1], decided[1][-1]
    assert last["matches"] in range(10, whole["matches"])
    for line in (*resumed["standings"], *whole["standings"]):
        line.pop("move_ms", None)
    assert resumed == whole


def test_a_spent_budget_and_faults_are_shown() -> None:
    bots = bot("not-json"), bot("toy-1")
    done = succeed("duel", *bots, "--game", "doudizhu", "--deals", 2, "--no-sandbox")
    shown = " ".join(done.stdout.split())
    assert "Not decided after 2 of 2 blocks: " in shown
    assert shown.count(" 1–2 ") == 2
    assert re.search(r" had \d+ faults, the first invalid: Its answer is not JSON: .*`stich", shown)
    assert "toy-1 had" not in shown


def test_equals_end_within_the_zone_and_another_zone_resumes(tmp_path: Path) -> None:
    words = ("greedy", "greedy", *WORDS, tmp_path, "--deals", 100, "--within")
    wide, narrow = (json_lines("duel", *words, points)[-1] for points in (9, 4))
    assert {(end["ended"], end["better"]) for end in (wide, narrow)} == {("no difference", None)}
    assert -4 <= narrow["duel"]["low"] <= 0 <= narrow["duel"]["high"] <= 4
    assert [line["rank"] for line in wide["standings"]] == [[1, 2], [1, 2]]
    assert narrow["blocks"] > wide["blocks"]
    shown = " ".join(stich("standings", tmp_path).stdout.split())
    assert "No difference beyond 4 points a deal" in shown
