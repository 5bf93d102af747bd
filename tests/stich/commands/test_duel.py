"""Duels: every mixed seating, mirrored, until one bot is ahead or the budget is spent."""

import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.support.tournament import played
from tests.support.tournament.cups import bot, events, started, stich
from tests.support.tournament.memory_run import run_of
from tournament.formats.scores import Scores
from tournament.model import Run

WORSE, BETTER = "random", "greedy"
Event = dict[str, Any]
WORDS = ("--game", "dasan", "--seed", "x", "--concurrency", 2, "--json", "--out")


def played_out(*words: object) -> list[Event]:
    """The events of a duel that ends well."""
    done = stich("duel", *words)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture(scope="module")
def decided(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Event]]:
    """The folder and the events of a duel that is decided."""
    out = tmp_path_factory.mktemp("duel") / "out"
    return out, played_out(WORSE, BETTER, *WORDS, out)


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


def test_a_duel_ends_when_one_bot_is_better(decided: tuple[Path, list[Event]]) -> None:
    *_, result = decided[1]
    assert (result["event"], result["ended"], result["better"]) == ("finished", "decided", BETTER)
    assert result["blocks"] < 1000
    assert result["evidence"] >= 20
    looks = [event for event in decided[1] if event["event"] == "look"]
    assert [look["blocks"] for look in looks][:2] == [8, 16]
    assert all(look["low"] < look["difference"] < look["high"] for look in looks)
    ranks = [(line["bot"], line["rank"]) for line in result["standings"]]
    assert ranks == [(BETTER, [1, 1]), (WORSE, [2, 2])]
    duel = result["duel"]
    assert (duel["ahead"], duel["behind"], duel["better"]) == (BETTER, WORSE, BETTER)
    assert 0 < duel["low"] < duel["difference"] == -result["difference"] < duel["high"]
    assert duel["max_difference"] == 9


def test_the_folder_of_a_duel_has_its_result(decided: tuple[Path, list[Event]]) -> None:
    out, (*_, result) = decided
    table = json.loads(stich("standings", out, "--json").stdout)
    assert table == {key: result[key] for key in table}
    stich("export", out, "--format", "jsonl", "-o", out / "rows.jsonl")
    exported = json.loads(stich("standings", out / "rows.jsonl", "--json").stdout)
    assert exported["duel"] == result["duel"]
    shown = " ".join(stich("standings", out).stdout.split())
    lead = f"{result['duel']['difference']:.2f} points"
    assert f"blocks: {BETTER} is better than {WORSE}, by {lead}" in shown
    assert result["matches"] == 6 * result["blocks"]
    assert stich("verify", out).returncode == 0


def test_a_stopped_duel_has_a_result_and_resumes_to_the_same_end(
    decided: tuple[Path, list[Event]], tmp_path: Path
) -> None:
    words = (WORSE, BETTER, *WORDS, tmp_path / "stopped")
    process, printed = started("duel", *words), []
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
    resumed, whole = played_out(*words)[-1], decided[1][-1]
    assert last["matches"] in range(10, whole["matches"])
    for line in (*resumed["standings"], *whole["standings"]):
        line.pop("move_ms", None)
    assert resumed == whole


def test_a_spent_budget_and_faults_are_shown() -> None:
    bots = bot("not-json"), bot("toy-1")
    done = stich("duel", *bots, "--game", "doudizhu", "--deals", 2, "--no-sandbox")
    assert done.returncode == 0, done.stderr
    shown = " ".join(done.stdout.split())
    assert "Not decided after 2 of 2 blocks: " in shown
    assert shown.count(" 1–2 ") == 2
    assert re.search(r" had \d+ faults, the first invalid: Its answer is not JSON: .*`stich", shown)
    assert "toy-1 had" not in shown


def test_equals_end_within_the_zone_and_another_zone_resumes(tmp_path: Path) -> None:
    words = ("greedy", "greedy", *WORDS, tmp_path, "--deals", 100, "--within")
    wide, narrow = (played_out(*words, points)[-1] for points in (9, 4))
    assert {(end["ended"], end["better"]) for end in (wide, narrow)} == {("no difference", None)}
    assert -4 <= narrow["duel"]["low"] <= 0 <= narrow["duel"]["high"] <= 4
    assert [line["rank"] for line in wide["standings"]] == [[1, 2], [1, 2]]
    assert narrow["blocks"] > wide["blocks"]
    shown = " ".join(stich("standings", tmp_path).stdout.split())
    assert "No difference beyond 4 points a deal" in shown


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--option", "deels=1"), "options.deels: Dou Dizhu has only these"),
        (("--option", "deals"), "deals: write NAME=VALUE"),
        (("--seed", ""), "must have 1 to 128 characters, not 0"),
        (("--within", "nan"), "nan is not a number."),
    ],
)
def test_what_cannot_be_played_is_a_usage_error(words: tuple[str, ...], says: str) -> None:
    done = stich("duel", "greedy", "random", "--game", "doudizhu", *words)
    assert (done.returncode, says in done.stderr) == (2, True), done.stderr
