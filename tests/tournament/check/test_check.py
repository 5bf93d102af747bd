import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from stich.commands.authors.check import check
from stich.processes import find_port
from tests.support.bots import misbehaving
from tests.support.bots.misbehaving import Act, Call, honest, only, only_move, running, says, way
from tests.support.prerequisites import needs_curl
from tests.support.service.contract import validator
from tests.support.tournament.checked import FEW, PATIENT, checked, failed, failures
from tests.support.tournament.cups import ROOT
from tools import hostile
from tournament.check.examiner import LEGAL
from tournament.check.suite import OPTIONS

OTHER_WAYS = {"404": says(b"{}", "404 Not Found"), "dies mid-game": misbehaving.dies()}
# Each misbehaviour: its fault, words of the sentence that names it, words of its fix.
MISBEHAVIOURS = {
    "hang": ("timeout", "No complete answer within 200 ms", "Decide sooner"),
    "drip-body": ("timeout", "No complete answer within 200 ms", "Content-Length"),
    "huge": ("invalid", "more than 64 KiB", "the move and no more"),
    "gzip-bomb": ("invalid", "encoded as gzip", "Do not compress"),
    "deep": ("invalid", "nested too deeply", "flat object"),
    "redirect": ("invalid", "redirects (302)", "Answer at /move itself"),
    "error-500": ("invalid", "status 500", "The bot failed"),
    "404": ("invalid", "status 404", "Serve POST /move"),
    "not-json": ("invalid", "is not JSON", "JSON library"),
    "not-utf8": ("invalid", "not UTF-8", "as UTF-8"),
    "nan": ("invalid", "NaN is not a JSON number", "no NaN"),
    "list": ("invalid", "not a JSON object but a list", "with an object"),
    "no-move": ("invalid", 'no "move"', "Name the field"),
    "two-moves": ("invalid", '"move" more than once', 'Write "move" once'),
    "null-move": ("invalid", "not a string but null", "one string"),
    "illegal": ("illegal", '"play:3s3h3d3c" is not legal here', "of this request"),
    "control": ("illegal", '"pass\\u0000\\u001b[2J\\r\\n" is not', "exactly as written"),
    "raw-control": ("invalid", "is not JSON", "must be escaped"),
    "not-http": ("invalid", "not HTTP", "HTTP/1.1"),
    "half-body": ("unreachable", "in the middle of its answer", "Content-Length"),
    "dies mid-game": ("unreachable", "without an answer", "has crashed"),
}
SUPPORTS = {"doudizhu": {"players": [3], "options": {"single_round": [True], "deals": [1, 2]}}}


@pytest.mark.parametrize("name", MISBEHAVIOURS)
def test_it_finds_the_misbehaviour(name: str) -> None:
    kind, problem, fix = MISBEHAVIOURS[name]
    late = kind == "timeout"
    with running(OTHER_WAYS.get(name) or way(name)) as url:
        status, report = checked("--url", url, *FEW, *(["--move-ms", "200"] if late else []))
    assert status == 1
    assert not report["passed"]
    assert late or report["checks"][1]["result"] == "passed"  # GET / conforms
    first = next(f for f in failures(report) if f["request"]["method"] == "POST")
    assert first["fault"] == kind
    assert problem in first["problem"]
    assert fix in first["mend"]
    assert first["rule"]
    assert json.loads(first["request"]["body"])["moves"]
    assert len(report["checks"]) == 12, "all checks end and are reported"


def card(**changes: Any) -> bytes:
    """A bot's answer to GET / with changed fields. A field that is None is left out."""
    about = {"name": "n", "version": "1", "protocol": 1, "games": ["dasan"], **changes}
    return json.dumps({key: value for key, value in about.items() if value is not None}).encode()


def greets(body: bytes) -> Act:
    return only(lambda call: call.send(body), "/")


CARD = card()


def test_how_a_bot_describes_itself() -> None:
    for body, problem in (
        (card(name=None), '"name" must be a string'),
        (card(author=["me"]), '"author" must be a string'),
        (card(protocol=True), '"protocol" must be the number 1'),
        (card(games=[]), '"games" must be a list'),
        (card(games=["dasan", "skat"]), '"games" names "skat"; there are doudizhu, dasan'),
        (card(games=["zhengfen"]), '"games" does not name dasan'),
        (b"hello", "is not JSON"),
        (CARD[:-1] + b', "name": "n"}', 'names "name" more than once'),
    ):
        with running(greets(body)) as url:
            status, report = checked("--url", url, *FEW)
        assert status == 1
        assert [check["number"] for check in failed(report)] == [2]
        (failure,) = failures(report)
        assert problem in failure["problem"]
        assert '"games": ["dasan"]' in failure["mend"]
        assert failure["request"]["method"] == "GET"


