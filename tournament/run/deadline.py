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
        self._stop = context.RawValue("b", 0)

    @property
    def stop_soon(self) -> bool:
        """Whether the runner wants the worker back after its match."""
        return bool(self._stop.value)

    @stop_soon.setter
    def stop_soon(self, wanted: bool) -> None:
        self._stop.value = wanted

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
