"""How far a run is."""

from __future__ import annotations

from dataclasses import dataclass

from arena.live_run import Snapshot


@dataclass(frozen=True, slots=True)
class Progress:
    """Matches done and planned, and whether the run has ended."""

    done: int
    total: int
    finished: bool

    @property
    def share(self) -> float:
        """The share done, from 0 to 1."""
        return self.done / self.total if self.total else 0.0


def progress(now: Snapshot) -> Progress:
    """How far the run is; a swiss or knockout plans its later rounds as it goes."""
    done = len(now.matches)
    return Progress(done, max(done, int(now.facts.get("total") or 0)), now.table.finished)
