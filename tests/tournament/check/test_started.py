import shlex
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from stich.commands.authors.check import check
from tests.support.bots.misbehaving import running, says
from tests.support.tournament.checked import FEW, PATIENT, checked, failed, failures
from tests.support.tournament.cups import ROOT
from tournament.check.outcome import LEGAL
from tournament.check.suite import OPTIONS


def command(program: str, tmp_path: Path) -> str:
    path = tmp_path / "program.py"
    path.write_text(program)
    return shlex.join([sys.executable, str(path)])


def check_dasan(program: str, positions: int, tmp_path: Path) -> tuple[int, dict[str, Any]]:
    words = ("--game", "dasan", "--positions", str(positions), *PATIENT)
    return checked("--command", command(program, tmp_path), *words)


def test_a_bot_that_never_answers(tmp_path: Path) -> None:
    waits = command("import threading; threading.Event().wait()", tmp_path)
    status, report = checked("--command", waits, "--start-ms", "300")
    assert status == 1
    (failure,) = failures(report)
    assert "did not answer GET /" in failure["problem"]
    assert "PORT" in failure["rule"]


def test_a_bot_that_always_fails_is_not_told_of_other_rules() -> None:
    """The checks of unknown fields, of long lists and of requests at once find the same fault."""
    with running(says(b'{"move": "Pass "}')) as url:
        _, report = checked("--url", url, *FEW)
    assert len(failed(report)) > 3
    assert {failure["rule"] for failure in failures(report)} == {LEGAL}


def mortal(when: str) -> str:
    """The program of a bot that dies once a condition on `asked`, `view` and `moves` holds."""
    return f"""
import os, sys
sys.path.insert(0, {str(ROOT)!r})
from bots import kit
asked = 0
def move(view, moves):
    global asked
    asked += 1
    if {when}:
        print("the deck is on fire", file=sys.stderr, flush=True)
        os._exit(7)
    return moves[0]
kit.run(move, name="mortal", version="1", games=["dasan"])
"""


def test_a_started_bot_that_dies_is_reported_and_restarted(tmp_path: Path) -> None:
    status, report = check_dasan(mortal("asked > 40"), 60, tmp_path)
    assert status == 1
    first = failures(report)[0]
    assert first["fault"] == "unreachable"
    assert "code 7" in first["problem"]
    assert "the deck is on fire" in first["output"]
    assert "ended (code 7) while it was asked this" in first["mend"]
    assert "look at the end of its output" in first["mend"]
    results = {check["title"]: check["result"] for check in report["checks"]}
    assert results["unknown fields in the request are tolerated"] == "passed"


def test_a_bot_that_dies_in_the_match_is_reported_once(tmp_path: Path) -> None:
    when = f"view['options']['deals'] == {OPTIONS['deals']}"
    _, report = check_dasan(mortal(when), 5, tmp_path)
    (check,) = failed(report)
    (failure,) = check["failures"]
    assert "a short match" in check["title"]
    assert failure["fault"] == "unreachable"
    assert "ended (code 7)" in failure["mend"]


def test_a_bot_that_floods_its_output(tmp_path: Path) -> None:
    floods = mortal("print('漢' * 33_333, file=sys.stderr, flush=True)")
    _, report = check_dasan(floods, 5, tmp_path)
    (check,) = failed(report)
    assert check["title"] == "little is written to stdout and stderr"
    (failure,) = check["failures"]
    assert "only the last 64 KiB of a match are kept" in failure["problem"]
    assert "a line per move" in failure["mend"]


def test_what_a_bot_wrote_is_shown_also_if_it_passes(tmp_path: Path) -> None:
    program = mortal("print('no network', file=sys.stderr, flush=True)")
    words = ["--command", command(program, tmp_path), "--positions", "1", "--no-sandbox", *PATIENT]
    result = CliRunner().invoke(check, words)
    assert result.exit_code == 0
    assert result.stdout.endswith("Your bot wrote to stdout or stderr; the last line: no network\n")


def test_a_reference_bot_passes() -> None:
    status, report = checked("--command", "python -m bots.greedy", "--positions", "10", *PATIENT)
    assert status == 0, failures(report)
    assert len(report["checks"]) == 19


def test_a_bot_that_cannot_be_restarted(tmp_path: Path) -> None:
    once = f"import os\nos.mkdir({str(tmp_path / 'once')!r})\n{mortal('asked > 40')}"
    _, report = check_dasan(once, 60, tmp_path)
    skipped = next(check for check in report["checks"] if check["result"] == "skipped")
    assert "cannot be restarted" in skipped["note"]
    assert "FileExistsError" in skipped["note"]
