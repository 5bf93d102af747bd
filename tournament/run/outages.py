"""Outages of bots by URL: which bots a run waits for, and how long."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterable
from math import inf
from time import monotonic

from tournament.bot.url_bot import StartError
from tournament.config import Bot, Cup
from tournament.records import VoidRecord
from tournament.run.preflight import about_by_url

_PROBE_S = 1.0


class Probe:
    """Checks every second, in a thread, whether a bot by URL answers again."""

    def __init__(self, bot: Bot) -> None:
        self._bot = bot
        self._ended = threading.Event()
        self.answers = False
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while not self.answers and not self._ended.wait(_PROBE_S):
            try:
                about_by_url(self._bot, self._bot.url or "")
            except StartError:
                continue
            self.answers = True

    def stop(self) -> None:
        """Stop checking."""
        self._ended.set()


class Outages:
    """The void matches of each bot, and the bots that are away.

    The run waits for a bot until it answers or `outage_s` has passed. After that, or after `voids`
    void matches, its faults count, so hanging up on a bad deal gains nothing.
    """

    def __init__(self, cup: Cup, voids: Iterable[VoidRecord]) -> None:
        self._cup = cup
        self._voids = Counter(void.bot for void in voids if void.decision is None)
        self._by_url = frozenset(bot.name for bot in cup.bots if bot.url is not None)
        self._away: dict[str, tuple[float, Probe]] = {}
        self._expired: set[str] = set()

    @property
    def away(self) -> tuple[str, ...]:
        """The bots that the run waits for."""
        return tuple(self._away)

    @property
    def expired(self) -> frozenset[str]:
        """The bots that were away too long."""
        return frozenset(self._expired)

    @property
    def wait_for(self) -> frozenset[str]:
        """The bots whose matches are void if they cannot be reached."""
        if not self._cup.outage_s:
            return frozenset()
        return frozenset(
            bot for bot in self._by_url - self._expired if self._voids[bot] < self._cup.voids
        )

    def add(self, void: VoidRecord) -> None:
        """Count a match that is void because its bot could not be reached, and wait for the bot."""
        self._voids[void.bot] += 1
        self.wait(void.bot)

    def wait(self, bot: str) -> None:
        """Wait for a bot that cannot be reached."""
        if bot not in self._away:
            self._away[bot] = (monotonic(), Probe(self._cup.bot(bot)))

    def update(self, most_s: float = inf) -> None:
        """Stop waiting for bots that are back, or have been away too long: for `outage_s`, or for
        `most_s`."""
        for bot, (since, probe) in list(self._away.items()):
            if not probe.answers and monotonic() - since < min(self._cup.outage_s, most_s):
                continue
            if not probe.answers:
                self._expired.add(bot)
            probe.stop()
            del self._away[bot]

    def close(self) -> None:
        """Stop all checks."""
        for _, probe in self._away.values():
            probe.stop()
        self._away.clear()
