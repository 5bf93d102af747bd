"""`stich matches`: the matches of a run, one line each."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from stich.commands import completion
from stich.commands.common import matches_argument, print_json, read_run, run_command
from tournament.text import plural

if TYPE_CHECKING:
    from tournament.records import MatchSummary


@click.command()
@matches_argument
@click.option("--json", "as_json", is_flag=True, help="Print JSON Lines, one line per match.")
@click.option("--faults", "faulty", is_flag=True, help="Only matches with a fault.")
@click.option(
    "--bot", metavar="NAME", shell_complete=completion.run_bots, help="Only matches of this bot."
)
@run_command
def matches(target: str, as_json: bool, faulty: bool, bot: str | None) -> int:
    """List the matches of a run.

    \b
    Example:
      stich matches runs/spring --faults --bot mine
    """
    from tournament.store.store import StoreError

    with read_run(target) as store:
        if bot is not None and bot not in store.get("bots", ()):
            raise StoreError(
                f"There is no bot {bot}; there are {', '.join(store.get('bots', ()))}."
            )
        found = _select(store.summaries(), faulty, bot)
        if as_json:
            for match in found:
                print_json(_match_dict(match))
        else:
            _print_matches(found)
    return 0


def _select(
    matches: Iterable[MatchSummary], faulty: bool, bot: str | None
) -> Iterator[MatchSummary]:
    for match in matches:
        if (bot is None or bot in match.seating) and (not faulty or any(map(sum, match.faults))):
            yield match


def _match_dict(match: MatchSummary) -> dict[str, Any]:
    from tournament.records import FaultKind

    return {
        "match": match.match,
        "block": match.block,
        "round": match.round,
        "stage": match.stage,
        "seating": match.seating,
        "scores": match.scores,
        "adjusted": match.adjusted,
        "deals": match.deals,
        "struck": match.struck,
        "faults": [dict(zip(map(str, FaultKind), counts, strict=True)) for counts in match.faults],
    }


def _print_matches(matches: Iterable[MatchSummary]) -> None:
    """Print one line per match as it is read, so that a long run needs no memory."""
    out = sys.stdout
    out.write("match             block  bots by seat, with their scores\n")
    for match in matches:
        seats = []
        for seat, bot in enumerate(match.seating):
            text = f"{bot} {match.adjusted[seat]:+d}"
            faults = sum(match.faults[seat])
            if seat in match.struck:
                text += " (struck out)"
            elif faults:
                text += f" ({plural(faults, 'fault')})"
            seats.append(text)
        stage = f" [{match.stage}]" if match.stage else ""
        out.write(f"{match.match}  {match.block:5d}  {', '.join(seats)}{stage}\n")
