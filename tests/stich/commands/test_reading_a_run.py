"""The commands that read a run and replay a match, on one run with faults in it."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.prerequisites import needs_curl
from tests.support.tournament.cups import bot, code_and_text, json_lines, served_toys, stich, write
from tools import hostile
from tournament.config.cup import Clock
from tournament.display.replay import steps
from tournament.store.store import Store

WRONG = "\x1b[2Jpass"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A finished cup of a toy, a started bot that dies, and a running bot with wrong answers."""
    folder = tmp_path_factory.mktemp("commands")
    with hostile.running(hostile.says(WRONG)) as url, served_toys(1) as toys:
        bots = {"bad": url, "dies": bot("dies"), **toys}
        cup = write(folder, bots, "commit = true", deals=2, sandbox=False)
        (folder / "output").write_text(stich("run", cup, "--out", folder / "run").stdout)
        yield folder / "run"


def test_a_run_commits_to_its_seed(run: Path) -> None:
    output = run.with_name("output").read_text()
    with Store.open(run) as store:
        commitment = store.run().commitment
    before = output.index(f"SHA-256 of the seed: {commitment}\n")
    assert before < output.index("Seed: test:") < output.index("6 matches")


def test_matches_are_listed_with_faults(run: Path) -> None:
    listed = json_lines("matches", run)
    assert [match["block"] for match in listed] == [1, 1, 1, 2, 2, 2]
    for match in listed:
        seat = match["seating"].index("bad")
        assert (seat in match["struck"], match["faults"][seat]["invalid"]) == (True, 3)
    text = stich("matches", run, "--faults", "--bot", "bad").stdout
    assert len(re.findall(r"bad \S+ \(struck out\)", text)) == 6
    rows = list(map(json.loads, stich("export", run, "--format", "matches").stdout.splitlines()))
    for row in rows:
        row["faults"] = []
    cleaned = run.with_name("cleaned.jsonl")
    cleaned.write_text("\n".join(map(json.dumps, rows)))
    assert "There is no such match.\n" in stich("matches", cleaned, "--faults").stdout
    says = "There is no bot eve; there are bad, dies, toy0.\n"
    assert code_and_text("matches", run, "--bot", "eve") == (1, says)


def test_replay_as_json_has_every_state_and_fault(run: Path) -> None:
    match = json_lines("matches", run)[0]["match"]
    (replay,) = json_lines("replay", run, match[:6])
    with Store.open(run) as store:
        record = store.match(match)
    assert [step["move"] for step in replay["steps"]] == [None, *record.moves]
    last = replay["steps"][-1]["state"]
    assert (last["phase"], last["scores"]) == ("over", list(record.scores))
    by_bad = [step for step in replay["steps"][1:] if step["bot"] == "bad"]
    assert all(step["house"] or step["forced"] for step in by_bad)
    bad = [fault for fault in replay["faults"] if fault["bot"] == "bad"]
    assert [fault["answer"]["body"] for fault in bad] == [WRONG] * 3
    fault = next(fault for fault in replay["faults"] if fault["bot"] == "dies")
    assert fault["start"] == f"PORT=9000 {bot('dies')}"
    assert "http://127.0.0.1:9000/move" in fault["curl"]
    assert fault["output"] == "out of luck\n"
    lines = run.with_name("replayed.jsonl")  # which has no requests
    stich("export", run, "--format", "matches", "-o", lines)
    (replay,) = json_lines("replay", lines, match[:6])
    assert {(fault["url"], fault["curl"]) for fault in replay["faults"]} == {(None, None)}


def test_replay_counts_the_clock_down(run: Path) -> None:
    with Store.open(run) as store:
        record, of = next(store.matches()), store.run().cup
    slow = next(seat for seat, times in enumerate(record.times) if times)
    timed = replace(of, clock=Clock(move_ms=0, bank_ms=10_000))
    banks = [step.banks[slow] for step in steps(record, timed)]
    assert banks == sorted(banks, reverse=True)
    assert banks[0] == 10_000
    assert banks[-1] == pytest.approx(max(0.0, 10_000 - sum(record.times[slow])))


def test_replay_prints_the_match_without_control_characters(run: Path) -> None:
    match = json_lines("matches", run)[0]["match"]
    text = stich("replay", run, match).stdout
    assert "default move after invalid: Its answer is not JSON" in text
    assert "default move, the bot is struck out" in text
    assert re.search(r"[♠♥♦♣]", text)
    assert "Final scores: " in text
    assert len(re.findall(r"repeat    curl .*'Content", text)) >= 3
    assert "\\x1b[2Jpass" in text
    assert "\x1b" not in text


