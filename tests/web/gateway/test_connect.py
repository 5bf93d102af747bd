"""`stich connect` in real cups, with connections that are cut, and servers that are killed."""

import contextlib
import json
import os
import signal
import subprocess
import threading
from contextlib import closing
from pathlib import Path

import pytest
from websockets.exceptions import WebSocketException

from stich.processes import find_port
from tests.support.connecting import (
    HONEST,
    connect,
    differing,
    ended,
    started_here,
    token,
    voided,
    write,
)
from tests.support.cups import (
    all_end,
    bot,
    children,
    code_and_text,
    events,
    standings,
    started,
    stich,
)
from tests.support.gateways import Author
from tests.support.network import Link
from tools import hostile
from tools.hostile.server import ABOUT
from tournament.results.receipts import read_receipts
from tournament.results.verify import verify
from tournament.store.store import Store

pytestmark = pytest.mark.slow


def arena(cup: Path, port: int, connect_port: int) -> subprocess.Popen[str]:
    ports = ("--port", port, "--connect-port", connect_port)
    return started("arena", cup, "--out", cup.parent / "run", *ports, "--exit", "--json")


@pytest.fixture
def ports() -> tuple[int, int]:
    return find_port("127.0.0.1", 0), find_port("127.0.0.1", 0)


def test_connected_bots_play_the_same_cup_as_started_bots(
    tmp_path: Path, ports: tuple[int, int]
) -> None:
    """The arena waits for all bots, names the missing ones, and tells all when the cup is over."""
    cup = write(tmp_path, concurrency=2)
    with ended(served := arena(cup, *ports)):
        seen = events(served)
        assert next(seen) == {"event": "waiting", "missing": list(HONEST)}
        with Store.open(tmp_path / "run") as store:
            assert store.present().awaited == tuple(HONEST)
        programs = [connect(cup, name, ports[0], "--tables", "2") for name in HONEST]
        with ended(*programs):
            *_, last = seen
            assert last["event"] == "finished"
            outputs = [program.communicate(timeout=60) for program in programs]
            assert [program.returncode for program in programs] == [0, 0, 0]
            assert served.wait(60) == 0
    for name, (_, said) in zip(HONEST, outputs, strict=True):
        *lines, over = said.splitlines()
        assert f"Connected to Test cup as {name}." in lines
        assert over == "The cup is over."
        (kept_in,) = (line for line in lines if line.startswith("Receipts of the run are kept in"))
        receipts = read_receipts(Path(kept_in.rstrip(".").rpartition(" ")[2]))
        with Store.open(tmp_path / "run") as store:
            assert receipts
            assert verify(store, receipts=receipts).verified
    with Store.open(tmp_path / "run") as store:
        assert store.present().awaited == ()
    assert not differing(tmp_path / "run", started_here(tmp_path))
    kept = b"".join(path.read_bytes() for path in (tmp_path / "run").iterdir())
    assert json.dumps(str(ports[1])).encode() not in kept


def test_a_connection_that_is_cut_in_mid_match_comes_back(
    tmp_path: Path, ports: tuple[int, int]
) -> None:
    """Lost requests and answers are sent again, and none counts twice.

    Then the network is down, so the bot is away, its match is void, and the cup waits.
    """
    cup = write(tmp_path, deals=6)
    lost = {30, 61, 92, 123, 154}
    with closing(Link(ports[1], lost)) as link, ended(served := arena(cup, *ports)):
        programs = [connect(cup, name, ports[0]) for name in HONEST[1:]]
        programs.append(connect(cup, HONEST[0], link.port))
        with ended(*programs):
            seen = []
            for event in events(served):
                seen.append(event)
                if event["event"] == "match" and event["done"] == 14:
                    assert not link.loses
                    link.cut()
                if event["event"] == "away" and event["bots"]:
                    link.up = True
            _, said = programs[-1].communicate(timeout=60)
    assert seen[-1]["event"] == "finished"
    (void,) = [event for event in seen if event["event"] == "void"]
    assert (void["bot"], void["cause"]) == (HONEST[0], "outage")
    assert [event["bots"] for event in seen if event["event"] == "away"] == [[HONEST[0]], []]
    assert "Connection lost (it does not answer); trying again." in said
    assert "Connected again." in said
    assert programs[-1].returncode == 0
    assert differing(tmp_path / "run", started_here(tmp_path, 6)) <= voided(tmp_path / "run")


