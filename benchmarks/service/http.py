"""Measures the request rate of the service compared with a Flask route that does nothing.

Both get the same body, give the same answer, and run as WSGI applications in the same server. The
service is also measured as `stich serve` serves it. wrk sends the requests over 16 keep-alive
connections to one worker, with a state that has 30 moves of history.
"""

import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import requests

import games
from benchmarks import ROOT
from benchmarks.figures import Figure, Section
from stich.processes import find_port
from tools.wheel import installed_wheel

CONNECTIONS = 16
SECONDS = 2
ROUNDS = 8
HISTORY = 30
AIMS = {"pure": {"/v1/advance": 0.58, "/v1/validate": 0.60}}
AIMS["compiled"] = dict.fromkeys(AIMS["pure"], 0.70)
P99_AIM = 0.5
"""The aim for the peer's 99th percentile divided by ours."""

GRANIAN = ("granian", "--interface", "wsgi", "--no-ws", "--log-level", "error")
SERVERS = {"WSGI": [*GRANIAN, "service.wsgi:app"], "stich serve": ["stich", "serve"]}

# written by hand, since each optimization would have to be taken out to measure it
PROCESSOR_TIME = """\
Processor time per request, in one process without a server, measured on 2026-11-27 (the least of
12 rounds): the no-op Flask route takes 81 µs, `/v1/validate` 138, `/v1/advance` 157, and with gzip
210. What each optimization saves:

| optimization | µs of `/v1/advance` |
| --- | ---: |
| msgspec reads bodies that match the contract, marshmallow only others | 108 |
| the length of a body rules out unknown and duplicate fields; no parser that reports them | 61 |
| msgspec writes answers | 31 |
| a body in memory is read without Werkzeug's reader | 12 |
| the host is not parsed | 10 |
| `Accept-Encoding` is parsed only if it names gzip | 10 |
| labels of metrics are looked up once | 4 |"""

NOOP = """
from flask import Flask, Response, request
answer = open({answer!r}, "rb").read()
app = Flask("noop")
@app.post("/noop")
def noop():
    request.get_data()
    return Response(answer, mimetype="application/json")
"""


def midgame() -> games.State:
    """A state of three-player Dou Dizhu with 30 moves of history and at least four legal moves."""
    random_ = random.Random(5)
    for number in range(1000):
        state = games.get("doudizhu").start(3, f"mid-{number}", {})
        while state.turn is not None:
            if len(state.to_dict()["history"]) == HISTORY and len(state.moves()) > 3:
                return state
            state = state.advance(random_.choice(state.moves()))
    raise RuntimeError("No game was long enough.")


@contextmanager
def server(command: Sequence[str], folder: Path, project: Path = ROOT) -> Iterator[int]:
    """Run a Python module that serves with one worker. Yield the free port that it listens on."""
    port = find_port("127.0.0.1", 0)
    command = [sys.executable, "-m", *command, "--port", str(port)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join((str(folder), str(project)))}
    with subprocess.Popen(command, cwd=folder, env=environment, stdout=2) as process:
        try:
            for _ in range(200):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.05)
            yield port
        finally:
            process.terminate()


def wrk(url: str, body: str, folder: Path) -> tuple[float, float]:
    """Post `body` with wrk. Return the requests per second and the 99th percentile in ms.

    Raises:
        RuntimeError: if a request failed.
        ValueError: if wrk's output cannot be read.
    """
    script = folder / "post.lua"
    script.write_text(
        'wrk.method = "POST"\nwrk.headers["Content-Type"] = "application/json"\n'
        f"wrk.body = {json.dumps(body)}\n"
    )
    done = subprocess.run(
        ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "--latency", "-s", str(script), url],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    if "Non-2xx" in done or "Socket errors" in done:
        raise RuntimeError(done)
    speed = re.search(r"Requests/sec:\s+([\d.]+)", done)
    late = re.search(r"99%\s+([\d.]+)(us|ms|s)", done)
    if speed is None or late is None:
        raise ValueError(f"The output of wrk has no rate or percentile: {done}")
    scale = {"us": 0.001, "ms": 1.0, "s": 1000.0}
    return float(speed[1]), float(late[1]) * scale[late[2]]


def compared(build: str, project: Path, route: str, body: dict[str, Any]) -> list[Figure]:
    """Measure a route of the service and a no-op route in turns, and compare their best rounds."""
    text = json.dumps(body)
    with tempfile.TemporaryDirectory(prefix="stich-http-") as name, ExitStack() as servers:
        folder = Path(name)
        ports = {
            server_name: servers.enter_context(server(command, folder, project))
            for server_name, command in SERVERS.items()
        }
        urls = {name: f"http://127.0.0.1:{port}{route}" for name, port in ports.items()}
        answer = requests.post(urls["WSGI"], text, headers={"Content-Type": "application/json"})
        answer.raise_for_status()
        (folder / "answer.json").write_bytes(answer.content)
        (folder / "noop.py").write_text(NOOP.format(answer=str(folder / "answer.json")))
        noop = servers.enter_context(server([*GRANIAN, "noop:app"], folder))
        urls["no-op"] = f"http://127.0.0.1:{noop}/noop"
        rounds = [
            {name: wrk(url, text, folder) for name, url in urls.items()} for _ in range(ROUNDS)
        ]
    best = {name: max(round[name] for round in rounds) for name in urls}
    theirs, their_p99 = best.pop("no-op")
    figures = []
    for name, (mine, my_p99) in best.items():
        what, peer = f"{route}, {build}, {name}", "no-op Flask route"
        figures += [
            Figure(what, mine, peer, theirs, "requests/s", mine / theirs, AIMS[build][route]),
            Figure(f"{what}, p99", my_p99, peer, their_p99, "ms", their_p99 / my_p99, P99_AIM),
        ]
    return figures


def sections() -> list[Section]:
    """Measure `/v1/advance` and `/v1/validate` compared with routes that do nothing."""
    title = "The service compared with a route that does nothing"
    if shutil.which("wrk") is None:
        return [Section(title, "Not measured: wrk is not installed (Debian: `apt install wrk`).")]
    state = midgame()
    move = state.moves()[1].text
    bodies: dict[str, dict[str, Any]] = {
        "/v1/advance": {"state": state.to_dict(), "moves": [move]},
        "/v1/validate": {"state": state.to_dict(), "move": move},
    }
    figures = []
    with installed_wheel() as wheel:
        for build, project in (("pure", ROOT), ("compiled", wheel.packages)):
            for route, body in bodies.items():
                figures += compared(build, project, route, body)
    return [
        Section(
            title,
            f"Three-player Dou Dizhu with {HISTORY} moves of history, pure Python and with compiled"
            " rules: as a WSGI application under granian, like the peer, and as `stich serve`"
            f" serves it. One worker each, wrk with {CONNECTIONS} keep-alive connections; in turns,"
            f" the best of {ROUNDS} rounds of {SECONDS} s. The peer gets the same body and sends"
            " the same answer.",
            figures,
            "Compared with its peer, `/v1/advance` spends most of its extra time on reading,"
            " checking and writing the whole state, and a fifth of it on the rules. wrk shares the"
            f" cores with both servers.\n\n{PROCESSOR_TIME}",
        )
    ]
