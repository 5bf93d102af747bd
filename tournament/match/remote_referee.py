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
        status = self._request("GET", "/healthz", seconds).status_code
        if status != 200:
            raise self._unreachable(f"GET /healthz brought status {status}")

    def _unreachable(self, why: str) -> RefereeError:
        return RefereeError(
            f"The rules service at {self.url} does not answer ({why}): start it, or fix"
            " run.referee."
        )

    def start(self, game: str, players: int, seed: str, options: Mapping[str, Any]) -> Board:
        """The first position."""
        body = {"game": game, "players": players, "seed": seed, "options": dict(options)}
        return _HttpBoard(self, self.call("start", body)["state"])

    def call(self, operation: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """One operation of the service; RefereeError if it does not answer as it should."""
        response = self._request("POST", f"/v1/{operation}", self._timeout_s, body)
        try:
            answer = response.json()
        except requests.JSONDecodeError:
            answer = None
        if response.status_code != 200 or not isinstance(answer, dict):
            detail = answer.get("detail") if isinstance(answer, dict) else None
            raise RefereeError(
                f"The rules service at {self.url} refused {operation}"
                f" ({response.status_code}): {detail or 'no reason given'}"
            )
        return answer

    def _request(
        self, method: str, path: str, seconds: float, body: Mapping[str, Any] | None = None
    ) -> requests.Response:
        """An answer of the service; RefereeError if there is none."""
        try:
            return self._session.request(
                method, f"{self.url}{path}", json=body, timeout=seconds, allow_redirects=False
            )
        except requests.Timeout:
            raise self._unreachable(f"nothing within {seconds:g} s") from None
        except requests.RequestException as error:
            raise self._unreachable(_reason(error)) from None


def _reason(error: BaseException | None) -> str:
    """What the system reported, below the errors of the libraries."""
    while error is not None:
        if isinstance(error, OSError) and error.strerror:
            return error.strerror
        error = error.__cause__ or error.__context__
    return "no connection"