def test_the_servers_and_the_runner_may_be_killed(tmp_path: Path, ports: tuple[int, int]) -> None:
    """The command restarts its servers, and goes on when it is started again.

    No match is lost or counts twice, and the authors' programs go on.
    """
    cup = write(tmp_path, deals=6)
    with contextlib.ExitStack() as stack:
        stack.enter_context(ended(served := arena(cup, *ports)))
        programs = [connect(cup, name, ports[0]) for name in HONEST]
        stack.enter_context(ended(*programs))
        before: list[object] = []
        for event in events(served):
            if event["event"] != "match":
                continue
            before.append(event["match"])
            started_by_it = children(served.pid)
            if len(before) == 4:
                for pid in started_by_it:
                    with contextlib.suppress(ProcessLookupError, FileNotFoundError):  # it has ended
                        if b"web." in Path(f"/proc/{pid}/cmdline").read_bytes():
                            os.kill(pid, signal.SIGKILL)
            if len(before) == 8:
                break
        served.send_signal(signal.SIGKILL)
        before += [event["match"] for event in events(served) if event["event"] == "match"]
        all_end([served.pid, *started_by_it])
        assert served.stderr
        warned = served.stderr.read()
        for name in ("The gateway of bots that connect", "The server of the pages"):
            assert f"{name} has stopped; restarting it." in warned
        stack.enter_context(ended(again := arena(cup, *ports)))
        after = [event["match"] for event in events(again) if event["event"] == "match"]
        assert again.wait(60) == 0
        said = [program.communicate(timeout=60)[1] for program in programs]
    assert [program.returncode for program in programs] == [0, 0, 0]
    assert all("The cup is over." in text for text in said)
    kept = [json.loads(line)["match"] for line in matches(tmp_path / "run")]
    assert len(kept) == len(set(kept)) == 18
    assert set(before) <= set(kept)
    assert after
    assert not set(before) & set(after)
    assert differing(tmp_path / "run", started_here(tmp_path, 6)) <= voided(tmp_path / "run")


def matches(run: Path) -> list[str]:
    return stich("matches", run, "--json").stdout.splitlines()


def misbehave(url: str, token: str, over: threading.Event) -> None:
    """Answer GET / correctly, and then send bytes that are no answer, also without a request.

    Connect again whenever the connection ends.
    """
    about = hostile.answer(json.dumps(ABOUT).encode())
    while not over.is_set():
        with contextlib.suppress(WebSocketException, OSError, AssertionError):
            author = Author(url, token)
            while True:
                number, call, _ = author.asked()
                author.answer(about if call == "GET /" else b"SSH-2.0-OpenSSH_9.2\r\n", number)
                for _ in range(30):
                    author.answer(b"x" * 10_000, 7)


def test_only_the_author_who_misbehaves_has_faults(tmp_path: Path, ports: tuple[int, int]) -> None:
    cup = write(tmp_path, deals=1)
    over = threading.Event()
    with ended(served := arena(cup, *ports)):
        seen = events(served)
        assert next(seen)["event"] == "waiting"
        programs = [connect(cup, name, ports[0]) for name in HONEST[1:]]
        with ended(*programs):
            where = f"http://127.0.0.1:{ports[1]}", token(cup, HONEST[0])
            threading.Thread(target=misbehave, args=(*where, over), daemon=True).start()
            *_, last = seen
            over.set()
            for program in programs:
                program.communicate(timeout=60)
    assert (last["event"], last["matches"]) == ("finished", 3)
    faults = {line["bot"]: line["faults"] for line in standings(tmp_path / "run")["standings"]}
    assert faults[HONEST[0]]["invalid"] > 0
    assert [sum(faults[name].values()) for name in HONEST[1:]] == [0, 0]


def test_a_refused_token_ends_the_program(tmp_path: Path, ports: tuple[int, int]) -> None:
    with ended(served := arena(write(tmp_path), *ports)):
        next(events(served))
        url = f"http://127.0.0.1:{ports[0]}"
        code, text = code_and_text(
            "connect", url, "--token", "0" * 64, bot("toy-0"), "--no-sandbox"
        )
    assert code == 1
    assert text.splitlines()[-1].startswith("This token is not known here;")


def test_a_proxy_that_does_not_connect_is_named() -> None:
    """The program uses HTTP_PROXY of the environment, and tries again."""
    proxy = f"http://127.0.0.1:{find_port('127.0.0.1', 0)}"
    environ = dict.fromkeys(("HTTP_PROXY", "http_proxy"), proxy)
    words = ("http://arena.example", "--token", "t", bot("toy-1"), "--no-sandbox")
    program = started("connect", *words, **environ, NO_PROXY="", no_proxy="")
    with ended(program):
        assert program.stderr is not None
        says = "No connection to http://arena.example (it does not answer, or the proxy does not);"
        assert any(line.startswith(says) for line in program.stderr)


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["http://x"], "its --url or its command"),
        (["http://x", "bot", "--url", "http://y"], "either its --url or its command"),
        (["arena.example", "bot"], "is not the URL of a server"),
    ],
)
def test_wrong_usage_is_refused(words: list[str], says: str) -> None:
    code, text = code_and_text("connect", *words, "--token", "t")
    assert code == 2
    assert says in text
