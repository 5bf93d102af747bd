"""What a match needs of a game: the rules in this process, or those of a running rules service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import games
from games import State


class RefereeError(Exception):
    """The referee cannot be reached or gives an invalid answer; the text is a sentence."""


class Board(Protocol):
    """A position of a running match. `turn` is None when the game is over."""

    @property
    def turn(self) -> int | None:
        """The seat to move."""

    @property
    def scores(self) -> tuple[int, ...]:
        """The running totals by seat."""

    @property
    def results(self) -> tuple[dict[str, Any], ...]:
        """The finished deals."""

    def moves(self) -> Sequence[str]:
        """The legal moves of the seat to move, in canonical order."""

    def view(self) -> dict[str, Any]:
        """What the seat to move may know, in its wire form."""

    def play(self, move: str) -> tuple[str, Board]:
        """The move in canonical form and the position after it; games.IllegalMove."""


class Referee(Protocol):
    """Starts games."""

    def start(self, game: str, players: int, seed: str, options: Mapping[str, Any]) -> Board:
        """The first position."""


@dataclass(slots=True)
class _LocalBoard:
    """A position of `games/`."""

    _state: State

    @property
    def turn(self) -> int | None:
        return self._state.turn

    @property
    def scores(self) -> tuple[int, ...]:
        return tuple(self._state.scores)

    @property
    def results(self) -> tuple[dict[str, Any], ...]:
        return tuple(self._state.to_dict()["results"])

    def moves(self) -> Sequence[str]:
        return self._state.moves().texts()

    def view(self) -> dict[str, Any]:
        if self._state.turn is None:
            raise ValueError("The game is over; nobody is to move.")
        return self._state.view(self._state.turn).to_dict()

    def play(self, move: str) -> tuple[str, Board]:
        legal = self._state.check(move)
        return legal.text, _LocalBoard(self._state.advance(legal))


class LocalReferee:
    """The rules in this process."""

    def start(self, game: str, players: int, seed: str, options: Mapping[str, Any]) -> Board:
        """The first position."""
        return _LocalBoard(games.get(game).start(players, seed, options))
