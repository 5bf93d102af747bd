"""Sealed states in requests and responses: tokens, keys and hashes of keys."""

# ruff: noqa: D102 (value_type, value_schema and load are documented once, in JsonField)
from __future__ import annotations

import re
from typing import Annotated, Any, Final

import msgspec
from marshmallow import ValidationError

import games
from service.schemas.common import Fields, make_schema
from service.schemas.fields import Boolean, JsonField, ResponseField, String
from service.schemas.list_fields import List


class Sha256(JsonField):
    """A SHA-256 hash in lower-case hexadecimal."""

    pattern: Final = "^[0-9a-f]{64}$"

    def value_type(self) -> Any:
        # the length too, as `$` also matches before a final newline
        return Annotated[str, msgspec.Meta(max_length=64, pattern=self.pattern)]

    def value_schema(self) -> dict[str, Any]:
        return {"type": "string", "pattern": self.pattern}

    def load(self, value: Any) -> str:
        if type(value) is not str or not re.fullmatch(self.pattern, value):
            raise ValidationError("Must be a SHA-256 hash: 64 digits of lower-case hexadecimal.")
        return value


def token_field() -> String:
    """A field that holds a token."""
    return String("A sealed state: a token from this service, opaque to clients.")


def key_field(*, required: bool = True) -> String:
    """A field that holds a key."""
    without = "" if required else " Without it, the view is what everybody may know."
    description = f"The key of a seat: from `keys`, or its player's secret.{without}"
    return String(description, required=required)


def start_fields(game: games.Game) -> Fields:
    """What the start of a sealed game adds to a request."""
    return {
        "seal": Boolean(
            "Whether to return a sealed state, for which the service draws the seed; false if"
            " omitted.",
            required=False,
        ),
        "key_hashes": List(
            "Only with `seal`: for each seat, the SHA-256 hash of the UTF-8 text of a secret that"
            " its player has drawn at random, and which is then its key. If omitted, the service"
            " makes the keys.",
            Sha256(""),
            game.min_players,
            game.max_players,
            enforced=True,
            required=False,
        ),
    }


SealedStartAnswer: Final = make_schema(
    "SealedStartAnswer",
    "A sealed state, and the keys that the service made.",
    {
        "sealed": token_field(),
        "keys": ResponseField(
            "The key of each seat; null where the request had `key_hashes`. Only the holder of a"
            " key can use its seat.",
            {
                "type": "array",
                "items": {"type": ["string", "null"]},
                "minItems": min(game.min_players for game in games.GAMES.values()),
                "maxItems": max(game.max_players for game in games.GAMES.values()),
            },
        ),
    },
)
SealedAnswer: Final = make_schema("SealedAnswer", "A sealed state.", {"sealed": token_field()})
