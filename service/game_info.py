"""What `/v1/games` says about a game."""

from __future__ import annotations

from typing import Any

from games import Game
from service.schemas.common import option_fields


def summary(game: Game) -> dict[str, Any]:
    """A game in the list of games."""
    return {
        "game": game.name,
        "title": game.title,
        "native": game.native,
        "players": [game.min_players, game.max_players],
        "teams": game.teams,
        "rules": f"/docs/rules/{game.name}.md",
        "url": f"/v1/games/{game.name}",
    }


def details(game: Game) -> dict[str, Any]:
    """The summary of a game, with its options, deck, phases and categories."""
    counts = range(game.min_players, game.max_players + 1)
    deck = game.deck(game.min_players)
    options = option_fields(game, required=False)
    return {
        **summary(game),
        "options": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": f"Options of {game.title}",
            "type": "object",
            "properties": {name: field.json_schema() for name, field in options.items()},
            "additionalProperties": False,
        },
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
