"""The JSON Schema of a CUP.toml, with which editors complete and check the file."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import games
from games.game import Game, Option
from tournament.config.cup import BOT, SECTIONS, TOP
from tournament.settings.keys import Key


def cup_schema() -> dict[str, object]:
    """Return the schema of a CUP.toml, in JSON Schema draft 7, which TOML editors support."""
    properties = {
        **{name: _object(keys) for name, keys in SECTIONS.items()},
        "options": {
            "type": ["object", "string"],
            "description": "The options of the game, or the name of a set of them.",
        },
        "bots": {"type": "array", "minItems": 1, "items": _object(BOT)},
    }
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Stich cup",
        **_object(TOP, properties, ["bots"]),
        "allOf": [_of_game(game) for game in games.GAMES.values()],
    }


def write(path: Path) -> None:
    """Write the schema to a file.

    Raises:
        OSError: if the file cannot be written.
    """
    path.write_text(json.dumps(cup_schema(), indent=1) + "\n", encoding="utf-8")


def _object(
    keys: Mapping[str, Key], rest: Mapping[str, object] | None = None, required: Sequence[str] = ()
) -> dict[str, object]:
    """Return the schema of an object with no other properties than `keys` and those in `rest`. The
    keys that are marked as required are required, and so are the names in `required`."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": [*(name for name, key in keys.items() if key.required), *required],
        "properties": {**{name: key.schema() for name, key in keys.items()}, **(rest or {})},
    }


def _of_game(game: Game) -> dict[str, object]:
    options = {
        "type": "object",
        "additionalProperties": False,
        "properties": {option.name: _option(option) for option in game.options},
    }
    named = {"enum": list(game.option_sets)}
    players = {"minimum": game.min_players, "maximum": game.max_players}
    return {
        "if": {"properties": {"game": {"const": game.name}}},
        "then": {"properties": {"players": players, "options": {"anyOf": [options, named]}}},
    }


def _option(option: Option) -> dict[str, object]:
    kind = "boolean" if isinstance(option.default, bool) else "integer"
    limits = {"minimum": option.minimum, "maximum": option.maximum}
    return {
        "type": kind,
        "description": option.description,
        **({} if option.default is None else {"default": option.default}),
        **{name: limit for name, limit in limits.items() if limit is not None},
    }


if __name__ == "__main__":
    write(Path("examples", "cup.schema.json"))
