"""The referee of a match, which applies the rules in this process."""

from collections.abc import Sequence

import games
from games import State
from games.game import JsonDict, Options
from tournament.errors import StichError


class RefereeError(StichError):
    """Raised if the rules service is unreachable or answers wrongly. The message is a sentence."""


class Referee:
    """Starts games and judges moves with the rules in this process. `moves`, `view` and `play` need
    a position in which the game is not over."""

    def start(self, game: str, players: int, seed: str, options: Options) -> State:
        """Return the first position of a game. The cards depend on `seed`.

        Raises:
            games.UnknownGame: if there is no such game.
            games.OptionError: if `players`, `seed` or an option is not valid.
        """
        return games.get(game).start(players, seed, options)

    def moves(self, state: State) -> Sequence[str]:
        """Return the legal moves of the seat whose turn it is, as strings in canonical order."""
        return state.moves().texts()

    def view(self, state: State) -> JsonDict:
        """Return the view of the seat whose turn it is, in wire form."""
        return state.view(state.turn).to_dict()

    def play(self, state: State, move: str) -> tuple[str, State]:
        """Play a move for the seat whose turn it is. Return the canonical form of the move, and the
        position after the move. `state` is not changed.

        Raises:
            games.IllegalMove: if the move is not legal.
        """
        legal = state.check(move)
        return legal.text, state.advance(legal)
