"""Receipts: digests of a run that somebody saw while the run was played.

An author's program keeps receipts in a file of the user's state folder, one per line. A published
run must pass through all of them.
"""

import re
from hashlib import sha256
from pathlib import Path
from typing import Final

from tournament.store.chain import Digest
from tournament.store.signing import read_state, state_path, writing

MOST: Final = 1000
"""The most receipts in a file. Every second one is deleted from a full file."""
_FOLDER: Final = "receipts"
_RECEIPT: Final = re.compile(r"([1-9][0-9]{0,17}):([0-9a-fA-F]{64})")
_SIZE: Final = 1 << 20  # bytes: more than the longest file that is kept


def parse_receipt(text: str) -> Digest:
    """Parse a receipt such as "120:9f3c...": the number of entries and the digest.

    Raises:
        ValueError: if the text is not a receipt.
    """
    match = _RECEIPT.fullmatch(text.strip())
    if match is None:
        raise ValueError(text)
    return Digest(int(match[1]), match[2].lower())


def read_receipts(path: Path) -> list[Digest]:
    """Return the receipts in a file, the first word of each line that is not a comment.

    Returns none if the file cannot be read or has a line that is not a receipt.
    """
    try:
        with path.open("rb") as file:
            lines = file.read(_SIZE).decode("utf-8").splitlines()
        return [parse_receipt(one.split()[0]) for one in lines if one and not one.startswith("#")]
    except (OSError, ValueError, IndexError):
        return []


class ReceiptFile:
    """The receipts of one bot in one arena. `what` names both in the first line of the file."""

    def __init__(self, arena: str, token: str, what: str) -> None:
        name = sha256(f"{arena} {token}".encode()).hexdigest()[:16]
        self.path = state_path(_FOLDER, name)
        self._what = what

    def add(self, receipt: Digest, at: str) -> bool:
        """Keep a receipt that was seen at the time `at`, unless it equals the last one.

        Returns whether the receipt is new.

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
