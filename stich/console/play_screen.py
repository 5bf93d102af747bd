"""What a person sees of a game: the view of the own seat and nothing else, drawn with rich."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rich.columns import Columns
from rich.console import Group as Lines
from rich.console import RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from games.move import Move
from tournament.play.menu import Group, Listing, cards_of

JsonDict = Mapping[str, Any]

SUITS = {"c": ("♣", "green"), "d": ("♦", "blue"), "h": ("♥", "red"), "s": ("♠", "default")}
JOKERS = {"Bj": "bold", "Rj": "bold red"}
POINTS = {"5": 5, "T": 10, "K": 10}
SHOWN = 12
"""How many moves of one group are shown unless they are asked for."""
SPOKEN = ("pass", "bid")
"""Moves that are words by themselves: no title is put before them."""

HELP = """\
[b]12[/b]         the move of that number
[b]3s3h[/b]       these cards; suits are c ♣, d ♦, h ♥, s ♠, jokers Bj and Rj
[b]bid:2[/b]      any move as bots write it: play:3s3h, pass, call:7h
[b]p[/b]          pass
[b]/run[/b]       moves of a kind; [b]/3s[/b] with that card; [b]/33[/b] with two threes
[b]/[/b]          all moves
[b]h[/b]          what has been played in this deal
[b]?[/b]          this help
[b]q[/b]          leave; so do Ctrl-D and Ctrl-C
Enter alone shows the moves again, or makes the only one there is."""


def card(name: str) -> Text:
    """One card in its colour."""
    if name in JOKERS:
        return Text(name, style=JOKERS[name])
    if name[-1] not in SUITS:
        return Text(name, style="dim")
    symbol, style = SUITS[name[-1]]
    return Text(name[0].replace("T", "10") + symbol, style=style)


def cards(names: Sequence[str]) -> Text:
    """Some cards in a row."""
    return Text(" ").join(card(name) for name in names) if names else Text("none", style="dim")


def move_text(text: str) -> Text:
    """A move in a person's words, from its string: masked cards stay masked."""
    kind, _, rest = text.partition(":")
    if kind == "pass":
        return Text("pass")
    if kind == "bid":
        return Text(f"bid {rest}")
    if kind == "trump":
        symbol, style = SUITS[rest]
        return Text("trumps are ").append(symbol, style=style)
    words = {"play": "", "give": "give ", "discard": "lay away ", "call": "call "}
    shown = Text(words[kind]).append_text(cards(cards_of(text)))
    suffix = text.partition("=")[2]
    return shown.append(f" as {suffix}") if suffix else shown


def play_text(text: str, category: str | None) -> Text:
    """A move with its category, where that says more than the cards do."""
    shown = move_text(text)
    return shown.append(f" ({category})") if category not in (None, "card") else shown


def _choice(number: int, move: Move) -> Text:
    """A move on the menu, its number in front: `3) bid 3`, `2) 5♦ 10♣ K♦`."""
    shown = Text(f"{number}) ", style="cyan", no_wrap=True)
    if move.kind in SPOKEN:
        return shown.append(move_text(move.text).plain, style="default")
    if move.kind == "trump":
        symbol, style = SUITS[move.text[-1]]
        return shown.append(symbol, style=style)
    shown.append_text(cards(cards_of(move.text)))
    suffix = move.text.partition("=")[2]
    return shown.append(f" {suffix}", style="dim") if suffix else shown


def menu(listing: Listing, limit: int | None = SHOWN) -> RenderableType:
    """Legal moves, a line of them for each group; an auction is one line."""
    spoken = [group for group in listing.groups if group.title in SPOKEN]
    if spoken:
        said = {number: move for group in spoken for number, move in group.moves.items()}
        row = _row(Group(spoken[-1].title, dict(sorted(said.items()))), limit)
        if len(spoken) == len(listing.groups):
            return row
    grid = Table.grid(padding=(0, 2))
    if spoken:
        grid.add_row("", row)
    for group in listing.groups:
        if group not in spoken:
            grid.add_row(Text(group.title, style="bold"), _row(group, limit))
    return grid


def _row(group: Group, limit: int | None) -> RenderableType:
    numbered = list(group.moves.items())
    row = Columns([_choice(number, move) for number, move in numbered[:limit]], padding=(0, 3))
    more = max(0, len(numbered) - limit) if limit is not None else 0
    if not more:
        return row
    # On a line of its own: as one more column it would be the widest, and push the others apart.
    return Lines(row, Text(f"and {more} more: /{group.title}", style="dim"))


