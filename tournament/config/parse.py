"""Reads a CUP.toml, and reports every error in it with its line and its fix."""

import dataclasses
import os
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import msgspec

import games
from games.game import Game, Options
from tournament.config.cup import (
    BOT,
    FILE_FORMATS,
    SECTIONS,
    TOP,
    Bot,
    Clock,
    Cup,
    JoinRules,
    Limits,
    RunSettings,
    reference_command,
    remembers,
)
from tournament.errors import StichError
from tournament.formats import Format
from tournament.formats.ladder import Ladder
from tournament.formats.stopping import Stop
from tournament.names import alike
from tournament.settings.keys import Key, keys_of, suggest, type_name, utc
from tournament.settings.locations import Path, explain, label, line_of, locate
from tournament.text import short

CupCheck = Callable[[Cup], Iterable[tuple[Path, str]]]
"""A function that finds further errors in a cup, each as (path of the key, text with the fix)."""

LARGEST = 1 << 20
"""The largest CUP.toml that is read, in bytes."""
_MAX_TABLES = 200_000
_WAYS = ("command", "url", "connect")
"""The keys that say how a bot is reached. A bot has exactly one of them."""
_ONLY_WITH = {"url": ("max_matches", "token"), "command": ("dir", "env", "env_from")}
"""The keys of a bot that belong to one way of reaching the bot, by way."""

_Section = Mapping[str, Any]
"""A section in which `_check_section` found no error, so its values have the types of its keys."""


class CupError(StichError):
    """Raised if a cup cannot be run. The text has a line for each error, in the form
    `file:line: key: what is wrong, and the fix`. If the file cannot be read or is too large, the
    text is `file: what is wrong, and the fix`."""

    exit_code = 2


@dataclass(slots=True)
class _Errors:
    file: str
    lines: dict[Path, int]
    items: list[tuple[int, str, str]] = dataclasses.field(default_factory=list)

    def add(self, path: Path, text: str) -> None:
        """Add an error about the key with this path. `text` says what is wrong, and the fix."""
        self.items.append((line_of(self.lines, path), label(path), text))

    def raise_if_any(self) -> None:
        if self.items:
            items = sorted(dict.fromkeys(self.items), key=lambda item: item[0])
            raise CupError(
                "\n".join(f"{self.file}:{line}: {key}: {text}" for line, key, text in items)
            )


def read_cup(path: str | os.PathLike[str], check: CupCheck = lambda _: ()) -> Cup:
    """Read the CUP.toml at `path`, and return its cup. `check` is as in `parse_cup`.

    Raises:
        CupError: if the file cannot be read, is larger than 1 MiB, or has errors.
    """
    name = os.fspath(path)
    try:
        with open(name, "rb") as file:
            data = file.read(LARGEST + 1)
    except OSError as error:
        why = error.strerror or "cannot be read"
        raise CupError(f"{name}: {why}; name an existing CUP.toml.") from None
    if len(data) > LARGEST:
        raise CupError(f"{name}: is larger than 1 MiB; this is not a CUP.toml.")
    return parse_cup(data, name, check)


def parse_cup(data: bytes, file: str, check: CupCheck = lambda _: ()) -> Cup:
    """Return the cup that a CUP.toml describes, with defaults and house bots filled in.

    `data` is the content of the CUP.toml, and `file` its name in error messages. `check` finds
    further errors (see `CupCheck`), and is called only if each key is valid on its own. Whether
    bots' folders and commands exist is not checked.

    Raises:
        CupError: if there are errors. If `data` is not UTF-8 or not TOML, the text says only that.
            Otherwise the text lists all errors of single keys. If there are none, it lists the
            errors in combinations of keys, and those that `check` finds.
    """
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise CupError(f"{file}:{line}: file: is not UTF-8; save it as UTF-8.") from None
    try:
        toml = tomllib.loads(text)
        errors = _Errors(file, locate(text))
    except (ValueError, RecursionError) as error:  # ValueError also for a number too long to read
        line, key, what = explain(text, error)
        raise CupError(f"{file}:{line}: {key}: {what}") from None
    checked = _check_keys(toml, errors)
    errors.raise_if_any()
    cup = _make_cup(checked, errors)
    for path, text in check(cup):
        errors.add(path, text)
    errors.raise_if_any()
    return cup


