"""What there is to say of a game before a card is dealt."""

from __future__ import annotations

from typing import Any

from games import Game


def brief(game: Game) -> dict[str, Any]:
    """A game in short, for the list of games."""
    return {
        "game": game.name,
        "title": game.title,
        "native": game.native,
        "players": [game.min_players, game.max_players],
        "teams": game.teams,
        "rules": f"/docs/rules/{game.name}.md",
        "url": f"/v1/games/{game.name}",
    }


def full(game: Game) -> dict[str, Any]:
    """A game in full: options, deck, phases, categories."""
    counts = range(game.min_players, game.max_players + 1)
    deck = game.deck(game.min_players)
    return {
        **brief(game),
        "options": options_schema(game),
        "deck": list(dict.fromkeys(deck.cards)),
        "packs": {str(players): game.deck(players).packs for players in counts},
        "phases": [*game.phases, "over"],
        "categories": [
            {
                "name": each.name,
                "example": each.example,
                "description": each.description,
                "players": [game.min_players, each.max_players or game.max_players],
            }
            for each in game.categories
        ],
    }


def options_schema(game: Game) -> dict[str, Any]:
    """The options as a JSON Schema (2020-12) with their defaults."""
    properties: dict[str, dict[str, Any]] = {}
    for option in game.options:
        about = {"description": option.description, "default": option.default}
        if isinstance(option.default, bool):
            properties[option.name] = {"type": "boolean", **about}
            continue
        both = {"minimum": option.minimum, "maximum": option.maximum}
        limits = {name: limit for name, limit in both.items() if limit is not None}
        kind = ["integer", "null"] if option.nullable else "integer"
        properties[option.name] = {"type": kind, **limits, **about}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Options of {game.title}",
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
    }
