"""The screens of `stich play` and `stich replay`: cards, moves, positions and whole matches."""

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice

import click
from rich.columns import Columns
from rich.console import Console, Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

import games
from games import Fact, View
from games.errors import IllegalMove
from games.game import JsonDict
from games.move import Move
from tournament.config.cup import Cup
from tournament.display.formatting import format_scores, info_text, signed
from tournament.display.replay import VERBS, Step, cards_of, post_mortem, steps
from tournament.records import MatchRecord
from tournament.text import plural, printable

_SUITS = {"c": ("♣", "green"), "d": ("♦", "blue"), "h": ("♥", "red"), "s": ("♠", "default")}
_JOKERS = {"Bj": ("black-joker", "bold"), "Rj": ("red-joker", "bold red")}
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

_NEXT = ("\r", "\n", " ", "n", "\x1b[C", "\x1b[B")
_BACK = ("b", "p", "\x7f", "\x1b[D", "\x1b[A")
_KEYS = "Enter next, b back, f next fault, e end, q leave"


def card(name: str) -> Text:
    """Return a card as coloured text: its rank with the symbol of its suit, or the name of the
    joker. The card must not be hidden ("??")."""
    if name in _JOKERS:
        return Text(*_JOKERS[name])
    symbol, style = _SUITS[name[-1]]
    return Text(name[0].replace("T", "10") + symbol, style=style)


def cards(names: Sequence[str]) -> Text:
    """Return cards as text: the visible cards, then the number of hidden cards ("??"), if any. If
    there are no cards, the text is "none"."""
    if not names:
        return Text("none", style="dim")
    shown = [card(name) for name in names if name != "??"]
    if hidden := list(names).count("??"):
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
        symbol, style = _SUITS[rest]
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


def print_match(console: Console, record: MatchRecord, cup: Cup) -> None:
    """Print a whole match: the hands as dealt, one move per line, the final scores and all faults.

    Raises:
        ReplayError: if a move cannot be played. The moves before it have then been printed.
        games.OptionError, games.UnknownGame: if the match cannot be started.
    """
    console.print(_title(record), soft_wrap=True)
    for step in steps(record, cup):
        dealt = step.before is None or step.before["deal"] != step.state["deal"]
        if step.move is not None or not dealt:
            console.print(_move_line(record, step), soft_wrap=True)
        if dealt:
            console.print(_open_hands(record, step))
    console.print(_scores(record), soft_wrap=True)
    for fault in record.faults:
        console.print(Rule())
        console.print(Text(post_mortem(record, fault, cup)), soft_wrap=True)


def step_through(console: Console, record: MatchRecord, cup: Cup) -> None:
    """Show a match one step at a time on a terminal, until the user leaves.

    Raises:
        ReplayError: if a move cannot be played. Nothing has then been shown.
        games.OptionError, games.UnknownGame: if the match cannot be started.
    """
    all_steps = list(steps(record, cup))
    at = 0
    while True:
        console.clear()
        step = all_steps[at]
        console.print(_title(record))
        console.print(_open_hands(record, step))
        for past in all_steps[max(1, at - 7) : at + 1]:
            console.print(_move_line(record, past))
        if step.fault is not None:
            console.print(Text(post_mortem(record, step.fault, cup), style="red"))
        if step is all_steps[-1]:
            console.print(_scores(record))
        console.print(Rule(f"move {at} of {len(all_steps) - 1}: {_KEYS}", style="dim"))
        try:
            key = click.getchar()
        except (EOFError, KeyboardInterrupt):
            return
        if key in ("q", "\x03", "\x04", "\x1b"):
            return
        if key in _NEXT:
            at = min(at + 1, len(all_steps) - 1)
        elif key in _BACK:
            at = max(at - 1, 0)
        elif key == "f":
            at = next((step.number for step in all_steps[at + 1 :] if step.fault), at)
        elif key == "e":
            at = len(all_steps) - 1


def _title(record: MatchRecord) -> Text:
    stage = f", {record.stage}" if record.stage else ""
    return Text(
        f"match {record.match}: {record.game}, block {record.block}{stage},"
        f" seating {record.number + 1} of {record.seatings}, seed {record.seed}",
        style="bold",
    )


def _open_hands(record: MatchRecord, step: Step) -> Table:
    game, state = games.get(record.game), step.state
    shown = Table(box=None, pad_edge=False)
    position = f"deal {state['deal']}, {state['phase']}"
    for heading in ("", "seat", "bot", "score", "bank", position):
        shown.add_column(heading, justify="right" if heading in ("score", "bank") else "left")
    for seat, hand in enumerate(state["hands"]):
        roles = ", ".join(map(str, game.roles(state, seat)))
        shown.add_row(
            "▶" if state["turn"] == seat else "",
            str(seat),
            Text(record.seating[seat] + (f" ({roles})" if roles else "")),
            signed(state["scores"][seat]),
            f"{step.banks[seat] / 1000:.1f} s",
            cards(hand),
        )
    for fact in game.facts(state):
        shown.add_row("", "", fact.label, "", "", fact_text(fact))
    return shown


def _move_line(record: MatchRecord, step: Step) -> Text:
    if step.seat is None or step.move is None:
        return Text("the cards are dealt", style="dim")
    line = Text(f"{step.number:4d}  {record.seating[step.seat]} ", style="")
    line.append_text(move_text(step.move))
    if step.forced:
        line.append("  the only legal move", style="dim")
    elif step.ms is None:
        line.append("  default move, the bot is struck out", style="red")
    else:
        line.append(f"  {step.ms:.1f} ms", style="dim")
    if step.fault is not None:
        why = printable(step.fault.detail)
        line.append(f"  default move after {step.fault.kind}: {why}", style="red")
    if info := info_text(step.info, step.fallback):
        line.append(f"\n        {info}", style="italic")
    return line


def _scores(record: MatchRecord) -> Text:
    text = f"Final scores: {format_scores(record.seating, record.scores)}"
    if record.struck:
        counts = ", ".join(
            f"{record.seating[seat]} counts {signed(record.adjusted[seat])}"
            for seat in record.struck
        )
        text += f"; struck out: {counts}"
    return Text(text, style="bold")
