"""`stich connect` in real cups, with connections that are cut, and servers that are killed."""

import json
import os
import re
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import islice
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest
from websockets.exceptions import WebSocketException

from stich.processes import find_port
from tests.support.tournament import cups
from tests.support.tournament.cups import all_end, bot, children, events, started, succeed
from tests.support.tournament.dask import cluster
from tests.support.web.gateways import Author, headers
from tests.support.web.network import Link
from tools import hostile
from tools.hostile.server import ABOUT
from tournament.results.verify import verify
from tournament.store.chain import read_receipts
from tournament.store.store import Store

pytestmark = pytest.mark.slow

HONEST = ("toy-0", "toy-1", "toy-2")


def write(folder: Path, deals: int, here: bool = False, **run: Any) -> Path:
    """Write a cup of connecting bots, or of the same bots for the runner to start."""
    bots = {name: {"command": bot(name)} if here else {"connect": True} for name in HONEST}
    shared = '[format] cards = "shared"'
    return cups.write(folder, bots, shared, deals=deals, move_ms=1000, bank_ms=60_000, **run)


def token(cup: Path, name: str) -> str:
    return succeed("invite", cup, name, "--out", cup.parent / "run").stdout.strip()


def connect(cup: Path, name: str, port: int, *options: str) -> Popen[str]:
    words = (f"http://127.0.0.1:{port}", bot(name), "--token", token(cup, name), "--no-sandbox")
    return started("connect", *words, *options)


def started_here(above: Path, deals: int) -> Path:
    """Play the same cup with bots that the runner starts, and return its run."""
    folder = above / "here"
    folder.mkdir()
    path = write(folder, deals, here=True)
    succeed("run", path, "--out", folder / "run")
    return folder / "run"


def differing(first: Path, second: Path) -> set[tuple[int, tuple[str, ...]]]:
    """The matches with different scores in two runs, by block and seating."""
    with Store.open(first) as mine, Store.open(second) as theirs:
        pairs = list(zip(mine.matches(), theirs.matches(), strict=True))
        assert not any(match.faults for run in (mine, theirs) for match in run.matches())
    assert all((a.block, a.seating) == (b.block, b.seating) for a, b in pairs)
    return {(a.block, a.seating) for a, b in pairs if a.scores != b.scores}


def voided(run: Path) -> set[tuple[int, tuple[str, ...]]]:
    """The void matches, by block and seating. They were played again with other cards."""
    with Store.open(run) as store:
        return {(void.block, void.seating) for void in store.voids()}


@contextmanager
def ended(*processes: Popen[str]) -> Iterator[None]:
    """Kill these processes at the end of the context."""
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.communicate()


LADDER = """
name = "Season"
game = "doudizhu"
[faults]
outage_s = 5
[format]
type = "ladder"
[join]
open = true
[run]
concurrency = 2
[sandbox]
enabled = false
"""


class Arena:
    def __init__(self, folder: Path, stack: ExitStack) -> None:
        self._stack = stack
        self._folder = folder
        self.run = folder / "run"
        self.port, self.gateway_port = find_port("127.0.0.1", 0), find_port("127.0.0.1", 0)

    def start(self, deals: int, **run: Any) -> Iterator[dict[str, Any]]:
        """Start the arena. Return its events."""
        self.deals = deals
        self.cup = write(self._folder, deals, **run)
        ports = ("--port", self.port, "--connect-port", self.gateway_port)
        self.process = started("arena", self.cup, "--out", self.run, *ports, "--exit", "--json")
        self._stack.enter_context(ended(self.process))
        return events(self.process)

    def connect(self, names: Sequence[str], *more: str, port: int = 0) -> list[Popen[str]]:
        programs = [connect(self.cup, name, port or self.port, *more) for name in names]
        self._stack.enter_context(ended(*programs))
        return programs

    def check_results(self) -> None:
        """Only void matches have other results than with started bots."""
        here = started_here(self._folder, self.deals)
        assert differing(self.run, here) <= voided(self.run)


@pytest.fixture
def arena(tmp_path: Path) -> Iterator[Arena]:
    with ExitStack() as stack:
        yield Arena(tmp_path, stack)


def end(*programs: Popen[str]) -> list[str]:
    """What these programs have told their authors at their end, which is no error."""
    printed = [program.communicate(timeout=60)[1] for program in programs]
    assert {program.returncode for program in programs} == {0}
    return printed


def test_connected_bots_play_the_same_cup_as_started_bots(arena: Arena) -> None:
    """The arena waits for all bots, names the missing ones, and tells all when the cup is over."""
    seen = arena.start(deals=2, concurrency=2)
    assert next(seen) == {"event": "waiting", "missing": list(HONEST)}
    with Store.open(arena.run) as store:
        assert store.run().present.awaited == tuple(HONEST)
    programs = arena.connect(HONEST, "--tables", "2")
    *_, last = seen
    assert last["event"] == "finished"
    printed = end(*programs)
    assert arena.process.wait(60) == 0
    with Store.open(arena.run) as store:
        assert (store.run().present.awaited, store.voids()) == ((), [])
        for name, text in zip(HONEST, printed, strict=True):
            assert f"Connected to Test cup as {name}.\n" in text
            assert text.endswith("\nThe cup is over.\n")
            (path,) = re.findall(r"^Receipts of the run are kept in (\S+)\.$", text, re.MULTILINE)
            assert (receipts := read_receipts(Path(path)))
            assert verify(store, receipts=receipts).verified
    arena.check_results()
    stored = b"".join(path.read_bytes() for path in arena.run.iterdir())
    assert json.dumps(str(arena.gateway_port)).encode() not in stored


