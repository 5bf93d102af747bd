"""Which matches of a run are finished."""

from __future__ import annotations

from collections.abc import Iterable

from tournament.records import MatchSummary


class FinishedMatches:
    """The finished matches, by block: a byte for each whole one, so that a million matches take no
    more than some hundred kilobytes."""

    def __init__(self, matches: Iterable[MatchSummary] = ()) -> None:
        self.count = 0
        self._whole = bytearray()
        self._parts: dict[int, set[int]] = {}
        for match in matches:
            self.add(match.block, match.number, match.seatings)

    def add(self, block: int, number: int, seatings: int) -> None:
        """This match of a block with so many seatings is finished."""
        part = self._parts.setdefault(block, set())
        part.add(number)
        self.count += 1
        if len(part) == seatings:
            del self._parts[block]
            self._whole.extend(bytes(max(0, block + 1 - len(self._whole))))
            self._whole[block] = True

    def missing(self, block: int, seatings: int) -> tuple[int, ...]:
        """The matches of a block that are not finished."""
        if block < len(self._whole) and self._whole[block]:
            return ()
        part = self._parts.get(block, ())
        return tuple(number for number in range(seatings) if number not in part)