@needs_curl
def test_a_post_mortem_repeats_the_decision(run: Path) -> None:
    match = json_lines("matches", run)[0]["match"]
    (replay,) = json_lines("replay", run, match)
    fault = next(fault for fault in replay["faults"] if fault["bot"] == "bad")
    done = subprocess.run(["bash", "-c", fault["curl"]], capture_output=True, text=True)
    assert (done.stdout[:12], done.stdout[-len(WRONG) :]) == ("HTTP/1.1 200", WRONG)
    text = stich("replay", run, match, "--faults").stdout
    assert (fault["curl"] in text, fault["request"] in text) == (True, True)


def test_export_and_report_name_what_they_have_written(run: Path, tmp_path: Path) -> None:
    rows, page, file = (tmp_path / name for name in ("out.csv", "out.html", "no/where.csv"))
    written = {"file": str(rows), "format": "csv", "rows": 18}
    assert json_lines("export", run, "-o", rows) == [written]
    says = f"{file}: cannot be written: No such file or directory; name another file.\n"
    assert code_and_text("export", run, "-o", file) == (1, says)
    words = ("report", run, "-o", page, "--replays")
    assert json_lines(*words, 0) == [{"file": str(page), "matches": 6}]
    assert "holds 0 of 6 matches" in " ".join(page.read_text().split())
    assert code_and_text(*words, 4) == (0, f"The report is in {page}\n")
    assert "holds 4 of 6 matches" in " ".join(page.read_text().split())


def test_verify_reports_a_changed_or_unfinished_store(run: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(run, tmp_path / "copy")
    code, text = code_and_text("verify", copy)
    assert (code, "all agree.\n" in text) == (0, True)
    assert text.endswith("The seed matches the commitment.\n")
    with Store.open(copy) as store:
        store.reopen(6)
    code, text = code_and_text("verify", copy)
    assert (code, "The run is not finished: 6 of 6 matches.\n" in text) == (0, True)
    with Store.open(copy) as store:
        store._put(seed="another")
    code, text = code_and_text("verify", copy)
    assert (code, "The seed does NOT match the commitment." in text) == (1, True)


@pytest.mark.parametrize("words", [["standings"], ["verify"], ["trust"], ["arena", "--port", "0"]])
def test_where_there_is_no_run_they_say_so(words: list[str], tmp_path: Path) -> None:
    no_run = "is not the folder of a run; name the folder that has its run.sqlite."
    assert code_and_text(*words, tmp_path) == (1, f"{tmp_path}: {no_run}\n")
    Store.create(tmp_path).close()
    file = tmp_path / "run.sqlite"
    assert code_and_text(*words, file) == (1, f"{file}: {no_run}\n")
    says = "its run was stopped before it had begun; run the cup again."
    assert code_and_text(*words, tmp_path) == (1, f"{tmp_path}/run.sqlite: {says}\n")


@pytest.mark.parametrize("words", [["--format", "parquet"], ["--json"]])
def test_an_export_that_needs_a_file_is_a_usage_error(run: Path, words: list[str]) -> None:
    ours, terminal = os.openpty()
    argv = [sys.executable, "-m", "stich", "export", str(run), *words]
    done = subprocess.run(argv, stdout=terminal, stderr=subprocess.PIPE, text=True)
    os.close(ours)
    os.close(terminal)
    assert (done.returncode, done.stderr.count("\n"), "-o" in done.stderr) == (2, 1, True)


def test_a_cup_without_a_name_is_called_as_its_file_in_utf8(tmp_path: Path) -> None:
    row = {"block": 0, "seating": 0, "seat": 0, "bot": "ann", "adjusted": 4, "deals": 1}
    file = tmp_path / os.fsdecode(b"\xff.jsonl")
    file.write_text(json.dumps(row))
    (table,) = json_lines("standings", file)
    assert table["name"] == str(tmp_path / "\ufffd.jsonl")


def test_a_file_that_is_no_export_is_named_with_its_fix(run: Path, tmp_path: Path) -> None:
    cup, bad = tmp_path / "o.toml", tmp_path / "bad.jsonl"
    cup.touch()
    exported = stich("export", run, "--format", "jsonl").stdout.splitlines()
    assert len(exported) == 18
    bad.write_text("\n".join([*exported[:4], "{}", *exported[5:]]))
    for file, says in {
        cup: " this is a cup; its run is runs/o.",
        bad: "5: block: is missing; docs/statistics.md says what a row has.",
        tmp_path / "none.jsonl": " No such file or directory.",
    }.items():
        assert code_and_text("standings", file) == (2, f"{file}:{says}\n")
    assert code_and_text("pause", cup) == code_and_text("standings", cup)
