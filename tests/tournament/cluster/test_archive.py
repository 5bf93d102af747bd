"""Bots' folders travel to workers as archives."""

import errno
import hashlib
import io
import os
import re
import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tournament.cluster import archive
from tournament.cluster.archive import ArchiveError, pack, pack_all, unpack
from tournament.config.cup import Bot, Cup

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
    os.mkfifo(mine / "pipe")
    return mine


def unpacked(data: bytes, folder: Path) -> Path:
    unpack(data, hashlib.sha256(data).hexdigest(), folder / "there")
    return folder / "there"


def refusal(folder: Path) -> str:
    with pytest.raises(ArchiveError) as error:
        pack(MINE, folder)
    return str(error.value)


def test_a_folder_arrives_unchanged_and_read_only(folder: Path, tmp_path: Path) -> None:
    there = unpacked(pack(MINE, folder), tmp_path)
    assert (there / "bot.py").read_text() == "print()"
    assert (there / "latest").read_bytes() == (folder / "latest").read_bytes()
    assert not (there / "pipe").exists()
    for path in (there, *there.rglob("*")):
        assert not path.is_symlink()
        assert not stat.S_IMODE(path.stat().st_mode) & 0o222, path
    assert stat.S_IMODE(there.stat().st_mode) == 0o500
    assert os.access(there / "run.sh", os.X_OK)
    assert not (there / "bot.py").stat().st_mode & 0o111


@pytest.mark.parametrize(
    "leads_to", ["/etc/passwd", "../../other.py", "up/../../other.py", "away", ".", "runs/hands"]
)
def test_a_link_that_leads_out_of_the_folder_is_refused(folder: Path, leads_to: str) -> None:
    (folder.parent / "other.py").touch()
    (folder / "runs").mkdir()
    (folder / "runs" / "hands").touch()
    (folder / "away").symlink_to(leads_to)
    assert refusal(folder) == (
        "mine: its folder mine has a link, away, that leads to no file in it that can be sent; put"
        " a copy in its place, or delete it."
    )


def test_a_folder_that_is_too_large_or_not_utf_8_is_refused(folder: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(archive, "LARGEST", 8 << 10)
        too_large = refusal(folder)
    assert re.match("mine: its folder mine has more than .*data/deep/model.bin", too_large)
    Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9")).touch()
    assert refusal(folder).endswith("a name that is not UTF-8, 'caf\\udce9'; rename it.")


def test_a_subfolder_that_cannot_be_listed_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(listing: Callable[[Path], Any]) -> Callable[[Path], Any]:
        def listed(path: Path) -> Any:
            if Path(path).name == "deep":
                raise PermissionError(errno.EACCES, "Permission denied", str(path))
            return listing(path)

        return listed

    for name in ("listdir", "scandir"):  # root may list any folder, so the mode proves nothing
        monkeypatch.setattr(os, name, refusing(getattr(os, name)))
    assert refusal(folder) == (
        f"mine: its folder mine has {folder}/data/deep, which cannot be read (Permission denied);"
        " make it readable, or fix its dir."
    )


def test_a_damaged_archive_is_not_unpacked(folder: Path, tmp_path: Path) -> None:
    data = pack(MINE, folder)
    with pytest.raises(ArchiveError, match="damaged on its way"):
        unpack(data + b"x", hashlib.sha256(data).hexdigest(), tmp_path / "there")
    assert not (tmp_path / "there").exists()


@pytest.mark.parametrize("name", ["/tmp/evil", "../evil", "sub/../../evil"])
def test_an_archive_never_writes_or_leads_elsewhere(tmp_path: Path, name: str) -> None:
    out = io.BytesIO()
    link = zipfile.ZipInfo("out")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(out, "w") as made:
        made.writestr(link, "..")
        made.writestr(name, "x")
    there = unpacked(out.getvalue(), tmp_path)
    assert not (there / "out").is_symlink()
    assert all(path.is_relative_to(there) for path in tmp_path.rglob("evil"))
    assert not Path("/tmp/evil").exists()


def test_an_archive_has_no_cup_runs_or_repositories(folder: Path, tmp_path: Path) -> None:
    cup = folder / "cup.toml"
    cup.write_text('seed = "secret"')
    for place in (folder / "runs" / "spring", folder / ".git", folder / "__pycache__"):
        place.mkdir(parents=True)
        (place / "run.sqlite").write_text("hands")
    one, two = (Bot(name, command="python bot.py", dir=".") for name in ("one", "two"))
    bots = (one, two, Bot("far", url="http://127.0.0.1:1"))
    packed, archives = pack_all(Cup("Cup", "doudizhu", 3, bots), folder, [cup])
    (digest, data), *_ = archives.items()
    assert [bot.dir for bot in packed.bots] == [digest, digest, None]
    there = unpacked(data, tmp_path)
    assert (there / "bot.py").exists()
    names = {path.name for path in there.rglob("*")}
    assert names.isdisjoint({"cup.toml", "runs", ".git", "__pycache__", "run.sqlite"})
