"""Cards, moves and facts in a person's words, coloured."""

from collections.abc import Sequence

from rich.text import Text

from games import Fact
from tournament.display.replay import cards_of
from tournament.text import plural

SUITS = {"c": ("♣", "green"), "d": ("♦", "blue"), "h": ("♥", "red"), "s": ("♠", "default")}
JOKERS = {"Bj": ("black-joker", "bold"), "Rj": ("red-joker", "bold red")}
_HIDDEN = "??"


def card(name: str) -> Text:
    """One card in its colour."""
    if name in JOKERS:
        return Text(*JOKERS[name])
    symbol, style = SUITS[name[-1]]
    return Text(name[0].replace("T", "10") + symbol, style=style)


def cards(names: Sequence[str]) -> Text:
    """The visible cards in a row, then the number of hidden ones."""
    if not names:
        return Text("none", style="dim")
    shown = [card(name) for name in names if name != _HIDDEN]
    if hidden := list(names).count(_HIDDEN):
        shown.append(Text(plural(hidden, "hidden card"), style="dim"))
    return Text(" ").join(shown)


def move_text(text: str) -> Text:
    """A move, from its string. Masked cards are counted."""
    kind, _, rest = text.partition(":")
    if kind == "pass":
        return Text("pass")
    if kind == "bid":
        return Text(f"bid {rest}")
    if kind == "trump":
        symbol, style = SUITS[rest]
        return Text("trumps are ").append(symbol, style=style)
    words = {"play": "", "give": "give ", "discard": "discard ", "call": "call "}
    shown = Text(words[kind]).append_text(cards(cards_of(text)))
    suffix = text.partition("=")[2]
    return shown.append(f" as {suffix}") if suffix else shown


def play_text(text: str, category: str | None) -> Text:
    """A move with its category, unless the cards alone make it clear."""
    shown = move_text(text)
    return shown.append(f" ({category})") if category not in (None, "card") else shown


def fact_text(fact: Fact) -> Text:
    """A fact of a position, without its label: `seat 0: K♦ (single)`."""
    shown = Text("" if fact.seat is None else f"seat {fact.seat}: ")
    if not fact.cards:
        return shown.append(str(fact.value))
    shown.append_text(cards(fact.cards))
    return shown.append(f" ({fact.value})") if fact.value else shown
