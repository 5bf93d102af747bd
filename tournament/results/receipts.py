"""Receipts: digests of a run that an author saw, which the published run's chain must contain."""

import re
from hashlib import sha256
from pathlib import Path
from typing import Final

from tournament.store.chain import Digest
from tournament.store.signing import read_state, state_path, writing

MOST: Final = 1000  # in a file; when it is full, every second receipt is deleted
_FOLDER: Final = "receipts"
_RECEIPT: Final = re.compile(r"([1-9][0-9]{0,17}):([0-9a-fA-F]{64})")
_SIZE: Final = 1 << 20  # the most bytes that are read, more than a file of MOST receipts has


def parse_receipt(text: str) -> Digest:
    """Return the receipt in a text such as "120:9f3c...", which has the number of entries in the
    chain, a colon, and the digest in hexadecimal. White space at both ends is ignored.

    Raises:
        ValueError: if the text is not a receipt.
    """
    match = _RECEIPT.fullmatch(text.strip())
    if match is None:
        raise ValueError(text)
    return Digest(int(match[1]), match[2].lower())


def read_receipts(path: Path) -> list[Digest]:
    """Return the receipts in a file. Each receipt is the first word of a line.

    Empty lines, and comments, which begin with "#", are skipped. Only the first MiB is read. Return
    an empty list if the file cannot be read, or if any other line does not begin with a receipt.
    """
    try:
        with path.open("rb") as file:
            lines = file.read(_SIZE).decode("utf-8").splitlines()
        words = [line.split() for line in lines if not line.startswith("#")]
        return [parse_receipt(first) for first, *_ in filter(None, words)]
    except (OSError, ValueError):
        return []


class ReceiptFile:
    """The file of one bot's receipts from one arena, one per line, in the user's state folder.

    `arena` is the arena's URL, and `token` is the bot's token. `what` is the title of the file,
    which names the arena and the bot.

    Raises:
        StoreError: if the user has no home folder.
    """

    def __init__(self, arena: str, token: str, what: str) -> None:
        name = sha256(f"{arena} {token}".encode()).hexdigest()[:16]
        self.path = state_path(_FOLDER, name)
        self._what = what

    def add(self, receipt: Digest, at: str) -> bool:
        """Append a receipt, unless the last receipt in the file is the same. Return whether the
        receipt was appended.

        `at` is the time at which the receipt was seen (UTC, ISO 8601). Create the file if there is
        none. If the file already has MOST receipts, first delete every second receipt.

        Raises:
            StoreError: if the file cannot be read or written.
        """
        text = (read_state(self.path) or b"").decode("utf-8", "replace")
        lines = [line for line in text.splitlines() if not line.startswith("#")]
        line = f"{receipt.entries}:{receipt.digest}"
        if lines and lines[-1].split()[:1] == [line]:
            return False
        if len(lines) >= MOST:
            lines = lines[::2]
        with writing(self.path):
            new = self.path.with_suffix(".new")
            new.write_text("\n".join([f"# {self._what}", *lines, f"{line} {at}", ""]), "utf-8")
            new.replace(self.path)
        return True
