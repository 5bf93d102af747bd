"""The commands that read a run, run as programs on one run with faults in it."""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.tournament import hostile
from tests.tournament.cups import ROOT, bot, stich, toys, write
from tournament.results.replay import clock, steps
from tournament.store.store import Store


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A finished cup of two toys and a bot by URL that answers nonsense, still running."""
    folder = tmp_path_factory.mktemp("commands")
    with hostile.running(hostile.says("I pass.")) as url:
        cup = write(folder, {"bad": url, **toys(2)}, "commit = true", deals=2)
        done = stich("run", cup, "--out", folder / "run")
        assert done.returncode == 0, done.stderr
        (folder / "said").write_text(done.stdout)
        (folder / "warned").write_text(done.stderr)
        yield folder / "run"


def lines(*words: object) -> list[dict[str, Any]]:
    done = stich(*words, "--json")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_seed_is_committed_to_before_and_opened_after(run: Path) -> None:
    said = run.with_name("said").read_text()
    with Store.open(run) as store:
        commitment = store.get("commitment")
    before, after = said.index(f"SHA-256 of the seed: {commitment}\n"), said.index("Seed: test\n")
    assert before < said.index("6 matches") < after
    assert "The seed matches the commitment." in stich("verify", run).stdout


def test_a_commitment_to_a_short_seed_is_warned_of(run: Path) -> None:
    (warning,) = run.with_name("warned").read_text().splitlines()
    assert warning.startswith("Warning: the commitment hides only a seed that nobody can guess")


def test_matches_lists_them(run: Path) -> None:
    found = lines("matches", run)
    assert len(found) == 6
    assert [match["block"] for match in found] == [1, 1, 1, 2, 2, 2]
    for match in found:
        seat = match["seating"].index("bad")
        assert match["struck"] == [seat]
        assert match["faults"][seat]["invalid"] == 3
    text = stich("matches", run, "--faults", "--bot", "bad").stdout
    assert text.count("(struck out)") == 6
    done = stich("matches", run, "--bot", "nobody")
    assert done.returncode == 1
    assert done.stderr == "There is no bot nobody; there are bad, toy0, toy1.\n"


def test_replay_for_machines_has_every_state(run: Path) -> None:
    match = lines("matches", run)[0]["match"]
    (told,) = lines("replay", run, match[:6])
    with Store.open(run) as store:
        record = store.match(match)
    assert [step["move"] for step in told["steps"]] == [None, *record.moves]
    assert told["steps"][-1]["state"]["phase"] == "over"
    assert told["steps"][-1]["state"]["scores"] == list(record.scores)
    for step in told["steps"][1:]:
        if step["bot"] == "bad":
            assert step["house"]
    assert len(told["faults"]) == 3


def test_replay_counts_the_clock_down(run: Path) -> None:
    with Store.open(run) as store:
        record, config = next(store.matches()), store.get("config")
    assert clock(config) == (2000, 10_000)
    slow = next(i for i, times in enumerate(record.times) if times)
    banks = [step.banks[slow] for step in steps(record, move_ms=0, bank_ms=10_000)]
    assert banks[0] == 10_000
    assert banks == sorted(banks, reverse=True)
    assert banks[-1] == pytest.approx(10_000 - sum(record.times[slow]))


def test_replay_prints_all_of_it_where_there_is_no_terminal(run: Path) -> None:
    match = lines("matches", run)[0]["match"]
    text = stich("replay", run, match).stdout
    assert "default move after invalid: Its answer is not JSON" in text
    assert "default move, the bot is struck out" in text
    assert re.search(r"[♠♥♦♣]", text)
    assert "The end: " in text
    assert text.count("ask again curl") == 3


def test_a_post_mortem_repeats_the_decision(run: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    match = lines("matches", run)[0]["match"]
    (told,) = lines("replay", run, match)
    for fault in told["faults"]:
        assert fault["answer"]["body"] == "I pass."
        done = subprocess.run(
            ["bash", "-c", fault["curl"]], capture_output=True, text=True, check=True
        )
        assert done.stdout.startswith("HTTP/1.1 200")
        assert done.stdout.endswith("I pass.")
    text = stich("replay", run, match, "--faults").stdout
    assert told["faults"][0]["curl"] in text
    assert told["faults"][0]["request"] in text


def test_a_started_bot_is_told_how_to_be_started_again(tmp_path: Path) -> None:
    cup = write(tmp_path, {"dies": bot("dies"), **toys(2)}, deals=1)
    assert stich("run", cup, "--out", tmp_path / "run").returncode == 0
    (told,) = lines("replay", tmp_path / "run", lines("matches", tmp_path / "run")[0]["match"])
    fault = told["faults"][0]
    assert fault["start"] == f"PORT=9000 {bot('dies')}"
    assert "http://127.0.0.1:9000/move" in fault["curl"]
    assert fault["output"] == "out of luck\n"


def test_control_characters_of_a_bot_do_not_reach_the_terminal(tmp_path: Path) -> None:
    with hostile.running(hostile.says("\x1b[2Jboo")) as url:
        cup = write(tmp_path, {"bad": url, **toys(2)}, deals=1)
        assert stich("run", cup, "--out", tmp_path / "run").returncode == 0
    match = lines("matches", tmp_path / "run")[0]["match"]
    text = stich("replay", tmp_path / "run", match).stdout
    assert "\\x1b[2Jboo" in text
    assert "\x1b" not in text


def test_export_and_report_write_files(run: Path, tmp_path: Path) -> None:
    done = stich("export", run, "--format", "jsonl", "-o", tmp_path / "out.jsonl")
    assert done.returncode == 0, done.stderr
    assert len((tmp_path / "out.jsonl").read_text().splitlines()) == 18
    assert stich("report", run, "-o", tmp_path / "out.html").returncode == 0
    assert "Test cup" in (tmp_path / "out.html").read_text()
    done = stich("export", run, "-o", tmp_path / "no" / "where.csv")
    assert done.returncode == 1
    assert "cannot be written: No such file or directory; name another file." in done.stderr


def test_export_and_report_tell_machines_what_they_wrote(run: Path, tmp_path: Path) -> None:
    rows, page = str(tmp_path / "out.csv"), str(tmp_path / "out.html")
    assert lines("export", run, "-o", rows) == [{"file": rows, "format": "csv", "rows": 18}]
    assert lines("report", run, "-o", page) == [{"file": page, "matches": 6}]
    done = stich("export", run, "--json")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_a_report_has_as_many_replays_as_asked_for(run: Path, tmp_path: Path) -> None:
    page = tmp_path / "out.html"
    for replays, says in ((0, "holds 0 of 6 matches"), (4, "holds 4 of 6 matches")):
        assert stich("report", run, "-o", page, "--replays", replays).returncode == 0
        assert says in " ".join(page.read_text().split())
    assert stich("report", run, "--replays", -1).returncode == 2


def test_verify_tells_on_a_changed_store(run: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    with Store.open(copy) as store:
        store.put({"seed": "another"})
    done = stich("verify", copy)
    assert done.returncode == 1
    assert "The seed does NOT match the commitment." in done.stdout


def test_verify_says_that_a_run_has_not_ended(run: Path, tmp_path: Path) -> None:
    assert "is not finished" not in stich("verify", run).stdout
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    with Store.open(copy) as store:
        store.put({"finished": False})
    done = stich("verify", copy)
    assert done.returncode == 0
    assert "all agree.\nThe run is not finished: 6 of 6 matches.\n" in done.stdout


@pytest.mark.parametrize("command", ["standings", "matches", "verify", "export", "report"])
def test_where_there_is_no_run_they_say_so(command: str, tmp_path: Path) -> None:
    done = stich(command, tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"{tmp_path}: there is no run here (run.sqlite is missing).\n"


@pytest.mark.parametrize(
    "command",
    ["run", "standings", "matches", "replay", "verify", "export", "report", "duel"],
)
def test_every_command_has_help_with_an_example(command: str) -> None:
    done = stich(command, "--help")
    assert done.returncode == 0
    assert re.search(rf"Examples?:\n +stich {command} ", done.stdout)


def test_a_reader_that_has_seen_enough_is_no_error(run: Path) -> None:
    command = f"{sys.executable} -m stich matches {run} | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=ROOT)
    assert done.stdout.startswith("match ")
    assert done.stderr == ""
