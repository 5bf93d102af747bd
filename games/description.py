"""Descriptions of positions in English, mainly for language models."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Final

from games.deck import Deck
from games.game import Fact, Game
from games.move import BID, DISCARD, GIVE, PASS, TRUMP, Move

if TYPE_CHECKING:
    from games import View

SHOWN: Final = 8
"""The number of moves of each category to write out. A list can have more than 30,000 moves."""
_PHASES: Final = {
    BID: "Auction",
    "call": "Call",
    GIVE: "Exchange",
    TRUMP: "Trump suit",
    DISCARD: "Discards",
}


def describe(view: View, moves: Iterable[Move] | None = None) -> str:
    """Return a description of a view in English. Equal arguments give the same text.

    `moves` has the legal moves of the view. Without `moves`, the text does not mention legal moves.
    The first eight plays of each category, and the first eight moves of each other kind, are
    written out with their indexes in `moves`.
    """
    data = view.to_dict()
    game, deck = view.game, view.game.deck(view.players)
    paragraphs = [
        [_heading(view), *_turn(view)],
        ["Seats:", *_seats(view, data), _sides(game, data)],
        [f"Your hand: {_hand(deck, data['hand'])}."] if view.seat is not None else [],
        [_fact(fact) for fact in game.facts(data)],
        _history(view.history),
        [] if moves is None else _moves(moves),
    ]
    return "\n\n".join("\n".join(lines) for lines in paragraphs if lines) + "\n"


def _heading(view: View) -> str:
    names = [option.name for option in view.game.options]
    options = ", ".join(f"{name} {_value(view.options[name])}" for name in names)
    return f"{view.game.title} for {view.players} players, deal {view.deal}; options: {options}."


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return "unlimited" if value is None else str(value)


def _turn(view: View) -> list[str]:
    if view.turn is None:
        return ["The game is over."]
    yours = view.turn == view.seat
    turn = "It is your turn" if yours else f"It is the turn of seat {view.turn}"
    seat = [] if view.seat is None else [f"You are seat {view.seat}."]
    return [*seat, f"{turn}; the phase is {view.phase}."]


def _seats(view: View, data: Mapping[str, Any]) -> Iterable[str]:
    for seat, (count, score) in enumerate(zip(view.counts, view.scores, strict=True)):
        you = " (you)" if seat == view.seat else ""
        dealer = ["dealer"] if seat == data["dealer"] else []
        facts = [f"score {score}", *dealer, *map(str, view.game.roles(data, seat))]
        yield f"- seat {seat}{you}: {count} cards, {', '.join(facts)}"


def _sides(game: Game, data: Mapping[str, Any]) -> str:
    if not game.teams:
        return "Every seat plays for itself."
    sides = game.sides(data, data["players"])
    if sides is None:
        return "The sides are not known yet."
    ours, others = (
        ", ".join(str(seat) for seat, of in enumerate(sides) if of == side) for side in (0, 1)
    )
    return f"Sides: seat {ours} against {others}."


def _hand(deck: Deck, cards: Sequence[str]) -> str:
    ranks = groupby(cards, key=lambda card: deck.number[card] // 4)
    return "; ".join(" ".join(of_rank) for _, of_rank in ranks) or "no cards"


def _fact(fact: Fact) -> str:
    seat = "" if fact.seat is None else f" (seat {fact.seat})"
    words = " ".join([*fact.cards, *([str(fact.value)] if fact.value else [])])
    return f"{fact.label[:1].upper()}{fact.label[1:]}{seat}: {words}."


def _history(moves: Iterable[tuple[int, str]]) -> list[str]:
    texts: dict[str, list[str]] = {}
    phase = "Auction"
    for seat, move in moves:
        kind = move.partition(":")[0]
        if kind != PASS:  # a pass belongs to the phase of the move before it
            phase = _PHASES.get(kind, "Plays")
        texts.setdefault(phase, []).append(f"seat {seat} {move}")
    return [f"{phase}: {'; '.join(phase_texts)}." for phase, phase_texts in texts.items()]


def _moves(moves: Iterable[Move]) -> list[str]:
    listed = list(moves)
    by_category: dict[str, list[int]] = {}
    for number, move in enumerate(listed):
        by_category.setdefault(move.category or move.kind, []).append(number)
    lines = [f"Legal moves ({len(listed)}), each with its number in the list:"]
    for category, numbers in by_category.items():
        texts = [f"[{number}] {listed[number].text}" for number in numbers[:SHOWN]]
        if len(numbers) > SHOWN:
            texts.append(f"and {len(numbers) - SHOWN} more")
        lines.append(f"- {category} ({len(numbers)}): {', '.join(texts)}")
    return lines if listed else []