def _check_keys(toml: Mapping[str, object], errors: _Errors) -> _Section:
    """Check each key on its own, and add the errors to `errors`. Return the content of the file,
    with an empty section in place of each missing section."""
    sections = {name: toml.get(name, {}) for name in (*SECTIONS, "options")}
    bots = toml.get("bots", [])
    top = {name: value for name, value in toml.items() if name not in (*sections, "bots")}
    _check_section(top, TOP, (), errors, (*sections, "bots"))
    for name, section in sections.items():
        if name == "options" and isinstance(section, str):  # a named set
            continue
        if not isinstance(section, dict):
            errors.add((name,), f"must be a section, not {type_name(section)}; write [{name}].")
        elif name in SECTIONS:
            _check_section(section, SECTIONS[name], (name,), errors)
    if not isinstance(bots, list) or any(not isinstance(bot, dict) for bot in bots):
        errors.add(("bots",), "must be a section for each bot; write [[bots]], two brackets.")
    elif not bots:
        errors.add(("bots",), "there are none; write [[bots]] with a name and a command or url.")
    else:
        for index, bot in enumerate(bots):
            _check_section(bot, BOT, ("bots", index), errors)
    return {**top, **sections, "bots": bots}


def _check_section(
    section: Mapping[str, object],
    keys: Mapping[str, Key],
    path: Path,
    errors: _Errors,
    subsections: Iterable[str] = (),
) -> None:
    """Check a section, in which only `keys` are allowed, and add the errors to `errors`. For an
    unknown key, the fix may also suggest one of `subsections`."""
    for name, value in section.items():
        if name not in keys:
            fix = _place_of(name) or suggest(name, [*keys, *subsections])
            errors.add((*path, name), f"unknown key; {fix}")
        elif wrong := keys[name].check(value):
            errors.add((*path, name), wrong)
    for name, key in keys.items():
        if key.required and name not in section:
            errors.add((*path, name), f'is missing; write {name} = "…".')


def _place_of(name: str) -> str | None:
    sections = {"the top of the file": TOP, "[[bots]]": BOT}
    sections |= {f"[{section}]": keys for section, keys in SECTIONS.items()}
    places = [place for place, keys in sections.items() if name in keys]
    return f"it belongs in {' or '.join(places)}; move it there." if places else None


def _make_cup(checked: _Section, errors: _Errors) -> Cup:
    """Return the cup, and add errors in combinations of keys to `errors`. If there are such errors,
    the cup serves only to find further errors."""
    game = games.get(checked["game"])
    players = checked.get("players") or game.min_players
    if not game.min_players <= players <= game.max_players:
        wrong, players = players, game.min_players
        allowed = game.player_range
        errors.add(("players",), f"{game.title} is for {allowed}, not {wrong}; write {players}.")
    options = _options(checked["options"], game, errors)
    if "fill" in checked and "fill" in checked["format"]:
        errors.add(("fill",), "is already set by format.fill; delete one of them.")
    top = {"fill": checked["fill"]} if "fill" in checked else {}
    format_ = _format(top | checked["format"], errors)
    bots = _with_fillers(_bots(checked["bots"], format_, errors), players, format_.fill)
    ladder = isinstance(format_, Ladder)
    if "cards" not in checked["format"]:
        format_ = dataclasses.replace(format_, cards=format_.usual_cards(remembers(bots)))
    if len(bots) < players and not ladder:
        are = "is" if len(bots) == 1 else "are"
        errors.add(
            ("bots",),
            f"{len(bots)} {are} too few for tables of {players}; add {players - len(bots)},"
            ' or fill the table with reference bots: [format] fill = "greedy".',
        )
    if (tables := format_.tables(len(bots), players)) > _MAX_TABLES:
        errors.add(
            ("format", "type"),
            f"makes {tables:,} tables of {len(bots)} bots, more than {_MAX_TABLES:,};"
            ' write type = "swiss".',
        )
    return Cup(
        name=checked["name"],
        game=checked["game"],
        players=players,
        bots=bots,
        seed=checked.get("seed"),
        commit=checked.get("commit", False),
        options=options,
        format=format_,
        join=_join(checked["join"], format_, errors),
        stop=_stop(checked["stop"], format_, len(bots), errors),
        clock=Clock(**checked["clock"]),
        **({"outage_s": 60} if ladder else {}) | checked["faults"],
        run=RunSettings(**checked["run"]),
        sandbox=checked["sandbox"].get("enabled"),
        network=checked["sandbox"].get("network", False),
        limits=Limits(**checked["limits"]),
    )


def _options(options: Options | str, game: Game, errors: _Errors) -> dict[str, int | bool | None]:
    """Return a value for each option of the game, and add errors to `errors`. `options` is the
    section in the file, or the name of an option set."""
    if isinstance(options, str):
        sets = game.option_sets
        if options not in sets:
            fix = suggest(options, sets) if sets else "write a section [options]."
            errors.add(("options",), f'{game.title} has no set "{short(options)}"; {fix}')
        options = sets.get(options, {})
    known = {option.name: option for option in game.options}
    for name, value in options.items():
        if name not in known:
            errors.add(
                ("options", name), f"{game.title} has no such option; {suggest(name, known)}"
            )
        elif (wrong := known[name].problem(value)) is not None:
            errors.add(("options", name), wrong[:1].lower() + wrong[1:])
    return {name: options.get(name, option.default) for name, option in known.items()}


