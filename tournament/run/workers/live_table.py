"""Matches in progress on this machine, as files in the user's state folder for the pages."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread, get_ident
from time import time
from typing import Final

import msgspec

from tournament.config.cup import Cup
from tournament.match.match import MatchObserver
from tournament.paths import state_folder
from tournament.records import Pairing, prepare

_EVERY_S: Final = 0.5
_STALE_S: Final = 5.0  # if a file was not written for this long, its match has ended
MOST_MOVES: Final = 3_000
"""A match that has more moves is no longer shown live."""


class LiveMatch(msgspec.Struct):
    """A match in progress, with its moves so far. It began at `since`, in seconds since 1970."""

    pairing: Pairing
    since: float
    moves: list[str]


prepare(LiveMatch)


class _Moves(MatchObserver):
    def __init__(self) -> None:
        self.moves: list[str] = []

    def moved(self, seat: int, move: str, forced: bool) -> None:
        self.moves.append(move)


@contextmanager
def shown_live(pairing: Pairing, folder: Path | None) -> Iterator[MatchObserver]:
    """Yield an observer for the match of `pairing`. If `folder` is not None, show the match in a
    file there.

    A thread updates the file every half second, until there are more than MOST_MOVES moves or a
    write fails. The file stays after the match.
    """
    if folder is None:
        yield MatchObserver()
        return
    seen, ended = _Moves(), Event()
    match = LiveMatch(pairing, time(), seen.moves)
    file = folder / f"{os.getpid()}-{get_ident()}.json"
    thread = Thread(target=_write_often, args=(match, file, ended), daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        ended.set()
        thread.join()


def _write_often(match: LiveMatch, file: Path, ended: Event) -> None:
    new = file.with_suffix(".new")
    with suppress(OSError):
        while not ended.wait(_EVERY_S) and len(match.moves) <= MOST_MOVES:
            new.write_bytes(msgspec.json.encode(match))
            new.replace(file)


def make_folder(cup: Cup, run: str) -> Path | None:
    """Create an empty folder for the matches in progress of the run whose id is `run`, in place of
    any earlier folder, and return its path.

    Return None if the folder cannot be created, or if all matches of a block have the same cards,
    because then no match may be shown before the whole block has ended.

    Raises:
        RuntimeError: as in `state_folder`.
    """
    folder = state_folder() / "live" / run
    shutil.rmtree(folder, ignore_errors=True)
    if cup.format.cards == "fresh":
        with suppress(OSError):
            folder.mkdir(0o700, parents=True)
            return folder
    return None


def live_matches(run: str) -> Iterator[LiveMatch]:
    """Yield the matches in progress of the run whose id is `run`, and some that have just ended.
    Leave out files that cannot be read. A match with more than MOST_MOVES moves is left out after a
    few seconds."""
    try:
        folder = state_folder() / "live" / run
    except RuntimeError:
        return
    for file in folder.glob("*.json"):
        with suppress(OSError, msgspec.DecodeError):
            if file.stat().st_mtime > time() - _STALE_S:
                yield msgspec.json.decode(file.read_bytes(), type=LiveMatch)
