"""The runner's side of the gateway: which bots are connected, and which of them may be."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from time import monotonic, sleep
from typing import Final
from urllib.parse import quote

import msgspec
import requests
from requests.adapters import HTTPAdapter
from urllib3 import Retry

from tournament.config.cup import Cup
from tournament.errors import StichError

_LOOK_S: Final = 0.2
_OVER_S: Final = 8.0  # until programs that wait, or are about to reconnect, are notified
_UNTIL_RESTARTED: Final = Retry(
    total=None, connect=30, read=3, allowed_methods=None, backoff_factor=0.1, backoff_max=1.0
)

Waiting = Callable[[Sequence[str], int, str], None]
"""Receives the missing bots, the number of all connecting bots, and the command for a token."""


class GatewayStopped(StichError):
    """The gateway no longer answers. The message is a sentence."""


class GatewayClient:
    """The runner's client of the gateway at the URL `base`.

    `invite` is the command that creates tokens. The client waits for a gateway that is being
    restarted. Every call raises GatewayStopped if the gateway no longer answers.
    """

    def __init__(self, base: str, session: requests.Session, invite: str) -> None:
        self._excluded: Mapping[str, str] = {}
        self._base = base
        self._invite = invite
        self._session = session
        session.trust_env = False  # no proxy leads to this machine
        session.mount("http://", HTTPAdapter(max_retries=_UNTIL_RESTARTED))

    def wait_for_bots(
        self, cup: Cup, absent: Callable[[], Mapping[str, str]], waiting: Waiting
    ) -> Cup:
        """Wait until all connecting bots are present except `absent`, and notify the programs of
        absent bots. Return the cup with the bots' URLs and numbers of tables."""
        names = [bot.name for bot in cup.bots if bot.connect]
        known: list[str] = []
        while True:
            gone, tables = absent(), self.tables()
            self.exclude(gone)
            missing = [name for name in names if name not in {*tables, *gone}]
            if not missing:
                break
            if missing != known:
                known = missing
                waiting(missing, len(names), f"{self._invite} NAME")
            sleep(_LOOK_S)
        bots = {bot.name: bot for bot in cup.bots}
        for name in names:
            most = tables.get(name, 1)
            bots[name] = replace(bots[name], url=self.url_of(name), max_matches=most)
        return replace(cup, bots=tuple(bots.values()))

    def url_of(self, bot: str) -> str:
        """The URL at which the runner asks a connected bot."""
        return f"{self._base}/bots/{quote(bot, safe='')}"

    def tables(self) -> dict[str, int]:
        """The number of tables of each connected bot, by name."""
        found = msgspec.json.decode(self._call("get", "bots"), type=dict[str, int])
        return {name: tables for name, tables in found.items() if tables}

    def exclude(self, bots: Mapping[str, str]) -> None:
        """Exclude exactly these bots. Send their programs the sentences."""
        if bots != self._excluded:
            self._call("post", "excluded", bots)
            self._excluded = dict(bots)

    def fail(self, bots: Mapping[str, str]) -> None:
        """End the sessions of these bots, which need a fix before they connect again. Send their
        programs the sentences."""
        self._call("post", "failed", bots)

    def end(self) -> None:
        """Notify all programs that the cup is over, and wait a moment for them to leave."""
        self._call("post", "over")
        until = monotonic() + _OVER_S
        while monotonic() < until and self.tables():
            sleep(_LOOK_S)

    def _call(self, method: str, path: str, data: Mapping[str, str] | None = None) -> bytes:
        try:
            response = self._session.request(method, f"{self._base}/{path}", json=data, timeout=10)
        except requests.RequestException:
            raise GatewayStopped(
                "The gateway of bots that connect has stopped; run the command again."
            ) from None
        return response.content
