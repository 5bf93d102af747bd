"""What an organiser publishes is whole, and others can check it."""

import shutil
import sqlite3
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from pathlib import Path

import pytest

from tests.support.tournament import played
from tests.support.tournament.cups import code_and_text, stich, succeed
from tournament.records import Disqualify
from tournament.results.published import sign_files
from tournament.results.verify import verify
from tournament.store.reader import StoreReader
from tournament.store.signing import make_key
from tournament.store.store import Store


def test_others_check_what_is_published(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, out = tmp_path / "run", tmp_path / "out"
    with played.run(run, played.cup(deals=2, commit=True), {"cat": 5}) as store:
        signer, seed = store.run().signer, store.run().seed
        store.decide(Disqualify(bot="cat", why="Not in the main file."))
        succeed("publish", run, "-o", out, "--url", "https://example.org/spring/")
    text = (out / "ANNOUNCEMENT.txt").read_text()
    assert (signer in text, seed in text) == (True, True)
    sums = dict(line.split("  ")[::-1] for line in (out / "SHA256SUMS").read_text().splitlines())
    pages = {"index.html", "preview.png", "report.html"}
    assert sums.keys() == {"ANNOUNCEMENT.txt", "results.csv", "run.sqlite", *pages}
    assert 'content="https://example.org/spring/preview.png"' in (out / "report.html").read_text()
    assert f"{out}: exists; " in stich("publish", run, "-o", out).stderr
    played.unfinished(tmp_path / "begun", played.cup()).close()
    assert "has not ended" in stich("publish", tmp_path / "begun").stderr
    assert "is not the URL of a server" in stich("publish", run, "--url", "example.org").stderr
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "other"))
    done = stich("verify", out)
    assert (done.returncode, f"is a run of the key {signer}" in done.stderr) == (0, True)
    for name, digest in sums.items():
        assert sha256((out / name).read_bytes()).hexdigest() == digest, "also once read"
    code, text = code_and_text("publish", run, "-o", tmp_path / "mine")
    assert (code, f"was signed by {signer}, which is not your key" in text) == (1, True)


@pytest.fixture(scope="module")
def spring(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("spring")
    played.run(folder / "run", played.cup()).close()
    succeed("publish", folder / "run", "-o", folder / "spring")
    return folder / "spring"


def change_results(folder: Path, *, listed: bool = False, signed: bool = False) -> None:
    """Change the bot of a row, and on demand also the list of files, or list and signature."""
    results, sums = folder / "results.csv", folder / "SHA256SUMS"
    before = sha256(results.read_bytes()).hexdigest()
    results.write_text(results.read_text().replace(",ann,", ",eve,"))
    after = sha256(results.read_bytes()).hexdigest()
    if listed:
        sums.write_text(sums.read_text().replace(before, after))
    if signed:
        for path in (sums, folder / "SHA256SUMS.sig"):
            path.unlink()
        with Store.open(folder) as store:
            sign_files(folder, store.run().id, make_key())


def remove(name: str, folder: Path, *, replace: bool = False) -> None:
    (folder / name).unlink()
    if replace:
        (folder / name).mkdir()


def make_unreadable(path: Path) -> None:
    path.unlink()
    path.symlink_to("/proc/self/mem")  # reading its beginning fails, for root too


PUBLISHED = ("ANNOUNCEMENT.txt", "report.html", "SHA256SUMS", "SHA256SUMS.sig")
ATTACKS: dict[str, tuple[Callable[[Path], object], str]] = {
    "results": (change_results, "results.csv is not the file that was published"),
    "listed": (partial(change_results, listed=True), "SHA256SUMS is not the list that was signed"),
    "signed": (partial(change_results, signed=True), "results.csv does not have the results of"),
    "report": (lambda folder: (folder / "report.html").write_text("x"), "report.html is not the"),
    "a file more": (lambda folder: (folder / "new.csv").touch(), "new.csv is not in SHA256SUMS"),
    **{f"no {name}": (partial(remove, name), f"{name} is") for name in PUBLISHED},
    "a folder": (partial(remove, "results.csv", replace=True), "results.csv is missing"),
    "a folder as list": (partial(remove, "SHA256SUMS", replace=True), "SHA256SUMS is missing"),
    "unreadable": (lambda folder: make_unreadable(folder / "report.html"), "A file of the run"),
}


@pytest.mark.parametrize(("attack", "says"), ATTACKS.values(), ids=ATTACKS)
def test_a_changed_published_file_is_named(
    spring: Path, tmp_path: Path, attack: Callable[[Path], object], says: str
) -> None:
    folder = shutil.copytree(spring, tmp_path / "spring")
    with StoreReader.open(folder) as store:
        assert verify(store).mismatches == []
    attack(folder)
    with StoreReader.open(folder) as store:
        assert any(mismatch.detail.startswith(says) for mismatch in verify(store).mismatches)


def test_a_finished_run_is_whole_in_its_file_while_it_is_read(tmp_path: Path) -> None:
    with played.run(tmp_path / "run", played.cup()) as store:
        shutil.copy(tmp_path / "run" / "run.sqlite", tmp_path / "copy.sqlite")
        matches = store.count()
    with sqlite3.connect(tmp_path / "copy.sqlite") as database:
        assert database.execute("SELECT count(*) FROM matches").fetchone() == (matches,)
    database.close()
