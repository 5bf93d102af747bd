"""The installed program as a wheel, which an arena gives to the authors of bots."""

import hashlib
import zipfile
from base64 import urlsafe_b64encode
from functools import cache
from importlib.metadata import Distribution
from io import BytesIO
from typing import Final

_COMPILED: Final = (".so", ".pyd", ".pyc")
_KEPT: Final = ("METADATA", "entry_points.txt", "top_level.txt")
_WHEEL: Final = b"""\
Wheel-Version: 1.0
Generator: stich
Root-Is-Purelib: true
Tag: py3-none-any
"""
_NO_DATE: Final = (1980, 1, 1, 0, 0, 0)  # the same program gives the same file


def wheel_name(program: Distribution) -> str | None:
    """The wheel's file name, or None for an editable installation, whose files are elsewhere."""
    here = {str(file) for file in program.files or ()}
    return f"stich-{program.version}-py3-none-any.whl" if "stich/__init__.py" in here else None


@cache
def wheel_of(program: Distribution) -> bytes:
    """The wheel, made of the installed files, as bytes. The wheel is pure Python for all systems,
    so compiled files and pip's records of this installation are left out."""
    about = f"stich-{program.version}.dist-info"
    contents = {f"{about}/WHEEL": _WHEEL}
    for file in program.files or ():
        name, folder = str(file), file.parts[0]
        own = folder == about and (file.name in _KEPT or "licenses" in file.parts)
        if own or (folder not in ("..", about) and not name.endswith(_COMPILED)):
            contents[name] = file.read_binary()
    lines = [f"{name},sha256={_digest(data)},{len(data)}" for name, data in contents.items()]
    record = f"{about}/RECORD"
    contents[record] = "\n".join([*lines, f"{record},,", ""]).encode()
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            archive.writestr(zipfile.ZipInfo(name, _NO_DATE), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def _digest(data: bytes) -> str:
    """The SHA-256 of a file in the form of RECORD."""
    return urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
