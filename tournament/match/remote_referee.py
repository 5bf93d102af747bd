"""The rules from a running rules service, which an organiser trusts: called by `requests`.

Bots are called by `tournament.bot.client` only. `requests` takes long to import, so this
module is imported only by a cup that names a rules service.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import requests

from games import IllegalMove, Reason
from tournament.match.referee import Board, RefereeError
from tournament.text import printable


@dataclass(slots=True)
class _HttpBoard:
    """A position; the service is stateless, so it is sent with every call."""

    _referee: HttpReferee
    _state: dict[str, Any]

    @property
    def turn(self) -> int | None:
        turn: int | None = self._state["turn"]
        return turn

    @property
    def scores(self) -> tuple[int, ...]:
        return tuple(self._state["scores"])

    @property
    def results(self) -> tuple[dict[str, Any], ...]:
        return tuple(self._state["results"])

    def moves(self) -> Sequence[str]:
        moves: list[str] = self._call("moves")["moves"]
        return moves

    def view(self) -> dict[str, Any]:
        view: dict[str, Any] = self._call("view", seat=self._state["turn"])["view"]
        return view

    def play(self, move: str) -> tuple[str, Board]:
        answer = self._call("validate", move=move)
        if not answer["legal"]:
            raise IllegalMove(Reason(answer["reason"]), answer["detail"])
        after = self._call("advance", moves=[answer["move"]])["state"]
        return answer["move"], _HttpBoard(self._referee, after)

    def _call(self, operation: str, **more: object) -> dict[str, Any]:
        return self._referee.call(operation, {"state": self._state, **more})


class HttpReferee:
    """A running rules service. Its time is the runner's own, never a bot's."""

    def __init__(self, url: str, timeout_s: float = 30.0) -> None:
        self.url = url.rstrip("/")
        self._timeout_s = timeout_s
        self._session = requests.Session()
        self._session.trust_env = False

    def ready(self, seconds: float = 5.0) -> None:
        """Check that it answers GET /healthz; RefereeError if it does not in this time."""
        self._request("GET", "/healthz", seconds)

    def start(self, game: str, players: int, seed: str, options: Mapping[str, Any]) -> Board:
        """The first position."""
        body = {"game": game, "players": players, "seed": seed, "options": dict(options)}
        return _HttpBoard(self, self.call("start", body)["state"])

    def call(self, operation: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """One operation of the service; RefereeError if it does not answer as it should."""
        return self._request("POST", f"/v1/{operation}", self._timeout_s, body)

    def _request(
        self, method: str, path: str, seconds: float, body: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        try:
            response = self._session.request(
                method, f"{self.url}{path}", json=body, timeout=seconds, allow_redirects=False
            )
            if response.status_code == 200 and isinstance(answer := response.json(), dict):
                return answer
            why = f"status {response.status_code}, {printable(response.text[:200])}"
        except requests.Timeout:
            why = f"nothing within {seconds:g} s"
        except requests.ConnectionError:
            why = "no connection"
        except requests.RequestException as error:
            why = printable(str(error)[:200])
        raise RefereeError(
            f"The rules service at {self.url} does not answer {method} {path} ({why}): start it,"
            " or fix run.referee."
        )
