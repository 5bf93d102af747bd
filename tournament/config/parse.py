"""Reading a CUP.toml: the cup, or every mistake in it with its line and its mend."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import comb
from typing import Any

import games
from games.game import Game
from tournament.config.cup import Bot, Clock, Cup, Format, Limits, Run, filled
from tournament.config.locations import Path, label, line_of, locate, short
from tournament.config.schema import (
    BOT,
    ELSEWHERE,
    ONLY_FOR,
    SECTIONS,
    TOP,
    Key,
    guess,
    nearest,
    said,
)
from tournament.config.toml_errors import problem

LARGEST = 1 << 20
MOST_TABLES = 200_000


class ConfigError(Exception):
    """A cup that cannot be run; `mistakes` are lines `file:line: key: what, and the mend`, or
    `file: what, and the mend` where there is no file to be read."""

    def __init__(self, mistakes: Iterable[str]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("\n".join(self.mistakes))


@dataclass(slots=True)
class _Mistakes:
    file: str
    lines: dict[Path, int] = field(default_factory=dict)
    found: list[tuple[int, str, str]] = field(default_factory=list)

    def add(self, path: Path, text: str) -> None:
        self.found.append((line_of(self.lines, path), label(path), text))

    def stop(self) -> None:
        if self.found:
            raise ConfigError(
                f"{self.file}:{line}: {key}: {text}"
                for line, key, text in sorted(dict.fromkeys(self.found), key=lambda found: found[0])
            )


def read(path: str | os.PathLike[str]) -> Cup:
    """The cup that a file describes; ConfigError with all that is wrong with it."""
    name = os.fspath(path)
    try:
        with open(name, "rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        why = error.strerror or "cannot be read"
        raise ConfigError([f"{name}: {why}; name a CUP.toml that is there."]) from None
    if len(data) > LARGEST:
        raise ConfigError([f"{name}: is larger than 1 MiB; this is no CUP.toml."])
    return parse(data, name)


def parse(data: bytes, file: str) -> Cup:
    """The cup that these bytes describe; `file` is for the mistakes."""
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError([f"{file}:{line}: file: is not UTF-8; save it as UTF-8."]) from None
    try:
        wire = tomllib.loads(text)
        lines = locate(text)
    except (ValueError, RecursionError) as error:  # ValueError also for a number too long to read
        line, key, what = problem(text, error)
        raise ConfigError([f"{file}:{line}: {key}: {what}"]) from None
    mistakes = _Mistakes(file, lines)
    wire = _moved(wire, mistakes)
    cup = _cup(_shape(wire, mistakes), mistakes)
    mistakes.stop()
    return cup


def _moved(wire: dict[str, Any], mistakes: _Mistakes) -> dict[str, Any]:
    """The file's values with every key in its own place."""
    for source, target in ELSEWHERE.items():
        holder = wire if len(source) == 1 else wire.get(source[0])
        if not isinstance(holder, dict) or source[-1] not in holder:
            continue
        into = wire if len(target) == 1 else wire.setdefault(target[0], {})
        if not isinstance(into, dict):
            continue
        if target[-1] in into:
            mistakes.add(source, f"stands in {label(target)} already; leave one out.")
        else:
            into[target[-1]] = holder[source[-1]]
            mistakes.lines[target] = line_of(mistakes.lines, source)
        del holder[source[-1]]
    return wire


def _shape(wire: Mapping[str, Any], mistakes: _Mistakes) -> dict[str, Any]:
    """Check each key by itself: known, there, of its type and in its range.

    The values come back with None for each that is wrong, so that the rest can be checked.
    """
    places = [*SECTIONS, "options", "bots"]
    top = {name: value for name, value in wire.items() if name not in places}
    clean = _section(top, TOP, (), mistakes, places)
    for name, keys in SECTIONS.items():
        section = wire.get(name, {})
        if isinstance(section, dict):
            clean[name] = _section(section, keys, (name,), mistakes)
        else:
            mistakes.add((name,), f"must be a section, not {said(section)}; write [{name}].")
            clean[name] = {}
    clean["options"] = wire.get("options", {})
    if not isinstance(clean["options"], dict):
        mistakes.add(("options",), "must be a section; write [options].")
        clean["options"] = {}
    clean["bots"] = _bot_sections(wire.get("bots", []), mistakes)
    return clean


def _bot_sections(bots: Any, mistakes: _Mistakes) -> list[dict[str, Any]] | None:
    """The bots' sections, each checked by itself; None if they are no list of sections."""
    if isinstance(bots, dict):
        mistakes.add(("bots",), "must be a section for each bot; write [[bots]], two brackets.")
    elif not isinstance(bots, list) or any(not isinstance(bot, dict) for bot in bots):
        mistakes.add(("bots",), "must be a section for each bot; write [[bots]].")
    elif not bots:
        mistakes.add(("bots",), "there are none; write [[bots]] with a name and a command or url.")
    else:
        return [_section(bot, BOT, ("bots", i), mistakes) for i, bot in enumerate(bots)]
    return None