def test_a_name_cannot_fill_the_screen() -> None:
    name, shown = "Löwe\x1b[31m\n\ud800" + "x" * 60_000, "Löwe\\x1b[31m\\n\\ud800xxx"
    with running(greets(card(name=name))) as url:
        result = CliRunner().invoke(check, ["--url", url, *FEW])
    assert result.exit_code == 0
    assert re.search(rf"what the bot is \({re.escape(shown)}x+… 1: dasan; ", result.output)


def test_failures_of_one_cause_are_shown_once() -> None:
    with running(way("not-json")) as url:
        short = CliRunner().invoke(check, ["--url", url, *FEW]).output
        long = CliRunner().invoke(check, ["--url", url, *FEW, "--verbose"]).output
    assert short.count("        problem ") == 1
    assert "2 more with the same cause as in check 3; --verbose shows all." in short
    assert long.count("        problem ") > 7


def test_a_greeting_that_does_not_come_or_has_no_end() -> None:
    with running(lambda call: hostile.WAYS["drip-body"][0](call.sock, {})) as url:
        _, report = checked("--url", url, *FEW, "--move-ms", "100")
    assert failures(report)[0]["mend"].startswith("Send Content-Length")
    _, report = checked("--url", f"http://127.0.0.1:{find_port('127.0.0.1', 0)}", *FEW)
    (failure,) = failures(report)
    assert "Connection refused" in failure["problem"]
    assert failure["mend"] == "Start the bot, or fix the host and the port of the URL."


def test_any_answer_to_start_and_end_will_do() -> None:
    def answers(call: Call) -> None:
        call.send(*((b"no", "500 Oops") if call.path == "/start" else (b" " * 70_000,)))

    note = "/start 500, /end 200, longer than is read"
    for act, code in ((answers, 0), (misbehaving.close_connection, 1)):
        with running(only(act, "/start", "/end")) as url:
            status, report = checked("--url", url, *FEW)
        assert status == code
        (check,) = (check for check in report["checks"] if "/start" in check["title"])
        assert check["note"] == (note if code == 0 else "")
        assert all("404" in failure["mend"] for failure in check["failures"])


def test_a_bot_that_refuses_unknown_fields_or_large_requests() -> None:
    def refuses(call: Call) -> None:
        if call.path == "/":
            call.send(card(games=["dasan", "zhengfen"]))
        elif b"weather" in call.body or len(call.body) > 100_000:
            call.send(b"{}", "400 Bad")
        else:
            honest(call)

    with running(refuses) as url:
        _, report = checked("--url", url, "--game", "zhengfen", "--quick", *PATIENT)
    fields, largest = failed(report)
    assert ("unknown fields" in fields["title"], "largest" in largest["title"]) == (True, True)
    assert "do not reject others" in fields["failures"][0]["mend"]
    assert "limit on a request's body" in largest["failures"][0]["mend"]


def particular(seen: list[dict[str, Any]], games: list[str], supports: object) -> Act:
    """An honest bot that says what it plays, and adds the views that it gets to `seen`."""

    def act(call: Call) -> None:
        if call.path == "/move":
            seen.append(json.loads(call.body)["view"])
        if call.path == "/":
            call.send(card(games=games, supports=supports))
        else:
            honest(call)

    return act


def test_a_bot_is_asked_for_what_it_or_its_author_names() -> None:
    """The author's words count even if the bot says that it does not support that."""
    for words, players, spring in (
        ("--positions 26", 3, {False, True}),
        ("--positions 8 --game doudizhu --players 4 --option spring=true", 4, {True}),
    ):
        seen: list[dict[str, Any]] = []
        with running(particular(seen, ["doudizhu"], SUPPORTS)) as url:
            status, report = checked("--url", url, *words.split(), *PATIENT)
        assert status == 0, failures(report)
        assert {view["players"] for view in seen} == {players}
        for name, values in {"single_round": {True}, "deals": {1, 2}, "spring": spring}.items():
            assert {view["options"][name] for view in seen} == values


