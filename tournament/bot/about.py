"""What a bot says about itself in its answer to GET /: who it is, and what it plays."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec

import games
from games.game import Value
from tournament.bot.client import ExchangeError, Reply
from tournament.bot.protocol import PROTOCOL, read_object
from tournament.bot.url_bot import StartError, reach_url
from tournament.config.cup import Bot, Cup
from tournament.model import Identity
from tournament.records import prepare
from tournament.text import printable, short

ANSWER_S = 5
_MAX_WORDS = 64  # characters kept of what a bot states about itself
_ABOUT = ("name", "version", "author", "protocol", "games", "supports")


def read_about(reply: Reply) -> Mapping[str, object]:
    """Return the fields of a bot's answer to GET /. Their values are not checked.

    Raises:
        InvalidAnswer: if the status is not 200, the body is compressed or not a JSON object, or the
            object has a field of the protocol more than once.
    """
    return read_object(reply, _ABOUT)


def about_problems(about: Mapping[str, object], wanted: Sequence[str]) -> list[str]:
    """Return sentences about all problems with a bot's answer to GET /, which must name every game
    in `wanted`. If `games` is malformed or empty, `wanted` and `supports` are not checked."""
    problems = [
        f'"{field}" must be a string that is not empty.'
        for field in ("name", "version")
        if not isinstance(about.get(field), str) or not about[field]
    ]
    if "author" in about and not isinstance(about["author"], str):
        problems.append('"author" must be a string, or left out.')
    protocol = about.get("protocol")
    if protocol != PROTOCOL or isinstance(protocol, bool):
        problems.append(f'"protocol" must be the number {PROTOCOL}.')
    listed = about.get("games")
    if not isinstance(listed, list) or not listed:
        problems.append('"games" must be a list of the games that it plays.')
        return problems
    known = list(games.GAMES)  # a list, because `listed` may have values that are not hashable
    if unknown := [json.dumps(name, default=repr)[:40] for name in listed if name not in known]:
        problems.append(f'"games" names {", ".join(unknown[:5])}; there are {", ".join(known)}.')
    problems += [f'"games" does not name {name}.' for name in wanted if name not in listed]
    unsupported = [problem for name in games.GAMES for problem in read_supports(about, name)[1]]
    return [*problems, *dict.fromkeys(unsupported)]


def identity(about: Mapping[str, Any]) -> Identity:
    """Return the name, version and author that a bot states, each cut to 64 characters and then
    made printable. A value that is missing, blank or not a string becomes ""."""
    stated = {key: about.get(key) for key in ("name", "version", "author")}
    return Identity(
        **{
            key: printable(value[:_MAX_WORDS])
            for key, value in stated.items()
            if isinstance(value, str) and value.strip()
        }
    )


def about_by_url(bot: Bot) -> Mapping[str, object]:
    """Return what a remote bot states about itself. A wrong server or path often answers too, so
    the answer must have the keys "protocol" and "games".

    Raises:
        StartError: if the host is unknown, if nothing accepts a connection within 5 seconds, if no
            answer comes within another 5 seconds, or if the answer is not that of a bot.
    """
    player = reach_url(bot)
    try:
        about = read_about(player.send("/", b"", ANSWER_S))
        missing = [key for key in ("protocol", "games") if key not in about]
        why = f'Its answer has no "{missing[0]}".' if missing else ""
    except ExchangeError as error:
        why = str(error)
    finally:
        player.close()
    if why:
        why = printable(why.rstrip("."))
        where = "the end of its connection" if bot.connect else bot.url
        raise StartError(
            f"{bot.name}: what answers GET / at {where} is not a bot ({why}); start it, or fix its"
            " url."
        )
    return about


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
        """Return a copy of this scope. Players and options that this scope leaves open come from
        `bot_scope`."""
        options = {**dict(bot_scope.options), **dict(self.options)}
        return Scope(self.game, self.players or bot_scope.players, tuple(options.items()))


_Values = Annotated[tuple[Value, ...], msgspec.Meta(min_length=1)]


class _Support(msgspec.Struct, frozen=True):
    players: Annotated[tuple[int, ...], msgspec.Meta(min_length=1)] = ()
    options: dict[str, _Values] = {}


prepare(_Support)


def everything(name: str) -> Scope:
    """Return the scope of a whole game, which must be in `games.GAMES`: every number of players,
    and any options."""
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
    except (msgspec.ValidationError, UnicodeEncodeError) as error:  # half a surrogate pair
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


def unfitness(bot: Bot, about: Mapping[str, object], cup: Cup) -> str:
    """Return a sentence if `about`, the bot's answer to GET /, does not fit the cup, otherwise "".
    What the bot leaves out is not checked."""
    protocol = about.get("protocol", PROTOCOL)
    if protocol != PROTOCOL:
        spoken = printable(repr(protocol)[:40])
        return f"{bot.name}: it speaks protocol {spoken}; this runner speaks {PROTOCOL}."
    why = misfit(about, cup.game, cup.players, cup.options)
    return why and f"{bot.name}: {why}"
