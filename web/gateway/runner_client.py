"""The runner's client of the gateway, which asks for the connected bots and excludes bots."""

from collections.abc import Mapping
from time import monotonic, sleep
from typing import Final
from urllib.parse import quote

import msgspec
import requests
from requests.adapters import HTTPAdapter
from urllib3 import Retry

from tournament.errors import StichError
from web.gateway.calls import refusal

_LOOK_S: Final = 0.2
_OVER_S: Final = 8.0  # so that programs which are just reconnecting also leave
_UNTIL_RESTARTED: Final = Retry(
    total=None, connect=30, read=3, allowed_methods=None, backoff_factor=0.1, backoff_max=1.0
)


class GatewayStopped(StichError):
    """The gateway no longer answers, or cannot read the tokens. The message is a sentence."""


class GatewayClient:
    """The runner's client of the gateway at the URL `base`, which ends with the secret. `session`
    is changed: it then uses no proxy, and repeats requests while the gateway is being restarted.
    `invite` is the command that creates tokens, without the name of a bot."""

    def __init__(self, base: str, session: requests.Session, invite: str) -> None:
        self._excluded: Mapping[str, str] = {}
        self._base = base
        self.invite = invite
        self._session = session
        session.trust_env = False  # no proxy leads to this machine
        session.mount("http://", HTTPAdapter(max_retries=_UNTIL_RESTARTED))

    def url_of(self, bot: str) -> str:
        """Return the URL at which the runner asks a connecting bot."""
        return f"{self._base}/bots/{quote(bot, safe='')}"

    def tables(self) -> dict[str, int]:
        """Return the number of tables at which each connected bot can play, keyed by bot.

        Raises:
            GatewayStopped: if the gateway no longer answers, or cannot read the tokens.
        """
        bots = msgspec.json.decode(self._call("get", "bots"), type=dict[str, int])
        return {name: tables for name, tables in bots.items() if tables}

    def exclude(self, bots: Mapping[str, str]) -> None:
        """Exclude these bots, end their sessions, and let in all other bots. `bots` maps each
        excluded bot to the sentence that its program shows.

        Raises:
            GatewayStopped: if the gateway no longer answers.
        """
        if bots != self._excluded:
            self._call("post", "excluded", bots)
            self._excluded = dict(bots)

    def fail(self, bots: Mapping[str, str]) -> None:
        """End the sessions of bots that must be fixed, each with the sentence that its program
        shows. Their programs end with an error, but may be started again.

        Raises:
            GatewayStopped: if the gateway no longer answers.
        """
        self._call("post", "failed", bots)

    def end(self) -> None:
        """Tell all programs that the cup is over, and wait up to 8 seconds for them to leave.

        Raises:
            GatewayStopped: if the gateway no longer answers, or cannot read the tokens.
        """
        self._call("post", "over")
        until = monotonic() + _OVER_S
        while monotonic() < until and self.tables():
            sleep(_LOOK_S)

    def _call(self, method: str, path: str, data: Mapping[str, str] | None = None) -> bytes:
        try:
            response = self._session.request(method, f"{self._base}/{path}", json=data, timeout=10)
        except requests.RequestException:
            why = "The gateway of bots that connect has stopped; run the command again."
            raise GatewayStopped(why) from None
        if why := refusal(response.content):
            raise GatewayStopped(why)
        return response.content
