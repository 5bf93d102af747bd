"""Each starter kit, copied, built and started, plays; and the shim of the stdio kit."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import requests

import games
from bots.kits import Kit, catalogue, find
from stich.processes import find_port
from tests.support.games import golden
from tests.support.programs import Program
from tests.support.tournament.checked import checked

# `make test-kits` sets this: it builds every kit and skips none.
EVERY = os.environ.get("STICH_ALL_KITS") == "1"

# A model is started by its author: tests/bots/test_llm.py.
STARTED = [kit for kit in catalogue().values() if kit.program is None and not kit.by_url]
KITS = {kit.language: kit for kit in STARTED}
QUICK = ("javascript", "python")
PYTHON_FAILS = "    if view.get('fail'): raise SystemExit('no idea')\n"
CPP_FAILS = '    if (view.contains("fail")) throw std::runtime_error("no idea");\n'
GO_FAILS = '	info["fn"] = choose\n	if request.Match == "fail" { panic("no idea") }\n'
INFO_FAILS = '  if (view.fail) return ["pass", { toJSON() { throw Error("no idea"); } }];\n'
SCRIPT, SCRIPT_FAILS = "  const plays = ", '  if ("fail" in view) throw new Error("no idea");\n'
PARAMETERS = [
    pytest.param(kit, id=kit, marks=[] if kit in QUICK else pytest.mark.slow) for kit in KITS
]

# The first statement of a kit's decision, and code to put before it: it fails if a request is to
# make it fail, and, where a type does not rule that out, answers with nothing.
MISTAKES = {
    "python": ("    plays = [", PYTHON_FAILS, "    if view.get('forget'): return None\n"),
    "javascript": (SCRIPT, INFO_FAILS, "  if (view.forget) return;\n"),
    "typescript": (SCRIPT, SCRIPT_FAILS, '  if ("forget" in view) return JSON.parse("null");\n'),
    "java": (
        "        List<String> plays = ",
        '        if (view.has("fail")) throw new StackOverflowError("no idea");\n',
        '        if (view.has("forget")) return null;\n',
    ),
    "go": ("	view := ", GO_FAILS, ""),
    "cpp": ("    std::vector<std::string> plays;", CPP_FAILS, ""),
    "rust": ("    let plays: ", '    if view["fail"] == true { panic!("no idea"); }\n', ""),
    "stdio": ("    plays = [", PYTHON_FAILS, ""),
}


class Running(NamedTuple):
    kit: Kit
    url: str
    command: str
    client: requests.Session


@pytest.fixture(scope="module", params=PARAMETERS)
def bot(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Running]:
    """A copy of one kit, built and started by its own commands."""
    kit = KITS[request.param]
    missing = kit.missing()
    if not EVERY:
        if missing:
            pytest.skip(f"the {kit.language} kit needs {' '.join(missing)}")
        if any(step.startswith("npm ") for step in kit.build):
            pytest.skip(f"the {kit.language} kit needs the npm registry: make test-kits")
    target = tmp_path_factory.mktemp("kits") / f"my {kit.language}"
    kit.copy(target)
    decision = target / kit.decision
    statement, fails, forgets = MISTAKES[kit.language]
    text = decision.read_text()
    assert text.count(f"\n{statement}") == 1
    decision.write_text(text.replace(f"\n{statement}", f"\n{fails}{forgets}{statement}"))
    for step in kit.build:
        built = subprocess.run(shlex.split(step), cwd=target, capture_output=True, text=True)
        assert built.returncode == 0, f"{step}: {built.stdout}{built.stderr}"
    port = find_port("127.0.0.1", 0)
    command = kit.command(target)
    path = os.pathsep.join((os.path.dirname(sys.executable), os.environ["PATH"]))
    program = Program(shlex.split(command), env={**os.environ, "PATH": path, "PORT": str(port)})
    program.wait_for("listens on")
    with requests.Session() as client:
        client.trust_env = False  # no proxy
        yield Running(kit, f"http://127.0.0.1:{port}", command, client)
    program.kill()


def recorded() -> list[dict[str, Any]]:
    """A request for every position of the golden games whose legal moves were recorded."""
    clock = {"move_ms": 1000, "bank_ms": 10000}
    return [
        {"protocol": 1, "match": name, "turn": number, "clock": clock, "moves": step["moves"]}
        | {"view": step["views"][step["turn"]]}
        for name in golden.files()
        for number, step in enumerate(golden.load(name)["steps"])
        if "views" in step and "moves" in step and step["turn"] is not None
    ]


def expected(view: dict[str, Any], moves: list[str]) -> str:
    plays = [move for move in moves if move != "pass"]
    if not plays:
        return "pass"
    if view["phase"] == "auction":
        return "bid:1" if "bid:1" in plays else "pass"
    if view.get("table"):
        return "pass" if view["table"]["seat"] == view["seat"] else plays[0]
    return max(plays, key=lambda move: len(move.partition("=")[0]))


def test_decides_as_every_kit_does_over_one_connection(bot: Running) -> None:
    with closing(HTTPConnection(bot.url.removeprefix("http://"))) as connection:
        connection.connect()
        socket_at_first = connection.sock
        for request in recorded():
            body = json.dumps(request)
            connection.request("POST", "/move", body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            move = json.loads(answer.read())["move"]
            assert (answer.status, move) == (200, expected(request["view"], request["moves"]))
            assert connection.sock is socket_at_first


def test_a_bot_answers_at_many_tables_at_once(bot: Running) -> None:
    with ExitStack() as tables:
        for _ in range(40):
            connection = HTTPConnection(bot.url.removeprefix("http://"), timeout=60)
            tables.callback(connection.close)
            connection.request("GET", "/")
            assert connection.getresponse().read()


def test_after_a_bad_request_the_bot_keeps_serving(bot: Running) -> None:
    content = {"Content-Type": "application/json"}
    for body in (b"", b"{", b'"move"', b"\xff\xfe"):
        answer = bot.client.post(f"{bot.url}/move", data=body, headers=content)
        assert answer.status_code >= 400
        assert answer.json()["error"]
        assert bot.client.post(f"{bot.url}/move", json=recorded()[0]).status_code == 200


@pytest.mark.parametrize("mistake", ["fail", "forget"])
def test_after_a_failed_decision_the_bot_keeps_serving(bot: Running, mistake: str) -> None:
    if mistake == "forget" and not MISTAKES[bot.kit.language][2]:
        pytest.skip("its types rule this out")
    error = {"stdio": "has ended", "rust": ""}.get(bot.kit.language, "no idea")  # Rust: on stderr
    request = recorded()[0]
    wrong = {**request, "match": mistake, "view": {**request["view"], mistake: True}}
    for _ in range(6):  # more often than a kit has threads
        answer = bot.client.post(f"{bot.url}/move", json=wrong)
        assert answer.status_code == 500
        assert (error if mistake == "fail" else "must return a string") in answer.text
    assert bot.client.post(f"{bot.url}/move", json=request).status_code == 200


@pytest.mark.parametrize("port", ["taken", "http:", "70000"])
def test_a_port_that_is_not_to_be_had_is_explained(bot: Running, port: str) -> None:
    given = bot.url.rpartition(":")[2] if port == "taken" else port
    refused = Program(shlex.split(bot.command), env={**os.environ, "PORT": given})
    if "listens on" in refused.wait_for(".+")[0]:
        refused.kill()
    assert refused.end() in (1, 2)
    assert len(refused.log) <= 2
    assert f"my-{bot.kit.language}-bot: " in refused.text
    assert given in refused.text
    assert "PORT" in refused.text or "the port must be a number" in refused.text


def test_other_paths_are_not_found(bot: Running) -> None:
    assert bot.client.get(f"{bot.url}/nothing").status_code == 404
    assert bot.client.post(f"{bot.url}/nothing", json={}).status_code == 404
    assert bot.client.get(f"{bot.url}/move").status_code in (404, 405)


def test_the_runner_starts_it_and_it_plays_every_game(bot: Running) -> None:
    """And answers /start and /end, long lists, unknown fields, and two requests at once."""
    _, report = checked("--command", bot.command, "--positions", "5", "--move-ms", "5000")
    assert not [line for line in report["checks"] if line["result"] != "passed"]
    titles = " ".join(line["title"] for line in report["checks"])
    for game in games.GAMES.values():
        assert f"a short match of {game.title}" in titles


VIEW = {"phase": "play", "seat": 0, "table": None, "name": "Doppelkopf – 鬥地主"}
REQUEST = {"protocol": 1, "match": "m", "turn": 1, "view": VIEW}
REQUEST |= {"moves": ["play:3c", "play:4c4d"], "clock": {"move_ms": 60_000, "bank_ms": 0}}
Ask = Callable[..., tuple[int, dict[str, Any]]]
Start = Callable[[str], Ask]


@pytest.fixture
def shim(tmp_path: Path) -> Iterator[Start]:
    """Start the shim with a Python program; returns a function that asks it for a move."""
    directory = tmp_path / "bot"
    find("stdio").copy(directory)
    with ExitStack() as stack:

        def start(program: str) -> Ask:
            (directory / "program.py").write_text(program)
            words = [sys.executable, "shim.py", sys.executable, "program.py"]
            bot = Program(words, cwd=directory, env={**os.environ, "PORT": "0"})
            stack.callback(bot.end)
            stack.callback(bot.kill)
            address = bot.wait_for(r"http://(\S+)")

            def ask(**changes: Any) -> tuple[int, dict[str, Any]]:
                with closing(HTTPConnection(address[1])) as connection:
                    connection.request("POST", "/move", json.dumps({**REQUEST, **changes}))
                    answer = connection.getresponse()
                    return answer.status, json.loads(answer.read())

            return ask

        yield start


READ = "import json, sys\nfor n, line in enumerate(sys.stdin):\n    request = json.loads(line)\n"
WRITE = "sys.stdout.buffer.write"


def test_an_answer_to_the_same_request_is_json_or_the_move_alone(shim: Start) -> None:
    move = f"'same' if request == {REQUEST!r} else line"
    ask = shim(f"{READ}    print(json.dumps({{'move': {move}}}) if n else {move}, flush=True)\n")
    assert ask() == (200, {"move": "same"})
    assert ask() == (200, {"move": "same"})


def test_a_program_that_ends_is_restarted(shim: Start) -> None:
    ask = shim(f"{READ}    print('pass', flush=True)\n    if request['turn'] == 2: sys.exit()\n")
    assert ask() == (200, {"move": "pass"})
    assert ask(turn=2) == (200, {"move": "pass"})
    status, body = ask()
    if status == 500:  # it had not ended yet when the line was written
        assert "has ended" in body["error"]
        status, body = ask()
    assert (status, body) == (200, {"move": "pass"})


@pytest.mark.parametrize(
    ("failure", "move_ms", "error"),
    [
        ("sys.stdin.read()", 30, "did not answer in time"),
        ("sys.exit(3)", 60_000, "has ended (exit status 3;"),
        (f"{WRITE}(b'pass'); sys.stdout.flush(); sys.stdin.read()", 1500, "newline after 'pass'"),
        (f"{WRITE}(b'{{\"move\": 3}}\\n')", 60_000, "wrote no move"),
        (f"{WRITE}(b'x' * 70000)", 60_000, "more than 64 KiB"),
        ("import os; os.close(1); sys.stdin.read()", 60_000, "has closed its stdin or stdout"),
    ],
)
def test_a_program_that_fails_is_restarted(
    shim: Start, failure: str, move_ms: int, error: str
) -> None:
    ask = shim(f"{READ}    if request['turn'] == 2: {failure}\n    print('pass', flush=True)\n")
    status, body = ask(turn=2, clock={"move_ms": move_ms, "bank_ms": 0})
    assert (status, error in body["error"]) == (500, True), body
    assert ask() == (200, {"move": "pass"})


def test_a_program_that_never_reads_is_late(shim: Start) -> None:
    ask = shim("import threading\nthreading.Event().wait()\n")
    long = ["play:3c4c5c6c7c8c9cTcJcQc"] * 30_000  # more than a pipe holds
    status, body = ask(moves=long, clock={"move_ms": 10, "bank_ms": 20})
    assert (status, "did not read in time" in body["error"]) == (500, True)


def test_a_second_line_is_not_the_next_answer(shim: Start) -> None:
    words = "'two\\nlines' if request['turn'] == 2 else 'one'"
    ask = shim(f"{READ}    sys.stdout.write({words} + '\\n'); sys.stdout.flush()\n")
    assert ask(turn=2) == (200, {"move": "two"})
    status, body = ask()
    assert (status, "second line for one request: 'lines'" in body["error"]) == (500, True)
    assert ask() == (200, {"move": "one"})


@pytest.mark.parametrize(
    ("program", "message"),
    [([], "Name the program"), (["./none"], "the program cannot be started: ./none: No such file")],
)
def test_a_missing_program_is_named(tmp_path: Path, program: list[str], message: str) -> None:
    find("stdio").copy(tmp_path / "bot")
    shim = [sys.executable, str(tmp_path / "bot" / "shim.py"), *program]
    ended = subprocess.run(shim, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr.startswith(message)) == (1, True), ended.stderr
