import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.support.tournament import cups
from tests.support.tournament.cups import bot, started, succeed
from tournament.store.store import Store

HONEST = ("toy-0", "toy-1", "toy-2")


def write(folder: Path, deals: int = 2, here: bool = False, **run: Any) -> Path:
    """Write a cup of connecting bots, or of the same bots for the runner to start."""
    bots = {name: {"command": bot(name)} if here else {"connect": True} for name in HONEST}
    shared = '[format] cards = "shared"'
    return cups.write(folder, bots, shared, deals=deals, move_ms=1000, bank_ms=60_000, **run)


def token(cup: Path, name: str) -> str:
    return succeed("invite", cup, name, "--out", cup.parent / "run").stdout.strip()


def connect(cup: Path, name: str, port: int, *options: str) -> subprocess.Popen[str]:
    words = (f"http://127.0.0.1:{port}", bot(name), "--token", token(cup, name), "--no-sandbox")
    return started("connect", *words, *options)


def started_here(above: Path, deals: int = 2) -> Path:
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


@contextlib.contextmanager
def ended(*processes: subprocess.Popen[str]) -> Iterator[None]:
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
