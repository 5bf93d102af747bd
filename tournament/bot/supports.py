"""What a bot plays of a game, as it says in `supports` of its answer to `GET /`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import games
from games.game import Value
from tournament.config.locations import short
from tournament.text import printable

_MOST = 1000  # values that are read of a list


@dataclass(frozen=True, slots=True)
class Scope:
    """A game with these numbers of `players`, and with these values of the named `options` only."""

    game: str
    players: tuple[int, ...]
    options: tuple[tuple[str, tuple[Value, ...]], ...] = ()

    def fit(self, options: Mapping[str, Value], number: int = 0) -> dict[str, Value]:
        """These options, with a value of the scope in place of each other one: the `number`-th of
        them, over and over."""
        wrong = {
            name: values[number % len(values)]
            for name, values in self.options
            if name not in options or options[name] not in values
        }
        return {**options, **wrong}

    def within(self, said: Scope) -> Scope:
        """This scope, where it leaves something open as a bot has said."""
        options = {**dict(said.options), **dict(self.options)}
        return Scope(self.game, self.players or said.players, tuple(options.items()))


def everything(name: str) -> Scope:
    """The whole game."""
    game = games.get(name)
    return Scope(name, tuple(range(game.min_players, game.max_players + 1)))


def read_supports(about: Mapping[str, Any], name: str) -> tuple[Scope, list[str]]:
    """What a bot says that it plays of a game, and all that is wrong with that, as sentences: what
    is wrong counts as not said."""
    whole, game = everything(name), games.get(name)
    problems: list[str] = []

    def objects(place: str, said: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        found = said.get(key, {})
        if isinstance(found, dict):
            return found
        problems.append(f"{place} must be an object.")
        return {}

    def values(
        place: str, said: object, problem: Callable[[object], str | None]
    ) -> tuple[Any, ...]:
        if not isinstance(said, list) or not 0 < len(said) <= _MOST:
            problems.append(f"{place} must be a list of 1 to {_MOST} values.")
            return ()
        wrong = [found for value in said if (found := problem(value))]
        problems.extend(f"{place}: {found}" for found in wrong[:1])
        return tuple(value for value in said if not problem(value))

    def players_problem(value: object) -> str | None:
        if type(value) is int and value in whole.players:
            return None
        return f"{game.title} is played by {', '.join(map(str, whole.players))}."

    part = objects('"supports"', about, "supports")
    part = objects(f'"supports" of {name}', part, name)
    players = whole.players
    if "players" in part:
        players = values(f'"players" of {name}', part["players"], players_problem) or players
    known = {option.name: option for option in game.options}
    options: list[tuple[str, tuple[Value, ...]]] = []
    for key, said in objects(f'"options" of {name}', part, "options").items():
        if key not in known:
            names = ", ".join(known)
            problems.append(f'"options" of {name} names {short(key)}; there are {names}.')
        elif found := values(f'"{key}" of {name}', said, known[key].problem):
            options.append((key, found))
    return Scope(name, players, tuple(options)), problems


def supports_problems(about: Mapping[str, Any]) -> list[str]:
    """All that is wrong with what a bot says that it plays of any game, as sentences."""
    said = about.get("supports")
    unknown = [name for name in said if name not in games.GAMES] if isinstance(said, dict) else []
    known = ", ".join(games.GAMES)
    problems = [f'"supports" names {short(name)}; there are {known}.' for name in unknown[:1]]
    for name in games.GAMES:
        problems += read_supports(about, name)[1]
    return list(dict.fromkeys(problems))


def misfit(about: Mapping[str, Any], game: str, players: int, options: Mapping[str, Value]) -> str:
    """Why a bot does not play a match with all these options, as a sentence; "" if it does, as far
    as it says."""
    known = about.get("games", [game])
    if isinstance(known, list) and game not in known:
        plays = printable(", ".join(str(name)[:40] for name in known[:10])) or "no game"
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
