"""The folders of bots that travel to workers."""

import hashlib
import io
import os
import socket
import stat
import tarfile
from pathlib import Path

import pytest

from tournament.cluster import archive
from tournament.cluster.archive import ArchiveError, pack, pack_all, unpack
from tournament.config import Bot

MINE = Bot("mine", command="python bot.py", dir="mine")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    mine = tmp_path / "cup" / "mine"
    (mine / "data" / "deep").mkdir(parents=True)
    (mine / "bot.py").write_text("print()")
    (mine / "run.sh").write_text("exec ./bot")
    (mine / "run.sh").chmod(0o755)
    (mine / "data" / "deep" / "model.bin").write_bytes(bytes(range(256)) * 40)
    (mine / "latest").symlink_to("data/deep/model.bin")
    (mine / "__pycache__").mkdir()
    (mine / "__pycache__" / "bot.pyc").write_bytes(b"x")
    return mine


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "there"


def unpacked(data: bytes, target: Path) -> Path:
    unpack(data, hashlib.sha256(data).hexdigest(), target)
    return target


def refusal(bot: Bot, folder: Path, *hidden: Path) -> str:
    with pytest.raises(ArchiveError) as error:
        pack(bot, folder, hidden)
    return str(error.value)


def test_a_folder_arrives_as_it_is_and_cannot_be_written(folder: Path, target: Path) -> None:
    there = unpacked(pack(MINE, folder), target)
    assert (there / "bot.py").read_text() == "print()"
    assert (there / "latest").read_bytes() == (folder / "latest").read_bytes()
    assert os.readlink(there / "latest") == "data/deep/model.bin"
    assert not (there / "__pycache__").exists()
    for path in (there, *there.rglob("*")):
        mode = stat.S_IMODE(path.lstat().st_mode)
        if not path.is_symlink():
            assert mode & 0o222 == 0, path
    assert stat.S_IMODE(there.stat().st_mode) == 0o500
    assert os.access(there / "run.sh", os.X_OK)
    assert not (there / "bot.py").stat().st_mode & 0o111


def test_the_same_files_give_the_same_archive(folder: Path) -> None:
    first = pack(MINE, folder)
    os.utime(folder / "bot.py", (0, 0))
    assert pack(MINE, folder) == first
    (folder / "bot.py").write_text("print(1)")
    assert pack(MINE, folder) != first


@pytest.mark.parametrize("leads_to", ["/etc/passwd", "../../other.py", "deep/../../../other.py"])
def test_a_link_out_of_the_folder_is_refused(folder: Path, leads_to: str) -> None:
    (folder / "data" / "away").symlink_to(leads_to)
    said = refusal(MINE, folder)
    assert said.startswith(f"mine: data/away in its folder mine is a link to {leads_to}, which is")


def test_a_link_that_leaves_by_another_link_is_refused(folder: Path, tmp_path: Path) -> None:
    (folder / "data" / "up").symlink_to("..")
    assert pack(MINE, folder)
    (folder / "out").symlink_to("data/up/../..")
    assert "is a link to data/up/../.." in refusal(MINE, folder)


def test_a_folder_that_is_too_large_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive, "LARGEST", 8 << 10)
    said = refusal(MINE, folder)
    assert said.startswith("mine: its folder mine has more than")
    assert "data/deep/model.bin" in said


def test_sockets_and_the_like_are_refused(folder: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(folder / "door"))
        assert refusal(MINE, folder) == (
            "mine: door in its folder mine is no file, folder or link; delete it."
        )


def test_folders_too_deep_within_each_other_are_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    for _ in range(150):
        os.mkdir("d")
        os.chdir("d")
    assert "more than 100 folders within each other" in refusal(MINE, folder)


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert refusal(MINE, tmp_path / "none") == (
        f"mine: {tmp_path}/none cannot be read (No such file or directory); fix its dir."
    )


def test_what_changed_on_its_way_is_not_unpacked(folder: Path, target: Path) -> None:
    data = pack(MINE, folder)
    with pytest.raises(ArchiveError, match="changed on its way"):
        unpack(data + b"x", hashlib.sha256(data).hexdigest(), target)
    assert not target.exists()


@pytest.mark.parametrize(
    "entries",
    [
        {"/tmp/evil": "file"},
        {"../evil": "file"},
        {"out": "..", "out/evil": "file"},
        {"out": "/"},
        {"sub/up": "..", "sub/out": "up/../.."},
        {"sub/out": "up/..", "sub/up": ".."},
    ],
)
def test_an_archive_never_writes_or_leads_elsewhere(
    tmp_path: Path, target: Path, entries: dict[str, str]
) -> None:
    """Whoever made it: `pack` would not. A value that is no "file" is where a link leads."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as made:
        sub = tarfile.TarInfo("sub")
        sub.type = tarfile.DIRTYPE
        made.addfile(sub)
        for name, what in entries.items():
            info = tarfile.TarInfo(name)
            if what != "file":
                info.type, info.linkname = tarfile.SYMTYPE, what
            made.addfile(info)
    with pytest.raises((ArchiveError, OSError)):
        unpacked(out.getvalue(), target)
    assert not list(tmp_path.rglob("evil"))
    assert not Path("/tmp/evil").exists()


def test_the_cup_and_its_runs_stay(folder: Path, target: Path) -> None:
    cup = folder / "cup.toml"
    cup.write_text('seed = "secret"')
    for place in (folder / "runs" / "spring", folder / ".git"):
        place.mkdir(parents=True)
        (place / "run.sqlite").write_text("hands")
    mine = Bot("mine", command="python bot.py", dir=".")
    packed = pack_all([mine, Bot("far", url="http://127.0.0.1:1")], folder, [cup])
    assert packed.of_bots.keys() == {"mine"}
    there = unpacked(packed.data[packed.of_bots["mine"]], target)
    assert (there / "bot.py").exists()
    names = {path.name for path in there.rglob("*")}
    assert names.isdisjoint({"cup.toml", "runs", ".git", "run.sqlite"})


def test_bots_that_share_a_folder_share_an_archive(folder: Path) -> None:
    bots = [Bot(name, command="python bot.py", dir="mine") for name in ("one", "two")]
    packed = pack_all(bots, folder.parent, [])
    assert len(packed.data) == 1
    assert packed.of_bots["one"] == packed.of_bots["two"]
