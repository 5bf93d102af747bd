"""Which part of a game a bot plays, according to `supports` in its answer to GET /."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

import msgspec

import games
from games.game import Value
from tournament.settings.locations import short
from tournament.text import printable


@dataclass(frozen=True, slots=True)
class Scope:
    """A part of a game: the allowed numbers of players, and the allowed values of some options. If
    `players` is empty, the numbers are left open (see `within`)."""

    game: str
    players: tuple[int, ...]
    options: tuple[tuple[str, tuple[Value, ...]], ...] = ()

    def fit(self, options: Mapping[str, Value], number: int = 0) -> dict[str, Value]:
        """Return a copy of `options` that fits the scope. An option that is missing, or has a value
        outside the scope, gets the scope's value at index `number`, modulo the number of values."""
        replaced = {
            name: values[number % len(values)]
            for name, values in self.options
            if name not in options or options[name] not in values
        }
        return {**options, **replaced}

    def within(self, bot_scope: "Scope") -> "Scope":
        """Return this scope. Players and options that it leaves open come from `bot_scope`."""
        options = {**dict(bot_scope.options), **dict(self.options)}
        return Scope(self.game, self.players or bot_scope.players, tuple(options.items()))


_Values = Annotated[tuple[Value, ...], msgspec.Meta(min_length=1)]


class _Support(msgspec.Struct, frozen=True):
    players: Annotated[tuple[int, ...], msgspec.Meta(min_length=1)] = ()
    options: dict[str, _Values] = {}


def everything(name: str) -> Scope:
    """Return the scope of the whole game `name`: every number of players, and any options."""
    game = games.get(name)
    return Scope(name, tuple(range(game.min_players, game.max_players + 1)))


def read_supports(about: Mapping[str, object], name: str) -> tuple[Scope, list[str]]:
    """Return the part of a game that a bot supports, and sentences about problems in `supports`.

    `about` is the bot's answer to GET /, and `name` a name in `games.GAMES`. The problems concern
    the form of `supports`, the entry for this game, and unknown names of games. The scope is the
    whole game if there is no valid entry for this game, or if any entry has the wrong form.
    """
    whole = everything(name)
    try:
        supports = msgspec.convert(about.get("supports", {}), dict[str, _Support])
    except msgspec.ValidationError as error:
        return whole, [f'"supports": {printable(str(error))}.']
    support = supports.get(name, _Support())
    scope = Scope(name, support.players or whole.players, tuple(support.options.items()))
    problems = []
    if not set(scope.players) <= set(whole.players):
        there_are = ", ".join(map(str, whole.players))
        problems.append(f'"players" of {name} has others than {there_are}.')
    known = {option.name: option for option in games.get(name).options}
    for key, values in scope.options:
        if key not in known:
            problems.append(f"{name} has no option {short(key)}; it has {', '.join(known)}.")
        elif wrong := next(filter(None, map(known[key].problem, values)), None):
            problems.append(f'"{key}" of {name}: {wrong}')
    others = [short(other) for other in supports if other not in games.GAMES]
    unknown = [f'"supports" names {other}; there are {", ".join(games.GAMES)}.' for other in others]
    return whole if problems else scope, unknown + problems


def misfit(
    about: Mapping[str, object], game: str, players: int, options: Mapping[str, Value]
) -> str:
    """Return why a bot does not play a match with these players and options, or "" if it does.

    `about` is the bot's answer to GET /. A bot plays whatever its answer does not exclude. The
    reason is a sentence that begins with "it does not play". `game` must be in `games.GAMES`, and
    `options` must have all options of the game.
    """
    listed = about.get("games", [game])
    if isinstance(listed, list) and game not in listed:
        plays = printable(", ".join(str(name)[:40] for name in listed[:10])) or "no game"
        return f"it does not play {game}; it says that it plays {plays}."
    scope, _ = read_supports(about, game)
    if players not in scope.players:
        plays = ", ".join(map(str, scope.players))
        return f"it does not play with {players} players; it says that it plays with {plays}."
    for name, values in scope.options:
        if options[name] not in values:
            value, plays = json.dumps(options[name]), ", ".join(map(json.dumps, values[:10]))
            return f"it does not play with {name} = {value}; it says that it plays with {plays}."
    return ""