def _section(
    wire: Mapping[str, Any],
    keys: tuple[Key, ...],
    path: Path,
    mistakes: _Mistakes,
    places: Iterable[str] = (),
) -> dict[str, Any]:
    """The section with None for each wrong value; a misspelt key stands for what it meant.

    `places` are the names of sections that may be meant too.
    """
    known = {key.name: key for key in keys}
    words = [*known, *places]
    clean: dict[str, Any] = {}
    for name, value in wire.items():
        if name not in known:
            mistakes.add((*path, name), f"there is no such key; {guess(name, words)}")
            meant = nearest(name, words)
            if meant in known and meant not in wire:
                clean[meant] = None
            continue
        wrong = known[name].check(value)
        if wrong:
            mistakes.add((*path, name), wrong)
        clean[name] = None if wrong else value
    for key in keys:
        if key.required and key.name not in clean:
            mistakes.add((*path, key.name), f'is missing; write {key.name} = "…".')
            clean[key.name] = None
    return clean


def _cup(wire: Mapping[str, Any], mistakes: _Mistakes) -> Cup:
    """Check what depends on other keys, and make the cup."""
    game = _game(wire["game"], mistakes)
    players = wire.get("players") or (game.min_players if game else 2)
    if game and not game.min_players <= players <= game.max_players:
        few, many = game.min_players, game.max_players
        span = f"{few}" if few == many else f"{few} to {many}"
        mistakes.add(("players",), f"{game.title} is played by {span}, not {players}; write {few}.")
        players = few
    options = _options(wire["options"], game, mistakes)
    format_ = _format(wire["format"], mistakes)
    bots = _bots(wire["bots"], format_, mistakes)
    bots = filled(bots, players, format_.fill)
    if wire["bots"] is not None and len(bots) < players:
        mistakes.add(
            ("bots",),
            f"{len(bots)} are too few for tables of {players}; add {players - len(bots)},"
            ' or let house bots sit in: [format] fill = "greedy".',
        )
    _tables(len(bots), players, format_.type, mistakes)
    return Cup(
        name=wire["name"],
        game=wire["game"],
        players=players,
        bots=bots,
        seed=wire.get("seed"),
        commit=wire.get("commit", False),
        options=options,
        format=format_,
        clock=Clock(**wire["clock"]),
        strikes=wire["faults"].get("strikes", 3),
        run=Run(**wire["run"]),
        sandbox=wire["sandbox"].get("enabled", False),
        limits=Limits(**wire["limits"]),
    )


def _tables(bots: int, players: int, kind: str | None, mistakes: _Mistakes) -> None:
    """All tables of many bots are more than anybody can play."""
    tables = {"round-robin": comb(bots, players), "gauntlet": comb(max(0, bots - 1), players - 1)}
    many = tables.get(kind or "", 0)
    if many > MOST_TABLES:
        mistakes.add(
            ("format", "type"),
            f"makes {many:,} tables of {bots} bots, more than {MOST_TABLES:,};"
            ' write type = "swiss".',
        )


def _game(name: str | None, mistakes: _Mistakes) -> Game | None:
    if name is None:
        return None
    try:
        return games.get(name)
    except games.UnknownGame:
        mistakes.add(("game",), f'"{short(name)}" is not known; {guess(name, games.GAMES)}')
        return None


def _options(
    wire: Mapping[str, Any], game: Game | None, mistakes: _Mistakes
) -> dict[str, int | bool | None]:
    if game is None:
        return dict(wire)
    known = {option.name: option for option in game.options}
    for name, value in wire.items():
        if name not in known:
            mistakes.add(
                ("options", name), f"{game.title} has no such option; {guess(name, known)}"
            )
        elif (wrong := known[name].problem(value)) is not None:
            mistakes.add(("options", name), wrong[:1].lower() + wrong[1:])
    return {name: wire.get(name, option.default) for name, option in known.items()}


def _format(wire: Mapping[str, Any], mistakes: _Mistakes) -> Format:
    kind = wire.get("type", "round-robin")
    for name, owner in ONLY_FOR.items():
        if name in wire and kind not in (owner, None):
            mistakes.add(
                ("format", name), f'belongs to type = "{owner}", not "{kind}"; leave it out.'
            )
    if kind == "gauntlet" and "challenger" not in wire:
        mistakes.add(("format", "challenger"), "is missing; write the name of one of the bots.")
    return Format(**{**wire, "seeds": tuple(wire.get("seeds") or ())})


def _bots(
    wire: list[dict[str, Any]] | None, format_: Format, mistakes: _Mistakes
) -> tuple[Bot, ...]:
    if wire is None:
        return ()
    seen: dict[str, int] = {}
    for index, bot in enumerate(wire):
        path = ("bots", index)
        name = bot["name"]
        if name in seen:
            mistakes.add((*path, "name"), f'bot {seen[name] + 1} is "{name}" too; rename one.')
        elif name is not None:
            seen[name] = index
        if "command" in bot and "url" in bot:
            mistakes.add((*path, "url"), "is there beside command; leave one of the two out.")
        elif "command" not in bot and "url" not in bot:
            mistakes.add((*path, "command"), "is missing; write a command or a url.")
        elif "max_matches" in bot and "url" not in bot:
            mistakes.add((*path, "max_matches"), "is for a bot by url only; leave it out.")
        if format_.fill and name and name.startswith(f"{format_.fill} (house"):
            mistakes.add((*path, "name"), "is the name of a house bot; rename it.")
    if format_.challenger is not None and format_.challenger not in seen:
        mistakes.add(
            ("format", "challenger"),
            f'there is no bot "{format_.challenger}"; {guess(format_.challenger, seen)}',
        )
    for name in format_.seeds:
        if name not in seen:
            mistakes.add(
                ("format", "seeds"), f'there is no bot "{short(name)}"; {guess(name, seen)}'
            )
    return tuple(Bot(**bot) for bot in wire)