def test_a_connection_that_is_cut_in_mid_match_comes_back(arena: Arena) -> None:
    """None counts twice. Then the network is down, the match is void, and the cup waits."""
    with closing(Link(arena.gateway_port, {30, 61, 92, 123, 154})) as link:
        going = arena.start(deals=6)
        arena.connect(HONEST[1:])
        (program,) = arena.connect(HONEST[:1], port=link.port)
        seen = []
        for event in going:
            seen.append(event)
            if event["event"] == "match" and event["done"] == 14:
                assert not link.loses
                link.cut()
            if event["event"] == "away" and event["bots"]:
                link.up = True
        (printed,) = end(program)
    assert seen[-1]["event"] == "finished"
    (void,) = [event for event in seen if event["event"] == "void"]
    assert (void["bot"], void["cause"]) == (HONEST[0], "outage")
    assert [event["bots"] for event in seen if event["event"] == "away"] == [[HONEST[0]], []]
    assert "Connection lost (it does not answer); trying again." in printed
    assert "Connected again." in printed
    arena.check_results()


def test_the_servers_and_the_runner_may_be_killed(arena: Arena) -> None:
    """No match is lost or counts twice, and the authors' programs go on."""
    going = (event["match"] for event in arena.start(deals=6) if event["event"] == "match")
    programs = arena.connect(HONEST)
    before = list(islice(going, 4))
    runner = arena.process
    for pid in children(runner.pid):
        with suppress(ProcessLookupError, FileNotFoundError):  # because it has ended
            if b"web." in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)
    before += islice(going, 4)
    below = children(runner.pid)
    runner.kill()
    before += going
    all_end([runner.pid, *below])
    assert runner.stderr is not None
    warnings = runner.stderr.read()
    for name in ("The gateway of bots that connect", "The server of the pages"):
        assert f"{name} has stopped; restarting it." in warnings
    after = [event["match"] for event in arena.start(deals=6) if event["event"] == "match"]
    assert arena.process.wait(60) == 0
    assert all("The cup is over." in printed for printed in end(*programs))
    with Store.open(arena.run) as store:
        stored = [match.match for match in store.summaries()]
    assert len(stored) == len(set(stored)) == 18
    assert set(before) <= set(stored)  # one more may be stored and not told
    assert after
    assert not set(before) & set(after)
    arena.check_results()


def misbehave(url: str, token: str, over: threading.Event) -> None:
    """Answer only GET / correctly, send more than was asked for, and always connect again."""
    about = hostile.answer(json.dumps(ABOUT).encode())
    while not over.is_set():
        with suppress(WebSocketException, OSError, AssertionError):
            author = Author(url, headers(token))
            while True:
                number, call, _ = author.asked()
                author.answer(about if call == "GET /" else b"SSH-2.0-OpenSSH_9.2\r\n", number)
                for _ in range(30):
                    author.answer(b"x" * 10_000, 7)


def test_only_the_author_who_misbehaves_has_faults(arena: Arena) -> None:
    over = threading.Event()
    seen = arena.start(deals=1)
    assert next(seen)["event"] == "waiting"
    programs = arena.connect(HONEST[1:])
    where = f"http://127.0.0.1:{arena.gateway_port}", token(arena.cup, HONEST[0])
    threading.Thread(target=misbehave, args=(*where, over), daemon=True).start()
    *_, last = seen
    over.set()
    end(*programs)
    assert (last["event"], last["matches"]) == ("finished", 3)
    faults = {line["bot"]: line["faults"] for line in last["standings"]}
    assert faults[HONEST[0]]["invalid"] > 0
    assert [sum(faults[name].values()) for name in HONEST[1:]] == [0, 0]


def until(runner: Popen[str], kind: str, text: str) -> None:
    next(event for event in events(runner) if event["event"] == kind and text in json.dumps(event))


@pytest.mark.serial
def test_a_ladder_goes_on_after_its_runner_is_killed(tmp_path: Path) -> None:
    port, connect_port = (find_port("127.0.0.1", 0) for _ in range(2))
    ladder, run = tmp_path / "ladder.toml", tmp_path / "run"
    house = [f'[[bots]]\nname = "{name}"\ncommand = "{bot(name)}"\n' for name in HONEST[1:]]
    ladder.write_text(LADDER + "".join(house))
    words = (f"http://127.0.0.1:{port}", "ann", bot(HONEST[0]), "--no-sandbox")
    with ExitStack() as stack:
        dask = stack.enter_context(cluster(tmp_path))
        dask.start_worker("one")
        where = ("--port", port, "--connect-port", connect_port, "--cluster", dask.address)
        arena = ("arena", ladder, "--out", run, *where, "--exit", "--json")
        stack.enter_context(ended(served := started(*arena)))
        until(served, "begin", "")
        # a table needs Ann's program, which finds the ladder waiting
        program = started("join", *words, XDG_STATE_HOME=str(tmp_path / "ann"))
        stack.enter_context(ended(program))
        until(served, "match", "ann")
        served.kill()
        served.communicate()
        with Store.open(run) as store:
            before = store.count()
        stack.enter_context(ended(again := started(*arena)))
        until(again, "match", "ann")
        succeed("finish", run, "--yes")
        *_, last = events(again)
    assert last["event"] == "finished"
    with Store.open(run) as store:
        assert store.count() > before
        assert not any(match.faults for match in store.matches())
        assert all(block.played == block.seatings for block in store.blocks())
    succeed("verify", run)
