"""The public interface for self-play and learning, described in docs/learning.md."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import games
from games import View
from learning.encoding import DESCRIPTION, ROLES, Encoded, Encoding, action_of
from learning.environment import Environment

if TYPE_CHECKING:
    from learning.aec import CardGame


def read_view(view: Mapping[str, Any]) -> View:
    """Return the `View` for a view in wire form, as bots receive it. Views in exported decisions
    are JSON text, which must be decoded first.

    Raises:
        UnknownGame: if no game has the name in the view.
        InvalidState: if the view breaks a rule of its game.
        KeyError, TypeError: if a field is missing, or a value has the wrong type.
    """
    return games.get(view["game"]).view(view)


def aec_env(
    game: str, players: int | None = None, options: Mapping[str, object] | None = None
) -> "CardGame":
    """Return a PettingZoo `AECEnv` of a game. The arguments are those of `Environment`.

    Raises:
        ModuleNotFoundError: if PettingZoo is not installed.
        UnknownGame: if no game has this name.
        OptionError: if the game does not allow this number of players, or an option is not valid.
    """
    try:
        from learning.aec import CardGame
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"There is no module {error.name}: `pip install 'stich[learn]'` brings PettingZoo."
            " `Environment` has the same methods without it."
        ) from None
    return CardGame(game, players, options)


__all__ = [
    "DESCRIPTION",
    "ROLES",
    "Encoded",
    "Encoding",
    "Environment",
    "action_of",
    "aec_env",
    "read_view",
]
