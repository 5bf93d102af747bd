"""`stich connect` in real cups: from elsewhere, cut off, killed, refused."""

from __future__ import annotations

import contextlib
import json
import signal
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from stich.commands.serve import find_port
from tests.tournament.cups import all_end, bot, events, standings, started, stich

pytestmark = pytest.mark.slow
HONEST = ("toy-0", "toy-1", "toy-2")


def write(folder: Path, deals: int = 2, **run: int) -> Path:
    lines = ['name = "Remote cup"', 'game = "doudizhu"', 'seed = "test"']
    lines += ["[format]", f"deals = {deals}", "[clock]", "bank_ms = 60000"]
    lines += ["[run]", *(f"{key} = {value}" for key, value in run.items())]
    for name in HONEST:
        lines += ["[[bots]]", f'name = "{name}"', "connect = true"]
    path = folder / "cup.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def token(cup: Path, name: str) -> str:
    return stich("invite", cup, name, "--out", cup.parent / "run").stdout.strip()


def connect(cup: Path, name: str, port: int, *more: str) -> subprocess.Popen[str]:
    words = (f"http://127.0.0.1:{port}", bot(name), "--token", token(cup, name), "--no-sandbox")
    return started("connect", *words, *more)


def arena(cup: Path, port: int, connect_port: int) -> subprocess.Popen[str]:
    ports = ("--port", port, "--connect-port", connect_port)
    return started("arena", cup, "--out", cup.parent / "run", *ports, "--exit", "--json")


def by_url(folder: Path, deals: int = 2) -> dict[str, object]:
    """The standings of the same cup with bots that the runner starts."""
    path = write(folder, deals)
    text = path.read_text()
    for name in HONEST:
        text = text.replace(f'"{name}"\nconnect = true', f'"{name}"\ncommand = "{bot(name)}"')
    path.write_text(text)
    assert stich("run", path, "--out", folder / "run").returncode == 0
    return standings(folder / "run")


@pytest.fixture
def ports() -> tuple[int, int]:
    return find_port("127.0.0.1", 0), find_port("127.0.0.1", 0)


class Proxy:
    """Forwards TCP connections to a port until they are cut."""

    def __init__(self, to: int) -> None:
        self._to = to
        self._open: list[socket.socket] = []
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self.up = True
        self._threads: list[threading.Thread] = []
        self._start(self._accept)

    def cut(self) -> None:
        """Break all connections, and accept none."""
        with self._lock:
            self.up = False
            for one in self._open:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)
            self._open.clear()

    def close(self) -> None:
        """End all threads."""
        self.cut()
        self._listener.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()

    def _start(self, work: Callable[..., None], *args: socket.socket) -> None:
        self._threads.append(threading.Thread(target=work, args=args, daemon=True))
        self._threads[-1].start()

    def _accept(self) -> None:
        with self._listener, contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                with self._lock:
                    if not self.up:
                        near.close()
                        continue
                    far = socket.create_connection(("127.0.0.1", self._to))
                    self._open += [near, far]
                self._start(self._carry, near, far)

    def _carry(self, near: socket.socket, far: socket.socket) -> None:
        with near, far:
            back = threading.Thread(target=self._pump, args=(far, near), daemon=True)
            back.start()
            self._pump(near, far)
            back.join()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        for one in (source, target):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)


@contextlib.contextmanager
def ended(*processes: subprocess.Popen[str]) -> Iterator[None]:
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.communicate()


def test_a_cup_of_bots_that_connect_is_that_of_the_same_bots_started_here(
    tmp_path: Path, ports: tuple[int, int]
) -> None:
    """Two tables at once; the arena waits, says who is missing, and tells all when it is over."""
    (tmp_path / "here").mkdir()
    cup = write(tmp_path, concurrency=2)
    with ended(served := arena(cup, *ports)):
        seen = events(served)
        assert next(seen) == {"event": "waiting", "missing": list(HONEST)}
        programs = [connect(cup, name, ports[0], "--tables", "2") for name in HONEST]
        with ended(*programs):
            *_, last = seen
            assert last["event"] == "finished"
            outputs = [program.communicate(timeout=60) for program in programs]
            assert [program.returncode for program in programs] == [0, 0, 0]
            assert served.wait(60) == 0
    for name, (_, said) in zip(HONEST, outputs, strict=True):
        lines = said.splitlines()[-2:]
        assert lines == [f"Connected to Remote cup as {name}.", "The cup is over."]
    assert standings(tmp_path / "run") == by_url(tmp_path / "here")
    kept = b"".join(path.read_bytes() for path in (tmp_path / "run").iterdir())
    assert json.dumps(str(ports[1])).encode() not in kept


