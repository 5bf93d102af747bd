"""The rules of four card games: pure functions and immutable values, standard library only.

`GAMES` maps names to games, and `get` looks up a game by name. `games.game` defines the interface
of a game, and `games.position` that of states and views. Moves are in `games.move`, and errors in
`games.errors`.
"""

from collections.abc import Mapping
from types import MappingProxyType

from games import deck
from games.dasan import state as dasan
from games.description import describe
from games.doudizhu import state as doudizhu
from games.errors import IllegalMove, InvalidState, OptionError, Reason, UnknownGame
from games.game import Fact, Game, LegalMoves, Phrase
from games.move import Move
from games.ninefivetwo import state as ninefivetwo
from games.zhengfen import state as zhengfen

State = (
    doudizhu.DoudizhuState
    | dasan.DasanState
    | zhengfen.ZhengfenState
    | ninefivetwo.NinefivetwoState
)
"""A complete position, all hands included. Immutable."""
View = doudizhu.DoudizhuView | dasan.DasanView | zhengfen.ZhengfenView | ninefivetwo.NinefivetwoView
"""What one seat, or the public, may know of a position. Immutable."""
Position = State | View

GAMES: Mapping[str, Game] = MappingProxyType(
    {game.name: game for game in (doudizhu.GAME, dasan.GAME, zhengfen.GAME, ninefivetwo.GAME)}
)
"""Every game by its name, in the order of the contract."""

COMPILED: bool = not str(deck.__file__).endswith(".py")
"""Whether the rules in use were compiled by mypyc. They are the same rules, but faster."""


def get(name: str) -> Game:
    """Return the game with this name.

    Raises:
        UnknownGame: if no game has this name. The message lists all names.
    """
    try:
        return GAMES[name]
    except KeyError:
        raise UnknownGame(
            f"There is no game {name!r}; the games are: {', '.join(GAMES)}."
        ) from None


__all__ = [
    "COMPILED",
    "GAMES",
    "Fact",
    "Game",
    "IllegalMove",
    "InvalidState",
    "LegalMoves",
    "Move",
    "OptionError",
    "Phrase",
    "Position",
    "Reason",
    "State",
    "UnknownGame",
    "View",
    "describe",
    "get",
]