def seats(view: JsonDict, names: Sequence[str]) -> Table:
    """Who sits where, and what all may know of each."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    columns: list[tuple[str, Callable[[int], str]]] = [
        ("seat", str),
        ("who", lambda seat: names[seat]),
        ("cards", lambda seat: str(view["counts"][seat])),
        ("score", lambda seat: str(view["scores"][seat])),
        ("", lambda seat: ", ".join(_roles(view, seat))),
    ]
    for title, _ in columns:
        table.add_column(title, justify="right" if title in ("cards", "score") else "left")
    for seat in range(view["players"]):
        style = "bold" if seat == view["seat"] else None
        table.add_row(*(Text(tell(seat)) for _, tell in columns), style=style)
    return table


def _roles(view: JsonDict, seat: int) -> list[str]:
    """What is special about a seat, from the public fields of any game."""
    roles = []
    if view.get("declarer") == seat:
        roles.append(f"declarer at {view['bid']}")
    if view.get("partner") == seat:
        roles.append("partner")
    if "targets" in view:
        roles.append(f"{view['tricks'][seat]} of {view['targets'][seat]} tricks")
    if "taken" in view:
        points = sum(POINTS.get(name[0], 0) for name in view["taken"][seat])
        roles.append(f"{points} points taken")
    if seat in view.get("out", []):
        roles.append("out")
    if view["turn"] == seat:
        roles.append("to move")
    return roles


def _facts(view: JsonDict) -> list[tuple[str, Text]]:
    """What lies on the table, whatever the game."""
    facts: list[tuple[str, Text]] = []
    if view.get("exposed"):
        shown = card(view["exposed"]).append(f", drawn by seat {view['first']}")
        facts.append(("turned up", shown))
    if view.get("talon"):
        facts.append(("talon", cards(view["talon"])))
    if view.get("discards"):
        facts.append(("laid away", cards(view["discards"])))
    if view.get("called"):
        facts.append(("called", card(view["called"])))
    if view.get("doublings"):
        facts.append(("doublings", Text(str(view["doublings"]))))
    if view.get("trump"):
        symbol, style = SUITS[view["trump"]]
        facts.append(("trumps", Text(symbol, style=style)))
    facts += [
        (
            "to give",
            Text(f"seat {pairing['giver']} to seat {pairing['debtor']}: {pairing['count']}"),
        )
        for pairing in view.get("owed", [])
    ]
    if view.get("table"):
        play = view["table"]
        shown = Text(f"seat {play['seat']}: ")
        facts.append(("to beat", shown.append_text(play_text(play["move"], play["category"]))))
    elif view["phase"] == "play" and isinstance(view.get("targets"), list):
        facts += [
            ("trick", Text(f"seat {entry['seat']}: ").append_text(move_text(entry["move"])))
            for entry in view["trick"]
        ]
    return facts


def position(view: JsonDict, names: Sequence[str], title: str) -> RenderableType:
    """The whole position as one seat may see it."""
    grid = Table.grid(padding=(0, 2))
    for label, text in _facts(view):
        grid.add_row(Text(label, style="dim"), text)
    grid.add_row(Text("your hand", style="dim"), cards(view["hand"]))
    heading = f"{title}, deal {view['deal']}, {view['phase']}"
    return Lines(Rule(heading, align="left"), seats(view, names), "", grid)


def history(view: JsonDict, names: Sequence[str]) -> RenderableType:
    """What has been played in this deal, as this seat may know it."""
    if not view["history"]:
        return Text("Nothing has been played in this deal.")
    grid = Table.grid(padding=(0, 2))
    for number, entry in enumerate(view["history"], start=1):
        name = Text(names[entry["seat"]])
        grid.add_row(Text(str(number), style="dim"), name, move_text(entry["move"]))
    return grid


def result(entry: JsonDict, names: Sequence[str]) -> RenderableType:
    """How a deal ended."""
    changes = ", ".join(
        f"{name} {change:+d}" for name, change in zip(names, entry["scores"], strict=True)
    )
    return Text(f"Deal {entry['deal']} is over: {changes}.", style="bold")


def totals(names: Sequence[str], scores: Sequence[int]) -> RenderableType:
    """The totals at the end of a game."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), show_header=False)
    for name, score in zip(names, scores, strict=True):
        table.add_row(Text(name), str(score))
    return Lines(Rule("result", align="left"), table)
