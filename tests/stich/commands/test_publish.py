"""What an organiser publishes is whole, and others can check it."""

import hashlib
import shutil
import sqlite3
from pathlib import Path

import pytest

from tests.support import played
from tests.support.cups import stich
from tournament.records import Disqualify


def test_what_is_published_is_checked_by_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run, out = tmp_path / "run", tmp_path / "out"
    with played.run(run, played.cup(deals=2, commit=True), {"cat": 5}) as store:
        signer, seed = store.run().signer, store.run().seed
        store.decide(Disqualify(bot="cat", why="Not in the main file."))
        where = ("--url", "https://example.org/spring/")
        assert stich("publish", run, "-o", out, *where).returncode == 0
    text = (out / "ANNOUNCEMENT.txt").read_text()
    assert signer in text
    assert seed in text
    sums = dict(line.split("  ")[::-1] for line in (out / "SHA256SUMS").read_text().splitlines())
    files = {"ANNOUNCEMENT.txt", "preview.png", "report.html", "results.csv", "run.sqlite"}
    assert sums.keys() == files
    assert 'content="https://example.org/spring/preview.png"' in (out / "report.html").read_text()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
    done = stich("verify", out)
    assert done.returncode == 0
    assert f"is a run of the key {signer}" in done.stderr
    for name, digest in sums.items():
        assert hashlib.sha256((out / name).read_bytes()).hexdigest() == digest, "also once read"
    assert f"{out}: exists; " in stich("publish", run, "-o", out).stderr
    assert "is not the URL of a server" in stich("publish", run, "--url", "example.org").stderr


def test_a_run_that_has_not_ended_is_not_published(tmp_path: Path) -> None:
    played.unfinished(tmp_path / "run", played.cup()).close()
    done = stich("publish", tmp_path / "run")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "has not ended" in done.stderr


def test_a_finished_run_is_whole_in_its_file_while_it_is_read(tmp_path: Path) -> None:
    with played.run(tmp_path / "run", played.cup()) as store:
        shutil.copy(tmp_path / "run" / "run.sqlite", tmp_path / "copy.sqlite")
        matches = store.count()
    with sqlite3.connect(tmp_path / "copy.sqlite") as database:
        assert database.execute("SELECT count(*) FROM matches").fetchone() == (matches,)
    database.close()
