"""The referee of a match, which applies the rules in this process."""

from collections.abc import Sequence

import games
from games import State
from games.game import JsonDict, Options
from tournament.errors import StichError


class RefereeError(StichError):
    """The rules service cannot be reached or gives an invalid answer. The text is a sentence."""


class Referee:
    """Starts games and judges moves with the rules in this process."""

    def start(self, game: str, players: int, seed: str, options: Options) -> State:
        """Return the first position of a game. `seed` determines the cards.

        Raises:
            games.UnknownGame: if there is no such game.
            games.OptionError: if `players`, `seed` or an option is not valid.
        """
        return games.get(game).start(players, seed, options)

    def moves(self, state: State) -> Sequence[str]:
        """Return the legal moves of the seat to move as strings, in canonical order."""
        return state.moves().texts()

    def view(self, state: State) -> JsonDict:
        """Return the view of the seat to move, in wire form."""
        return state.view(state.turn).to_dict()

    def play(self, state: State, move: str) -> tuple[str, State]:
        """Return the canonical form of a move by the seat to move, and the position after the move.

        Raises:
            games.IllegalMove: if the move is not legal.
        """
        legal = state.check(move)
        return legal.text, state.advance(legal)
