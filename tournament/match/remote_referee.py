"""The rules from a running rules service; its library takes long to load, so it stands apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import requests

from games import IllegalMove, Reason
from tournament.bot.http_client import (
    ConnectionLost,
    HttpConnection,
    ProtocolError,
    ResponseTooLarge,
)
from tournament.bot.player import dial_url
from tournament.match.referee import RefereeError


class HttpBoard:
    """A position that a rules service keeps nothing of: it travels with every call."""

    __slots__ = ("_referee", "_state")

    def __init__(self, referee: HttpReferee, state: dict[str, Any]) -> None:
        self._referee = referee
        self._state = state

    @property
    def turn(self) -> int | None:
        """The seat to move."""
        turn: int | None = self._state["turn"]
        return turn

    @property
    def scores(self) -> tuple[int, ...]:
        """The running totals by seat."""
        return tuple(self._state["scores"])

    @property
    def results(self) -> tuple[dict[str, Any], ...]:
        """The finished deals."""
        return tuple(self._state["results"])

    def moves(self) -> Sequence[str]:
        """The legal moves of the seat to move."""
        moves: list[str] = self._referee.call("moves", {"state": self._state})["moves"]
        return moves

    def view(self) -> dict[str, Any]:
        """What the seat to move may know."""
        body = {"state": self._state, "seat": self._state["turn"]}
        view: dict[str, Any] = self._referee.call("view", body)["view"]
        return view

    def state(self) -> dict[str, Any]:
        """All of it."""
        return self._state

    def play(self, move: str) -> tuple[str, HttpBoard]:
        """The canonical move and the position after it."""
        answer = self._referee.call("validate", {"state": self._state, "move": move})
        if not answer["legal"]:
            raise IllegalMove(Reason(answer["reason"]), answer["detail"])
        canonical: str = answer["move"]
        after = self._referee.call("advance", {"state": self._state, "moves": [canonical]})
        return canonical, HttpBoard(self._referee, after["state"])


class HttpReferee:
    """A running rules service. Its time is the runner's own, never a bot's."""

    def __init__(self, url: str, timeout_s: float = 30.0) -> None:
        self.url = url.rstrip("/")
        self._timeout_s = timeout_s
        self._session = requests.Session()
        self._session.trust_env = False

    def ready(self, seconds: float = 5.0) -> None:
        """That it answers GET /healthz within this time, whatever is there; RefereeError."""
        parts = urlsplit(self.url)
        try:
            wire = HttpConnection(dial_url(self.url, seconds), parts.netloc, parts.path)
            try:
                reply = wire.exchange("GET", "/healthz", b"", monotonic() + seconds)
            finally:
                wire.close()
        except TimeoutError:
            raise self._silent(f"nothing within {seconds:g} s") from None
        except OSError as error:
            raise self._silent(error.strerror or "its host is not known") from None
        except (ConnectionLost, ResponseTooLarge, ProtocolError) as error:
            raise self._silent(str(error).rstrip(".")) from None
        if reply.status != 200:
            raise self._silent(f"GET /healthz brought status {reply.status}")

    def _silent(self, why: str) -> RefereeError:
        return RefereeError(
            f"The rules service at {self.url} does not answer ({why}): start it, or mend"
            " run.referee."
        )

    def start(self, game: str, players: int, seed: str, options: Mapping[str, Any]) -> HttpBoard:
        """The first position."""
        body = {"game": game, "players": players, "seed": seed, "options": dict(options)}
        return HttpBoard(self, self.call("start", body)["state"])

    def call(self, operation: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """One operation of the service; RefereeError if it does not answer as it should."""
        url = f"{self.url}/v1/{operation}"
        try:
            response = self._session.post(
                url, json=body, timeout=self._timeout_s, allow_redirects=False
            )
            answer = response.json()
        except requests.Timeout:
            raise self._silent(f"nothing within {self._timeout_s:g} s") from None
        except requests.ConnectionError as error:
            raise self._silent(_reason(error)) from None
        except (requests.RequestException, ValueError) as error:
            raise RefereeError(f"The rules service at {self.url} failed: {error}") from error
        if response.status_code != 200 or not isinstance(answer, dict):
            detail = answer.get("detail") if isinstance(answer, dict) else None
            raise RefereeError(
                f"The rules service at {self.url} refused {operation}"
                f" ({response.status_code}): {detail or 'no reason given'}"
            )
        return answer


def _reason(error: BaseException | None) -> str:
    """What the system said, from under the libraries' own errors."""
    while error is not None:
        if isinstance(error, OSError) and error.strerror:
            return error.strerror
        error = error.__cause__ or error.__context__
    return "no connection"