def test_a_connection_that_is_cut_in_mid_match_comes_back(
    tmp_path: Path, ports: tuple[int, int]
) -> None:
    cup = write(tmp_path, deals=6)
    with closing(Proxy(ports[1])) as proxy, ended(served := arena(cup, *ports)):
        seen = events(served)
        programs = [connect(cup, name, ports[0]) for name in HONEST[1:]]
        programs.append(connect(cup, HONEST[0], proxy.port))
        with ended(*programs):
            cuts = 0
            for event in seen:
                if event["event"] == "match" and cuts < 3:
                    cuts += 1
                    proxy.cut()
                    proxy.up = True
            _, said = programs[-1].communicate(timeout=60)
    assert cuts == 3
    assert programs[-1].returncode == 0
    assert said.count("Connection lost") >= 1
    assert said.count("Connected again.") >= 1
    table = standings(tmp_path / "run")
    (tmp_path / "here").mkdir()
    assert table == by_url(tmp_path / "here", 6)  # no fault either


def test_runner_and_gateway_may_be_killed(tmp_path: Path, ports: tuple[int, int]) -> None:
    """Nothing is lost and nothing counts twice; the authors' programs stay."""
    cup = write(tmp_path, deals=6)
    with contextlib.ExitStack() as stack:
        served = stack.enter_context(_process(arena(cup, *ports)))
        programs = [stack.enter_context(_process(connect(cup, name, ports[0]))) for name in HONEST]
        for event in events(served):
            if event["event"] == "match" and event["done"] >= 4:
                break
        children = _children(served.pid)
        served.send_signal(signal.SIGKILL)
        all_end([served.pid, *children])
        again = stack.enter_context(_process(arena(cup, *ports)))
        done = [event for event in events(again) if event["event"] == "match"]
        assert again.wait(60) == 0
        said = [program.communicate(timeout=60)[1] for program in programs]
    assert [program.returncode for program in programs] == [0, 0, 0]
    assert all("The cup is over." in text for text in said)
    assert 0 < len(done) < 18
    (tmp_path / "here").mkdir()
    assert standings(tmp_path / "run") == by_url(tmp_path / "here", 6)


def _process(
    process: subprocess.Popen[str],
) -> contextlib.AbstractContextManager[subprocess.Popen[str]]:
    @contextlib.contextmanager
    def held() -> Iterator[subprocess.Popen[str]]:
        with ended(process):
            yield process

    return held()


def _children(pid: int) -> list[int]:
    """All processes that this one has started, and theirs."""
    found = [
        int(word)
        for task in Path(f"/proc/{pid}/task").iterdir()
        for word in (task / "children").read_text().split()
    ]
    return [*found, *(child for one in found for child in _children(one))]


def test_a_refused_token_ends_the_program(tmp_path: Path, ports: tuple[int, int]) -> None:
    cup = write(tmp_path)
    with ended(served := arena(cup, *ports)):
        next(events(served))
        url = f"http://127.0.0.1:{ports[0]}"
        refused = stich("connect", url, "--token", "0" * 64, bot("toy-0"), "--no-sandbox")
    assert refused.returncode == 1
    assert refused.stderr.splitlines()[-1].startswith("This token is not known here;")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("http://x", "--token", "t"), "either a command or --url"),
        (("http://x", "--token", "t", "bot", "--url", "http://y"), "either a command or --url"),
        (("arena.example", "--token", "t", "bot"), "is not the URL of a server"),
        (("http://x", "bot"), "Missing option '--token'"),
        (("http://x", "--token", "t", "bot", "--tables", "0"), "Invalid value for '--tables'"),
    ],
)
def test_usage(words: tuple[str, ...], says: str) -> None:
    done = stich("connect", *words)
    assert done.returncode == 2
    assert says in done.stderr
