"""The referee that asks a running rules service, which the organiser trusts. `requests` takes long
to import, so this module is only imported for a cup that names a service."""

from collections.abc import Mapping, Sequence
from typing import Annotated, TypeVar

import msgspec
import requests

import games
from games import IllegalMove, Reason, State
from games.game import JsonDict, Options
from tournament.match.match import Referee, RefereeError
from tournament.records import prepare
from tournament.text import printable

_Answer = TypeVar("_Answer")
_TIMEOUT_S = 30.0


class _ListedMoves(msgspec.Struct):
    moves: Annotated[list[str], msgspec.Meta(min_length=1)]


class _View(msgspec.Struct):
    view: dict[str, object]


class _Position(msgspec.Struct):
    state: dict[str, object]


class _Validated(msgspec.Struct):
    move: str = ""
    reason: Reason | None = None
    detail: str = ""


prepare(_ListedMoves, _View, _Position, _Validated)


class HttpReferee(Referee):
    """A referee that asks a running rules service, and sends the position with every request.

    Requests cost the runner's time, never a bot's. Every method raises RefereeError if the service
    cannot be reached, does not answer as the contract says, or sends nothing for 30 seconds.
    """

    def __init__(self, url: str) -> None:
        self.url = url.rstrip("/")
        self._session = requests.Session()
        self._session.trust_env = False

    def ready(self, seconds: float = 5.0) -> None:
        """Check that the service answers GET /healthz with 200 and a JSON object.

        Raises:
            RefereeError: if it does not, or if nothing arrives from it for `seconds`.
        """
        self._request("GET", "/healthz", dict[str, object], seconds=seconds)

    def start(self, game: str, players: int, seed: str, options: Options) -> State:
        """Same as in `Referee`, but every error is a RefereeError (see the class)."""
        body = {"game": game, "players": players, "seed": seed, "options": dict(options)}
        return self._state(self._request("POST", "/v1/start", _Position, body))

    def moves(self, state: State) -> Sequence[str]:
        """Same as in `Referee`, but may raise RefereeError (see the class)."""
        return self._call("moves", state, _ListedMoves).moves

    def view(self, state: State) -> JsonDict:
        """Same as in `Referee`, but may raise RefereeError (see the class)."""
        return self._call("view", state, _View, seat=state.turn).view

    def play(self, state: State, move: str) -> tuple[str, State]:
        """Same as in `Referee`, but may raise RefereeError (see the class) as well as
        IllegalMove."""
        verdict = self._call("validate", state, _Validated, move=move)
        if verdict.reason is not None:
            raise IllegalMove(verdict.reason, verdict.detail)
        after = self._call("advance", state, _Position, moves=[verdict.move])
        return verdict.move, self._state(after)

    def _state(self, answer: _Position) -> State:
        try:
            return games.get(str(answer.state["game"])).state(answer.state)
        except (LookupError, TypeError, ValueError) as error:
            raise RefereeError(
                f"The rules service at {self.url} answers with a position that cannot be read"
                f" ({printable(repr(error)[:200])}): run this version of it, or fix run.referee."
            ) from None

    def _call(
        self, operation: str, state: State, answer: type[_Answer], **fields: object
    ) -> _Answer:
        body = {"state": state.to_dict(), **fields}
        return self._request("POST", f"/v1/{operation}", answer, body)

    def _request(
        self,
        method: str,
        path: str,
        answer: type[_Answer],
        body: Mapping[str, object] | None = None,
        seconds: float = _TIMEOUT_S,
    ) -> _Answer:
        try:
            response = self._session.request(
                method,
                f"{self.url}{path}",
                data=None if body is None else msgspec.json.encode(body),
                headers={"Content-Type": "application/json"},
                timeout=seconds,
                allow_redirects=False,
            )
            if response.status_code == 200:
                return msgspec.json.decode(response.content, type=answer)
            why = f"status {response.status_code}, {printable(response.text[:200])}"
        except (msgspec.DecodeError, RecursionError):
            why = f"something else, {printable(response.text[:200])}"
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
