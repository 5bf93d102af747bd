"""The rules of four card games: pure functions and immutable values, standard library only."""

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
"""Whether the rules in use were compiled by mypyc."""


def get(name: str) -> Game:
    """Return the game with this name.

    Raises:
        UnknownGame: if no game has this name. The message lists all names.
    """
    if name not in GAMES:
        raise UnknownGame(f"There is no game {name!r}; the games are: {', '.join(GAMES)}.")
    return GAMES[name]


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
