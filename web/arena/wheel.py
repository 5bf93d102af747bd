"""The installed program as a wheel, which an arena offers to the authors of bots."""

import hashlib
import zipfile
from base64 import urlsafe_b64encode
from functools import cache
from importlib.metadata import Distribution
from io import BytesIO
from typing import Final

_COMPILED: Final = (".so", ".pyd", ".pyc")
_METADATA: Final = ("METADATA", "entry_points.txt", "top_level.txt")
_WHEEL: Final = b"""\
Wheel-Version: 1.0
Generator: stich
Root-Is-Purelib: true
Tag: py3-none-any
"""
_NO_DATE: Final = (1980, 1, 1, 0, 0, 0)  # the same program gives the same file


def wheel_name(program: Distribution) -> str | None:
    """Return the file name of the program's wheel, or None for an editable installation."""
    names = {str(file) for file in program.files or ()}
    return f"stich-{program.version}-py3-none-any.whl" if "stich/__init__.py" in names else None


@cache
def wheel_of(program: Distribution) -> bytes:
    """Return a wheel of the installed files. The first call makes the wheel and caches it. It is
    pure Python, without compiled files, scripts or pip's records.

    Raises:
        OSError: if an installed file cannot be read.
    """
    about = f"stich-{program.version}.dist-info"
    contents = {f"{about}/WHEEL": _WHEEL}
    for file in program.files or ():
        name, folder = str(file), file.parts[0]
        if folder == about:
            included = file.name in _METADATA or "licenses" in file.parts
        else:
            included = folder != ".." and not name.endswith(_COMPILED)
        if included:
            contents[name] = file.read_binary()
    lines = [f"{name},sha256={_digest(data)},{len(data)}" for name, data in contents.items()]
    record = f"{about}/RECORD"
    contents[record] = "\n".join([*lines, f"{record},,", ""]).encode()
    wheel = BytesIO()
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, data in contents.items():
            archive.writestr(zipfile.ZipInfo(name, _NO_DATE), data, zipfile.ZIP_DEFLATED)
    return wheel.getvalue()


def _digest(data: bytes) -> str:
    return urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
