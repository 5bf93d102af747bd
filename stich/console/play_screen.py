"""What a person sees in `stich play`: the view of their own seat and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

import games
from games.game import JsonDict
from games.move import Move
from stich.console.cards import SUITS, cards, fact_text, move_text
from stich.console.menu import MoveGroup
from web.ui.moves import cards_of

MAX_SHOWN = 12
"""How many moves of a group are shown unless the person asks for all."""
_UNTITLED = ("pass", "bid")
"""Groups whose moves need no title before them."""

HELP = """\
[b]12[/b]         the move with that number
[b]3s3h[/b]       these cards; suits are c ♣, d ♦, h ♥, s ♠, jokers Bj (black) and Rj (red)
[b]bid:2[/b]      any move as bots write it: play:3s3h, pass, call:7h
[b]p[/b]          pass
[b]/run[/b]       moves of a kind; [b]/3s[/b] with that card; [b]/33[/b] with two threes
[b]/[/b]          all moves
[b]h[/b]          the moves of this deal so far
[b]?[/b]          this help
[b]q[/b]          quit, as do Ctrl-D and Ctrl-C
Enter alone shows the moves again, or makes the only legal move."""


def _choice(number: int, move: Move) -> Text:
    """A numbered move of the menu: `3) bid 3`, `2) 5♦ 10♣ K♦`."""
    shown = Text(f"{number}) ", style="cyan", no_wrap=True)
    if move.kind in _UNTITLED:
        return shown.append(move_text(move.text).plain, style="default")
    if move.kind == "trump":
        symbol, style = SUITS[move.text[-1]]
        return shown.append(symbol, style=style)
    shown.append_text(cards(cards_of(move.text)))
    suffix = move.text.partition("=")[2]
    return shown.append(f" {suffix}", style="dim") if suffix else shown


def menu(groups: Sequence[MoveGroup], limit: int | None = MAX_SHOWN) -> RenderableType:
    """Legal moves, one line per group; bids and passes share a line without a title."""
    untitled = [group for group in groups if group.title in _UNTITLED]
    grid = Table.grid(padding=(0, 2))
    if untitled:
        moves = {number: move for group in untitled for number, move in group.moves.items()}
        row = _row(MoveGroup(untitled[-1].title, dict(sorted(moves.items()))), limit)
        if len(untitled) == len(groups):
            return row
        grid.add_row("", row)
    for group in groups:
        if group not in untitled:
            grid.add_row(Text(group.title, style="bold"), _row(group, limit))
    return grid


def _row(group: MoveGroup, limit: int | None) -> RenderableType:
    numbered = list(group.moves.items())
    row = Columns([_choice(number, move) for number, move in numbered[:limit]], padding=(0, 3))
    more = max(0, len(numbered) - limit) if limit is not None else 0
    if not more:
        return row
    # On a line of its own: as a column it would be the widest and push the others apart.
    return Group(row, Text(f"and {more} more: /{group.title}", style="dim"))


def seats(view: JsonDict, names: Sequence[str]) -> Table:
    """A line per seat: its player, and what everybody may know of it."""
    game = games.get(view["game"])

    def roles(seat: int) -> str:
        return ", ".join(game.roles(view, seat) + ["to move"] * (view["turn"] == seat))

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    columns: list[tuple[str, Callable[[int], str]]] = [
        ("seat", str),
        ("who", lambda seat: names[seat]),
        ("cards", lambda seat: str(view["counts"][seat])),
        ("score", lambda seat: str(view["scores"][seat])),
        ("", roles),
    ]
    for title, _ in columns:
        table.add_column(title, justify="right" if title in ("cards", "score") else "left")
    for seat in range(view["players"]):
        style = "bold" if seat == view["seat"] else None
        table.add_row(*(Text(cell(seat)) for _, cell in columns), style=style)
    return table


def position(view: JsonDict, names: Sequence[str], title: str) -> RenderableType:
    """The whole position as one seat may see it."""
    grid = Table.grid(padding=(0, 2))
    for fact in games.get(view["game"]).facts(view):
        grid.add_row(Text(fact.label, style="dim"), fact_text(fact))
    grid.add_row(Text("your hand", style="dim"), cards(view["hand"]))
    heading = f"{title}, deal {view['deal']}, {view['phase']}"
    return Group(Rule(heading, align="left"), seats(view, names), "", grid)


def history(view: JsonDict, names: Sequence[str]) -> RenderableType:
    """The moves of this deal, as far as this seat may know them."""
    if not view["history"]:
        return Text("Nobody has moved in this deal.")
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
    return Group(Rule("result", align="left"), table)
