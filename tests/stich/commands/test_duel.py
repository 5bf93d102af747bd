"""Duels: every mixed seating, mirrored, until one bot is ahead or the budget is spent."""

import json
import re
import signal
from pathlib import Path

import pytest

from tests.support import played
from tests.support.cups import bot, events, started, stich
from tests.support.memory_run import run_of
from tournament.formats.scores import Scores
from tournament.model import Run
from tournament.store.store import Store


@pytest.mark.parametrize(
    ("game", "players", "seatings"),
    [("doudizhu", 3, 6), ("dasan", 4, 14), ("zhengfen", 5, 30), ("zhengfen", 6, 62)],
)
def test_every_mixed_seating_has_its_mirror(game: str, players: int, seatings: int) -> None:
    names = ("greedy", "random")
    cup = played.cup(names, game=game, players=players, format="duel", seating="mixed", deals=8)
    duel = played.plan(cup)
    run, scores = Run(cup=cup, finished=False), Scores(run_of([]))
    blocks = list(next(duel.rounds(run, scores)).blocks)
    assert duel.matches == 8 * seatings
    mirror = {"greedy": "random", "random": "greedy"}
    for block in blocks:
        assert len(set(block.seatings)) == seatings
        for seats in block.seatings:
            assert set(seats) == set(mirror)
            assert tuple(mirror[name] for name in seats) in block.seatings


def test_a_duel_that_is_decided(tmp_path: Path) -> None:
    out = tmp_path / "duel"
    words = ("--game", "dasan", "--seed", "x", "--out", out, "--json")
    worse, better = "random", "greedy"
    done = stich("duel", worse, better, *words, "--deals", 60, "--concurrency", 2)
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert (result["ended"], result["better"]) == ("decided", better)
    assert result["blocks"] < 60
    looks = [each for each in map(json.loads, done.stdout.splitlines()) if each["event"] == "look"]
    assert [look["blocks"] for look in looks][:2] == [8, 16]
    assert all(look["low"] < look["difference"] < look["high"] for look in looks)
    assert result["evidence"] >= 20
    assert [(line["bot"], line["rank"]) for line in result["standings"]] == [
        (better, [1, 1]),
        (worse, [2, 2]),
    ]
    # The folder says what the duel said, and how sure it is.
    duel = result["duel"]
    assert (duel["ahead"], duel["behind"], duel["better"]) == (better, worse, better)
    assert 0 < duel["low"] < duel["difference"] == -result["difference"] < duel["high"]
    assert duel["max_difference"] == 9
    again = json.loads(stich("standings", out, "--json").stdout)
    assert again == {key: result[key] for key in again}
    exported = tmp_path / "duel.jsonl"
    stich("export", out, "--format", "jsonl", "-o", exported)
    assert json.loads(stich("standings", exported, "--json").stdout)["duel"] == duel
    said = " ".join(stich("standings", out).stdout.split())
    assert f"blocks: {better} is better than {worse}, by {duel['difference']:.2f} points" in said
    with Store.open(out) as store:
        assert store.count() == result["matches"] == 6 * result["blocks"]
    assert stich("verify", out).returncode == 0


def test_a_bot_against_itself_spends_the_budget() -> None:
    same = bot("toy-1")
    done = stich("duel", same, same, "--game", "doudizhu", "--deals", 2)
    assert done.returncode == 0, done.stderr
    assert "Not decided after 2 of 2 blocks: " in " ".join(done.stdout.split())
    assert done.stdout.split().count("1–2") == 2


def test_a_duel_says_that_a_bot_failed() -> None:
    words = ("--game", "doudizhu", "--deals", 1, "--no-sandbox")
    done = stich("duel", bot("not-json"), "greedy", *words)
    assert done.returncode == 0, done.stderr
    said = " ".join(done.stdout.split())
    assert re.search(r" had \d+ faults, the first invalid: Its answer is not JSON: .*`stich", said)
    assert "greedy had" not in said


def test_equals_end_within_the_zone_and_another_zone_resumes(tmp_path: Path) -> None:
    same, out = "greedy", tmp_path / "duel"
    words = ("--game", "dasan", "--seed", "x", "--out", out, "--json", "--concurrency", 2)
    done = stich("duel", same, same, *words, "--within", 8, "--deals", 100)
    wide = json.loads(done.stdout.splitlines()[-1])
    assert (wide["ended"], wide["better"]) == ("no difference", None)
    assert -8 <= wide["duel"]["low"] <= 0 <= wide["duel"]["high"] <= 8
    assert [line["rank"] for line in wide["standings"]] == [[1, 2], [1, 2]]
    done = stich("duel", same, same, *words, "--within", 3, "--deals", 100)
    narrow = json.loads(done.stdout.splitlines()[-1])
    assert (narrow["ended"], narrow["better"]) == ("no difference", None)
    assert narrow["blocks"] > wide["blocks"]
    assert "No difference beyond 3 points a deal" in " ".join(
        stich("standings", out).stdout.split()
    )


def test_a_killed_duel_resumes_to_the_same_end(tmp_path: Path) -> None:
    words = ["random", "greedy", "--game", "dasan", "--seed", "x", "--json", "--out"]
    process = started("duel", *words, tmp_path / "killed")
    for number, _ in enumerate(events(process)):
        if number == 20:
            process.kill()
    process.communicate()
    ended = [
        json.loads(stich("duel", *words, tmp_path / folder).stdout.splitlines()[-1])
        for folder in ("killed", "whole")
    ]
    assert ended[0]["ended"] == "decided"
    for table in ended:
        for line in table["standings"]:
            del line["move_ms"]
    assert ended[0] == ended[1]


def test_a_stopped_duel_prints_its_result_so_far(tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    alive.mkdir()
    same = bot("toy-1", str(alive))
    words = ["--game", "doudizhu", "--deals", 10_000, "--out", tmp_path / "out"]
    process = started("duel", same, same, *words, "--no-sandbox", "--json")
    printed = []
    for event in events(process):
        printed.append(event)
        if len(printed) == 30:
            process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130
    last = printed[-1]
    assert (last["event"], last["ended"], last["better"]) == ("stopped", "stopped", None)
    assert last["matches"] >= 28
    assert [line["rank"] for line in last["standings"]] == [[1, 2], [1, 2]]
    assert "Resume with the same command" in errors


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--game", "doudizhu", "--players", "5"), "players: Dou Dizhu is played by 3 to 4, not 5"),
        (("--game", "doudizhu", "--option", "deels=1"), "options.deels: Dou Dizhu has only these"),
        (("--game", "doudizhu", "--seed", ""), "must have 1 to 128 characters, not 0"),
        (("--game", "doudizhu", "--within", "nan"), "nan is not a number."),
        (("--game", "doudizhu", "--within", "inf"), "inf is not in the range"),
        (("--game", "doudizhu", "--option", "deals"), "deals: write NAME=VALUE"),
    ],
)
def test_what_cannot_be_played_is_a_usage_error(words: tuple[str, ...], says: str) -> None:
    done = stich("duel", "greedy", "random", *words)
    assert done.returncode == 2
    assert says in done.stderr
