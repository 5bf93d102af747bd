"""The screen of `stich play`: the view of the user's seat, and the moves that the user types."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

import games
from games import View
from games.errors import IllegalMove
from games.game import JsonDict
from games.move import Move
from stich.console.card_text import cards, fact_text, move_text
from tournament.display.replay import VERBS

MAX_SHOWN = 12
"""The number of moves of a group that are shown unless the user asks for all."""
MoveGroups = Mapping[str, Mapping[int, Move]]
"""For each category of plays or kind of other moves, the moves by their numbers in the menu."""
_UNTITLED = ("pass", "bid")
"""Groups that are shown without a title, because their moves explain themselves."""
_CARDS = re.compile(r"(?:[2-9tjqka][cdhs]|[br]j)+", re.IGNORECASE)

HELP = """\
[b]12[/b]         the move with that number
[b]3s3h[/b]       these cards; suits are c ♣, d ♦, h ♥, s ♠, jokers Bj (black) and Rj (red)
[b]bid:2[/b]      any move as bots write it: play:3s3h, pass, call:7h
[b]p[/b]          pass
[b]/run[/b]       all moves of a kind
[b]/[/b]          all moves
[b]?[/b]          this help
[b]q[/b]          quit, as do Ctrl-D and Ctrl-C
Enter alone shows the moves again, or makes the only legal move."""


class InputError(ValueError):
    """The user's input cannot be used. The message is a sentence for the user."""


def groups(moves: Iterable[Move], kind: str = "") -> MoveGroups:
    """Return the moves grouped by category, or by kind if they have no category. The key of a move
    in its group is its number in `moves`, from 1. Groups are left out if their names do not begin
    with `kind`, ignoring its case.

    Raises:
        InputError: if no group is left.
    """
    by_title: dict[str, dict[int, Move]] = {}
    for number, move in enumerate(moves, start=1):
        title = move.category or move.kind
        if title.startswith(kind.lower()):
            by_title.setdefault(title, {})[number] = move
    if not by_title:
        raise InputError(f"There are no legal moves of the kind {kind!r}.")
    return by_title


def choose(view: View, text: str) -> Move:
    """Return the legal move that the user has typed: a number from 1, the wire form or cards.

    Cards alone, such as "3s3h", are played or, depending on the phase, given, discarded or called.
    A legal move is accepted even if it is not in the view's list of moves.

    Raises:
        InputError: if the text is not exactly one legal move.
    """
    typed = "".join(text.split())
    if typed.isascii() and typed.isdigit():
        moves = view.moves()
        # int() refuses very long strings of digits, and no list has a billion moves.
        if len(typed) <= 9 and 1 <= int(typed) <= len(moves):
            return moves[int(typed) - 1]
        raise InputError(f"The moves are numbered 1 to {len(moves)}; type cards with their suits.")
    plain = typed.replace("10", "T")
    if _CARDS.fullmatch(plain):
        names = (plain[i].upper() + plain[i + 1].lower() for i in range(0, len(plain), 2))
        typed = f"{VERBS.get(view.phase, 'play')}:{''.join(names)}"
    try:
        return view.check(typed)
    except IllegalMove as error:
        raise InputError(error.detail) from error


def menu(groups: MoveGroups, limit: int | None = MAX_SHOWN) -> RenderableType:
    """Return a menu of the legal moves, with a line for each group. The line has up to `limit`
    moves of the group, or all if `limit` is None."""
    grid = Table.grid(padding=(0, 2))
    for title, moves in groups.items():
        numbered = [
            Text.assemble((f"{number}) ", "cyan"), move_text(move.text), no_wrap=True)
            for number, move in islice(moves.items(), limit)
        ]
        row: RenderableType = Columns(numbered, padding=(0, 3))
        if limit is not None and len(moves) > limit:
            # A separate line, because as a column it would be the widest, and widen all columns.
            row = Group(row, Text(f"and {len(moves) - limit} more: /{title}", style="dim"))
        grid.add_row(Text("" if title in _UNTITLED else title, style="bold"), row)
    return grid


def position(view: JsonDict, names: Sequence[str], title: str) -> RenderableType:
    """Return the position in a seat's `view`, which is in wire form, as text under a heading that
    begins with `title`. `names` are the names of the players by seat."""
    game = games.get(view["game"])
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in ("seat", "who", "cards", "score", ""):
        table.add_column(column, justify="right" if column in ("cards", "score") else "left")
    for seat in range(view["players"]):
        roles = ", ".join(
            [*map(str, game.roles(view, seat)), *["to move"] * (view["turn"] == seat)]
        )
        cells = (seat, names[seat], view["counts"][seat], view["scores"][seat], roles)
        style = "bold" if seat == view["seat"] else None
        table.add_row(*(Text(str(cell)) for cell in cells), style=style)
    grid = Table.grid(padding=(0, 2))
    for fact in game.facts(view):
        grid.add_row(Text(fact.label, style="dim"), fact_text(fact))
    grid.add_row(Text("your hand", style="dim"), cards(view["hand"]))
    heading = f"{title}, deal {view['deal']}, {view['phase']}"
    return Group(Rule(heading, align="left"), table, "", grid)
