"""`stich run --cluster` before it reaches a cluster, and `stich run` without the option."""

import importlib.util
from pathlib import Path

import pytest

from tests.support.tournament.cups import started, stich, toys, write


def test_a_wrong_address_is_refused(tmp_path: Path) -> None:
    fix = "is no scheduler's address; write one like tcp://127.0.0.1:8786."
    for address in ("nonsense", "http://h:1", "tcp://h", "tcp://h:99999", "tcp://:1", "tcp://h:x"):
        done = stich("run", write(tmp_path, toys(3)), "--cluster", address)
        assert (done.returncode, fix in done.stderr) == (2, True), address


def test_the_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    done = stich("run", write(tmp_path, toys(3)), "--cluster", "tcp://h:1")
    assert done.returncode == 2
    assert "needs Dask distributed: pip install 'stich[cluster]'" in done.stderr


def test_without_the_option_dask_is_not_imported(tmp_path: Path) -> None:
    words = ("run", write(tmp_path, toys(3), deals=1), "--out", tmp_path / "run")
    with started(*words, PYTHONPROFILEIMPORTTIME="1") as runner:
        _, imported = runner.communicate()
    assert runner.returncode == 0
    assert "tournament.run.session" in imported
    assert not any(package in imported for package in ("dask", "distributed"))


def test_an_arena_names_a_scheduler_without_an_address(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="pip install 'stich[cluster]'")
    cup = write(tmp_path, {**toys(2), "ann": {"connect": True}})
    ports = ("--port", 0, "--connect-port", 0)
    done = stich("arena", cup, "--out", tmp_path / "run", *ports, "--cluster", "tcp://a..b:8786")
    assert done.returncode == 1
    assert "--cluster: tcp://a..b:8786 cannot be reached: " in done.stderr
