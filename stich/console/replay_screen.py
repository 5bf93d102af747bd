"""Show a replayed match on a terminal: hands, facts of the position, and moves."""

import click
from rich.console import Console
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

import games
from stich.console.card_text import cards, fact_text, move_text
from tournament.config.cup import Cup
from tournament.display.formatting import format_scores, info_text, signed
from tournament.display.replay import Step, post_mortem, steps
from tournament.records import MatchRecord

_NEXT = ("\r", "\n", " ", "n", "\x1b[C", "\x1b[B")
_BACK = ("b", "p", "\x7f", "\x1b[D", "\x1b[A")
_KEYS = "Enter next, b back, f next fault, e end, q leave"


def print_match(console: Console, record: MatchRecord, cup: Cup) -> None:
    """Print a whole match: the hands as dealt, one move per line, the final scores and all faults.

    Raises:
        ReplayError: if a move cannot be played. The moves before it have then been printed.
    """
    console.print(_title(record), soft_wrap=True)
    for step in steps(record, cup):
        dealt = step.before is None or step.before["deal"] != step.state["deal"]
        if step.move is not None or not dealt:
            console.print(_move(record, step), soft_wrap=True)
        if dealt:
            console.print(_position(record, step))
    console.print(_scores(record), soft_wrap=True)
    for fault in record.faults:
        console.print(Rule())
        console.print(Text(post_mortem(record, fault, cup)), soft_wrap=True)


def step_through(console: Console, record: MatchRecord, cup: Cup) -> None:
    """Show a match one step at a time on a terminal, until the user leaves.

    Raises:
        ReplayError: if a move cannot be played. Nothing has then been shown.
    """
    all_steps = list(steps(record, cup))
    at = 0
    while True:
        console.clear()
        step = all_steps[at]
        console.print(_title(record))
        console.print(_position(record, step))
        for past in all_steps[max(1, at - 7) : at + 1]:
            console.print(_move(record, past))
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


def _position(record: MatchRecord, step: Step) -> Table:
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


def _move(record: MatchRecord, step: Step) -> Text:
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
        line.append(f"  default move after {step.fault.kind}: {step.fault.detail}", style="red")
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
