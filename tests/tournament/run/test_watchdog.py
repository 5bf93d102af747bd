"""A worker that is silent for too long is replaced."""

from pathlib import Path

from tests.support.cups import bot, stich, toys, write
from tournament.store.store import Store


def test_a_worker_that_is_stopped_is_replaced(tmp_path: Path) -> None:
    """Here by a bot without a sandbox; its block is played by another worker."""
    bots = {**toys(2), "attacker": bot("silences", str(tmp_path))}
    cup = write(tmp_path, bots, deals=3, sandbox=False, move_ms=500)
    done = stich("run", cup, "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "stopped").exists()
    with Store.open(tmp_path / "run") as store:
        assert store.run().finished
        assert store.count() == 9