@pytest.mark.parametrize("names", [["doudizhu"], ["doudizhu", "dasan", "zhengfen", "ninefivetwo"]])
def test_a_quick_check_asks_at_most_twenty_times(names: list[str]) -> None:
    seen: list[dict[str, Any]] = []
    with running(particular(seen, names, {})) as url:
        status, report = checked("--url", url, "--quick", *PATIENT)
    assert status == 0, failures(report)
    assert 15 <= len(seen) <= 20
    assert {view["game"] for view in seen} == set(names)


def adds(**fields: object) -> Act:
    return only_move(lambda call: call.send(json.dumps({"move": call.move(), **fields}).encode()))


def test_it_warns_of_dropped_info_and_refuses_fallbacks() -> None:
    with running(adds(info={"comment": "fine", "nodes": 3, "Depth": 2})) as url:
        shown = CliRunner().invoke(check, ["--url", url, *FEW])
    assert shown.exit_code == 0
    warning = (
        "  warning  'Depth' is no name: write [a-z][a-z0-9_]{0,31}. Dropped or cut in the info"
    )
    assert shown.output.count(warning) == 1
    with running(adds(fallback="no key")) as url:
        assert checked("--url", url, *FEW, "--max-fallback", "1")[0] == 0
        code, report = checked("--url", url, *FEW)
    (failure,) = failures(report)
    assert code == 1
    assert re.match("100% of its moves are not its own: .* fallback: no key ", failure["problem"])


def test_requests_of_a_match_belong_together() -> None:
    """A bot may keep notes by `match`, from its /start to its /end."""
    seen: dict[str, list[tuple[str, dict[str, Any]]]] = {}

    def keeps(call: Call) -> None:
        if call.path != "/":
            body = json.loads(call.body)
            seen.setdefault(body["match"], []).append((call.path, body))
        honest(call)

    with running(keeps) as url:
        assert checked("--url", url, *FEW)[0] == 0
    assert any(len(match) > 5 for match in seen.values())
    for (begins, start), *decisions, (ends, end) in seen.values():
        assert (begins, ends) == ("/start", "/end")
        validator("BotStart").validate(start)
        turns = [(path, body["turn"]) for path, body in decisions]
        assert turns == [("/move", turn) for turn in range(1, len(decisions) + 1)]
        assert start["players"] == len(end["scores"])
        assert (start["game"], start["seat"]) == (end["game"], end["seat"])
        views = [body["view"] for _, body in decisions]
        for view in views:
            assert all(view[key] == start[key] for key in ("game", "seat", "players"))
            assert view["options"].items() >= start["options"].items()
        when = [(view["deal"], len(view["history"])) for view in views]
        assert when == sorted(set(when))


@needs_curl
def test_the_curl_line_repeats_the_request() -> None:
    seen: list[bytes] = []

    def keeps(call: Call) -> None:
        seen.append(call.body)
        call.send(b"null")

    with running(only_move(keeps)) as url:
        _, report = checked("--url", url, *FEW)
        failure = failures(report)[0]
        first, seen[:] = seen[0], []
        subprocess.run(shlex.split(failure["curl"]), capture_output=True, check=True)
    assert seen == [first]


def test_a_wrong_command_line() -> None:
    for arguments, words in (
        ([], "either its --url or its command"),
        (["--url", "http://localhost:1", "--command", "x"], "either its --url or its command"),
        (["--url", "localhost:9000"], "http://127.0.0.1:9000"),
        (["--url", "http://localhost:1", "--players", "3"], "add --game"),
        (["--url", "http://localhost:1", "--game", "dasan", "--players", "6"], "is played by 3 to"),
        (["--url", "http://localhost:1", "--game", "dasan", "--option", "x=1"], "has only these"),
        (["--command", "python 'bot.py"], "Invalid value for '--command': "),
        (["--command", "x", "--env", "NO_SUCH_VARIABLE"], "export NO_SUCH_VARIABLE=VALUE"),
        (["--command", "x", "--env", "PORT"], "must not set PORT"),
        (["--command", "x", "--env", "A=1"], "name variables with letters"),
    ):
        result = CliRunner().invoke(check, arguments)
        assert result.exit_code == 2
        assert words in result.output


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