def _format(section: Mapping[str, Any], errors: _Errors) -> Format:
    """Return the format, and add errors to `errors`. A required key that is missing becomes ""."""
    kind = FILE_FORMATS[section.get("type", "round-robin")]
    keys = keys_of(kind)
    for name in section.keys() - keys.keys() - {"type"}:
        owners = [owner for owner, format in FILE_FORMATS.items() if name in keys_of(format)]
        where = f'for type = "{owners[0]}", not' if len(owners) == 1 else "not for type ="
        errors.add(("format", name), f'is {where} "{kind.type}"; delete it.')
    missing = [name for name, key in keys.items() if key.required and name not in section]
    for name in missing:
        errors.add(("format", name), f'is missing; write {name} = "…".')
    known = {
        name: utc(value) if isinstance(value, datetime) else value
        for name, value in section.items()
        if name in keys
    }
    return msgspec.convert(known | dict.fromkeys(missing, ""), kind)


def _join(section: Mapping[str, Any], format: Format, errors: _Errors) -> JoinRules:
    if section and not isinstance(format, Ladder):
        errors.add(("join",), f'is for type = "ladder", not "{format.type}"; delete the section.')
    if section.get("open") and "code" in section:
        errors.add(("join", "code"), "is not needed where join.open = true; delete one of them.")
    return JoinRules(**section)


def _stop(section: Mapping[str, Any], format: Format, bots: int, errors: _Errors) -> Stop:
    if section and not format.may_stop:
        fitting = (name for name, kind in FILE_FORMATS.items() if kind.may_stop)
        owners = " or ".join(f'"{name}"' for name in fitting)
        errors.add(("stop",), f'is for type = {owners}, not "{format.type}"; delete the section.')
    if section and "top" not in section:
        errors.add(("stop", "top"), "is missing; write how many bots to settle from the rest.")
    top = section.get("top")
    if top is not None and top >= bots > 1:
        errors.add(
            ("stop", "top"),
            f"must be less than the number of bots, {bots}, not {top}; write {bots - 1} or less.",
        )
    return Stop(**section)


def _bots(sections: Sequence[_Section], format_: Format, errors: _Errors) -> tuple[Bot, ...]:
    numbers: dict[str, int] = {}
    for index, bot in enumerate(sections):
        path = ("bots", index)
        name = bot["name"]
        if name in numbers:
            errors.add((*path, "name"), f'bot {numbers[name] + 1} is "{name}" too; rename one.')
        elif (other := alike(name, numbers)) is not None:
            looks = f'looks like "{other}", the name of bot {numbers[other] + 1}; rename one.'
            errors.add((*path, "name"), looks)
        numbers[name] = index
        ways = [way for way in _WAYS if bot.get(way, False) is not False]
        if len(ways) > 1:
            errors.add((*path, ways[1]), f"is given as well as {ways[0]}; delete one of them.")
        elif not ways:
            errors.add(
                (*path, "command"), "is missing; write a command or a url, or connect = true."
            )
        for way, key in ((way, key) for way, keys in _ONLY_WITH.items() for key in keys):
            if key in bot and way not in bot:
                errors.add((*path, key), f"is for a bot by {way} only; delete it.")
        both = [variable for variable in bot.get("env_from", ()) if variable in bot.get("env", {})]
        if both:
            errors.add((*path, "env_from"), f"names {both[0]}, which env sets; delete one of them.")
        if format_.fill and name.startswith(f"{format_.fill} (house"):
            errors.add((*path, "name"), "is the name of a bot that fills a seat; rename it.")
    for key, name in format_.named_bots():
        if name and name not in numbers:  # a missing name was refused above
            fix = suggest(name, numbers)
            errors.add(("format", key), f'there is no bot "{short(name)}"; {fix}')
    return msgspec.convert(sections, tuple[Bot, ...])


def _with_fillers(bots: tuple[Bot, ...], players: int, fill: str | None) -> tuple[Bot, ...]:
    missing = players - len(bots)
    if fill is None or missing <= 0:
        return bots
    names = [f"{fill} (house)"] + [f"{fill} (house {i})" for i in range(2, missing + 1)]
    return bots + tuple(Bot(name, command=reference_command(fill), house=True) for name in names)
