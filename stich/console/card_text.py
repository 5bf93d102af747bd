"""Cards, moves and facts as coloured text for people."""

from collections.abc import Sequence

from rich.text import Text

from games import Fact
from tournament.display.replay import cards_of
from tournament.text import plural

SUITS = {"c": ("♣", "green"), "d": ("♦", "blue"), "h": ("♥", "red"), "s": ("♠", "default")}
JOKERS = {"Bj": ("black-joker", "bold"), "Rj": ("red-joker", "bold red")}
_HIDDEN = "??"


def card(name: str) -> Text:
    """Return a card as coloured text: its rank with the symbol of its suit, or the name of the
    joker. The card must not be hidden ("??")."""
    if name in JOKERS:
        return Text(*JOKERS[name])
    symbol, style = SUITS[name[-1]]
    return Text(name[0].replace("T", "10") + symbol, style=style)


def cards(names: Sequence[str]) -> Text:
    """Return cards as text: the visible cards, then the number of hidden cards ("??"), if any. If
    there are no cards, the text is "none"."""
    if not names:
        return Text("none", style="dim")
    shown = [card(name) for name in names if name != _HIDDEN]
    if hidden := list(names).count(_HIDDEN):
        shown.append(Text(plural(hidden, "hidden card"), style="dim"))
    return Text(" ").join(shown)


def move_text(text: str) -> Text:
    """Return a move in wire form, such as "play:3s3h", as text. Of hidden cards, only the
    number is shown."""
    kind, _, rest = text.partition(":")
    if kind == "pass":
        return Text("pass")
    if kind == "bid":
        return Text(f"bid {rest}")
    if kind == "trump":
        symbol, style = SUITS[rest]
        return Text("trumps are ").append(symbol, style=style)
    verb = "" if kind == "play" else f"{kind} "
    shown = Text(verb).append_text(cards(cards_of(text)))
    suffix = text.partition("=")[2]
    return shown.append(f" as {suffix}") if suffix else shown


def fact_text(fact: Fact) -> Text:
    """Return a fact of a position as text without its label, such as "seat 0: K♦ (single)"."""
    shown = Text("" if fact.seat is None else f"seat {fact.seat}: ")
    if not fact.cards:
        return shown.append(str(fact.value))
    shown.append_text(cards(fact.cards))
    return shown.append(f" ({fact.value})") if fact.value else shown
