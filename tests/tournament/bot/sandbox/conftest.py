"""The folder of a cup."""

from pathlib import Path

import pytest

from tournament.store.signing import make_key


@pytest.fixture
def hall(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a cup: two bots, a run, a CUP.toml, and the user's keys."""
    for name in ("alice", "bob", "runs/spring"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "bob" / "bot.py").write_text("BOB")
    (tmp_path / "runs" / "spring" / "run.sqlite").write_text("SEED OF A RUN")
    (tmp_path / "cup.toml").write_text('seed = "SEED OF A CUP"')
    (tmp_path / "notes.txt").write_text("NOTES")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    make_key()
    return tmp_path
