"""The rules of four card games: pure, no input or output, standard library only.

`GAMES` holds every game by its name, `get` finds one or says which there are. What a game, a
state, a view and a move can do is in `games.game` and `games.move`; refusals are in `games.errors`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from games.dasan import state as dasan
from games.doudizhu import state as doudizhu
from games.errors import IllegalMove, InvalidState, OptionError, Reason, UnknownGame
from games.game import Fact, Game, LegalMoves, Position, State, View
from games.move import Move
from games.ninefivetwo import state as ninefivetwo
from games.zhengfen import state as zhengfen

GAMES: Mapping[str, Game] = MappingProxyType(
    {game.name: game for game in (doudizhu.GAME, dasan.GAME, zhengfen.GAME, ninefivetwo.GAME)}
)
"""Every game by its name, in the order of the contract."""


def get(name: str) -> Game:
    """The game of this name; UnknownGame, whose text names the games there are."""
    try:
        return GAMES[name]
    except KeyError:
        raise UnknownGame(f"There is no game {name!r}; there are: {', '.join(GAMES)}.") from None


__all__ = [
    "GAMES",
    "Fact",
    "Game",
    "IllegalMove",
    "InvalidState",
    "LegalMoves",
    "Move",
    "OptionError",
    "Position",
    "Reason",
    "State",
    "UnknownGame",
    "View",
    "get",
]
