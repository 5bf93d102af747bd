"""The rules from a running rules service, which an organiser trusts: called by `requests`.

Bots are called by `tournament.bot.client` only. `requests` takes long to import, so this
module is imported only by a cup that names a rules service.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import requests

import games
from games import IllegalMove, Reason, State
from tournament.match.referee import Referee, RefereeError
from tournament.text import printable


class HttpReferee(Referee):
    """A running rules service, to which the position is sent with every call. Its time is the
    runner's own, never a bot's. All methods raise RefereeError if it does not answer as it
    should."""

    def __init__(self, url: str, timeout_s: float = 30.0) -> None:
        self.url = url.rstrip("/")
        self._timeout_s = timeout_s
        self._session = requests.Session()
        self._session.trust_env = False

    def ready(self, seconds: float = 5.0) -> None:
        """Check that it answers GET /healthz in this time."""
        self._request("GET", "/healthz", seconds)

    def start(self, game: str, players: int, seed: str, options: Mapping[str, Any]) -> State:
        """The first position."""
        body = {"game": game, "players": players, "seed": seed, "options": dict(options)}
        return self._state(self._request("POST", "/v1/start", self._timeout_s, body))

    def moves(self, state: State) -> Sequence[str]:
        """The legal moves of the seat to move, in canonical order."""
        moves: list[str] = self._call("moves", state)["moves"]
        return moves

    def view(self, state: State) -> dict[str, Any]:
        """What the seat to move may know, in its wire form."""
        view: dict[str, Any] = self._call("view", state, seat=state.turn)["view"]
        return view

    def play(self, state: State, move: str) -> tuple[str, State]:
        """The move in canonical form and the position after it; games.IllegalMove."""
        answer = self._call("validate", state, move=move)
        if not answer["legal"]:
            raise IllegalMove(Reason(answer["reason"]), answer["detail"])
        after = self._call("advance", state, moves=[answer["move"]])
        return answer["move"], self._state(after)

    def _state(self, answer: Mapping[str, Any]) -> State:
        try:
            state = answer["state"]
            return games.get(state["game"]).state(state)
        except (LookupError, TypeError, ValueError) as error:
            raise RefereeError(
                f"The rules service at {self.url} answers with a position that cannot be read"
                f" ({printable(repr(error)[:200])}): run this version of it, or fix run.referee."
            ) from None

    def _call(self, operation: str, state: State, **more: object) -> dict[str, Any]:
        body = {"state": state.to_dict(), **more}
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
