"""The watchdog: the runner knows by when each worker will act, and ends one that does not."""

from __future__ import annotations

import math
from multiprocessing.context import SpawnContext
from time import monotonic

_GRACE_S = 1.0


class Deadline:
    """By when a worker's present wait must end, in memory that worker and runner share."""

    def __init__(self, context: SpawnContext) -> None:
        self._at = context.RawValue("d", math.inf)

    def expect(self, seconds: float) -> None:
        """The worker will act again within this time."""
        self._at.value = monotonic() + seconds

    def clear(self) -> None:
        """The worker waits for the runner."""
        self._at.value = math.inf

    @property
    def left_s(self) -> float:
        """Seconds until the worker has been silent for a second too long; infinite while it
        waits for the runner."""
        at: float = self._at.value
        return at + _GRACE_S - monotonic()
