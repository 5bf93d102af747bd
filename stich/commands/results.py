"""`stich standings`, `matches`, `replay`, `verify` and `integrity`: the results of a run."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import click
from rich.progress import track

from stich.commands.common import command, json_option, print_json
from stich.commands.runs import is_file, matches_argument, open_lines, open_run, read_run
from stich.console.replay_screen import print_match, step_through
from stich.console.result_tables import integrity_table, make_console, print_table
from tournament.display.formatting import FLAG_RULE, format_flag, signed
from tournament.display.post_mortem import post_mortem
from tournament.display.replay import to_dict
from tournament.records import FaultKind, MatchSummary
from tournament.results.exported_rows import ExportedRows
from tournament.results.info_sums import info_sums
from tournament.results.integrity import integrity as find_leniency
from tournament.results.match_file import MatchFile
from tournament.results.reading import RunReader
from tournament.results.receipts import parse_receipt, read_receipts
from tournament.results.standings import standings as compute_standings
from tournament.results.verify import Mismatch, Watch, verify_matches
from tournament.results.verify import verify as verify_run
from tournament.settings.locations import short
from tournament.store.chain import Digest
from tournament.store.store import StoreError
from tournament.text import plural


@command
@matches_argument
@json_option
@click.option("--info", is_flag=True, help="Add up the numbers that bots gave beside their moves.")
def standings(target: str, as_json: bool, info: bool) -> None:
    """Print the standings of a run, or of a file.

    DIR is the folder of a run, or the URL of its database. FILE has the matches of
    `stich export --format matches` or the rows of `stich export --format jsonl`, from this program
    or another; - reads standard input.

    \b
    Examples:
      stich standings runs/spring --json
      stich standings spring.jsonl
    """
    with ExitStack() as stack:
        reader: RunReader | ExportedRows
        if is_file(target):
            name, lines = stack.enter_context(open_lines(target))
            first = next(lines, b"")
            lines = chain([first], lines)
            if b'"moves"' in first or b'"stich-match/' in first:
                reader = MatchFile(lines, name)
            elif info:
                raise click.UsageError(
                    "--info needs a run or matches: rows of seats have no moves."
                )
            else:
                reader = ExportedRows(lines, name)
        else:
            reader = stack.enter_context(read_run(target))
        run = reader.run()
        table = compute_standings(reader)
        moves = None if isinstance(reader, ExportedRows) or not info else reader.matches()
        sums = None if moves is None else info_sums(moves)
    if as_json:
        more = {} if sums is None else {"info": [asdict(one) for one in sums]}
        print_json({**table.to_dict(), **more})
    else:
        print_table(make_console(), table, run, sums)


@command
@matches_argument
@click.option("--json", "as_json", is_flag=True, help="Print JSON Lines, one line per match.")
@click.option("--faults", "faulty", is_flag=True, help="Only matches in which a bot got a fault.")
@click.option("--bot", metavar="NAME", help="Only matches of this bot.")
def matches(target: str, as_json: bool, faulty: bool, bot: str | None) -> None:
    """List the matches of a run.

    \b
    Example:
      stich matches runs/spring --faults --bot mine
    """
    with read_run(target) as store:
        bots = store.run().cup.names
        if bot is not None and bot not in bots:
            raise StoreError(f"There is no bot {bot}; there are {', '.join(bots)}.")
        if not as_json:
            sys.stdout.write("match             block  bots by seat, with their scores\n")
        for match in store.summaries():
            if bot not in (None, *match.seating) or (faulty and not any(map(sum, match.faults))):
                continue
            if as_json:
                print_json(_match_dict(match))
            else:
                sys.stdout.write(_match_line(match))


_FIELDS = ["match", "block", "round", "stage", "seating", "scores", "adjusted", "deals", "struck"]


def _match_dict(match: MatchSummary) -> dict[str, object]:
    faults = [dict(zip(map(str, FaultKind), counts, strict=True)) for counts in match.faults]
    return {**{name: getattr(match, name) for name in _FIELDS}, "faults": faults}


def _match_line(match: MatchSummary) -> str:
    seats = []
    for seat, bot in enumerate(match.seating):
        text = f"{bot} {signed(match.adjusted[seat])}"
        if seat in match.struck:
            text += " (struck out)"
        elif faults := sum(match.faults[seat]):
            text += f" ({plural(faults, 'fault')})"
        seats.append(text)
    stage = f" [{match.stage}]" if match.stage else ""
    return f"{match.match}  {match.block:5d}  {', '.join(seats)}{stage}\n"


@command
@matches_argument
@click.argument("match", metavar="MATCH")
@json_option
@click.option("--faults", is_flag=True, help="Show only the post-mortem of each fault.")
def replay(target: str, match: str, as_json: bool, faults: bool) -> None:
    """Step through a match with all hands open. MATCH is its id or the beginning of it.

    \b
    Examples:
      stich replay runs/spring 7eb97a
      stich replay runs/spring 7eb97a --faults
    """
    with read_run(target) as store:
        record, cup = store.match(match), store.run().cup
    console = make_console()
    if as_json:
        print_json(to_dict(record, cup))
    elif faults:
        shown = [post_mortem(record, fault, cup) for fault in record.faults]
        click.echo("\n\n".join(shown) or "There was no fault in this match.")
    elif console.is_terminal:
        step_through(console, record, cup)
    else:
        print_match(console, record, cup)


def _watch(what: str, store: RunReader) -> Watch:
    """Return a function that passes matches on and, on a terminal, shows their progress as a
    bar."""
    console = make_console(stderr=True)
    more: Any = {"total": store.count(), "console": console, "disable": not console.is_terminal}
    return partial(track, description=what, **more)


def _receipts(ctx: click.Context, param: click.Parameter, given: Sequence[str]) -> list[Digest]:
    """Convert receipts, and files of receipts, to digests."""
    return [receipt for text in given for receipt in _receipt(text)]


def _receipt(text: str) -> list[Digest]:
    try:
        return [parse_receipt(text)]
    except ValueError:
        found = read_receipts(Path(text))
    if not found:
        raise click.BadParameter(
            f"{short(text)}: is neither a receipt nor a file of receipts; write a number, a colon"
            " and 64 hexadecimal digits, as `stich connect` keeps them, or name its file."
        )
    return found


@command
@matches_argument
@json_option
@click.option("--key", metavar="HEX", help="The public key that must have signed the run.")
@click.option(
    "--receipt",
    "receipts",
    multiple=True,
    metavar="N:HEX|FILE",
    callback=_receipts,
    help="A receipt from while the run was played, or a file of receipts. Can be repeated.",
)
def verify(target: str, as_json: bool, key: str | None, receipts: tuple[Digest, ...]) -> int:
    """Recompute every deal, move and score of a run from its store alone, or of a file of matches.
    Of a published folder, check every file.

    Exits with 1 if anything does not match.

    \b
    Examples:
      stich verify runs/spring
      stich verify spring --receipt ~/.local/state/stich/receipts/1f0c9a7d52e84b36
      stich verify spring.jsonl
    """
    what = "Verifying"
    if is_file(target):
        if receipts:
            raise click.UsageError("--receipt needs a run: a file of matches has no entries.")
        with read_run(target, any_moves=True) as file:
            total, found = file.run().total, verify_matches(file, _watch(what, file))
    else:
        with open_run(target) as run, run.snapshot() as store:
            total, found = store.run().total, verify_run(store, _watch(what, store), receipts)
    if key is not None and found.signer != key.lower():
        signer = found.signer or "nobody: a file of matches has no signature"
        found.mismatches.append(Mismatch(None, f"The key is not {key}; the signer is {signer}."))
    if as_json:
        print_json(found.to_dict())
        return int(not found.verified)
    for mismatch in found.mismatches:
        click.echo(f"{mismatch.match or 'run'}: {mismatch.detail}")
    differing = len(found.mismatches)
    click.echo(
        f"{plural(found.matches, 'match', 'matches')} of {plural(found.blocks, 'block')},"
        f" {plural(found.deals, 'deal')} and {plural(found.moves, 'move')} recomputed: "
        + ("all agree." if found.verified else f"{plural(differing, 'mismatch', 'mismatches')}.")
    )
    for incident in found.incidents:
        click.echo(incident)
    if not found.finished:
        click.echo(
            f"The run is not finished: {found.matches} of {plural(total or 0, 'match', 'matches')}."
        )
    if receipts and found.verified:
        click.echo(f"The run passes through {plural(len(receipts), 'receipt')}.")
    if found.commitment is not None:
        matching = "matches" if found.commitment else "does NOT match"
        click.echo(f"The seed {matching} the commitment.")
    return int(not found.verified)


@command
@matches_argument
@json_option
def integrity(target: str, as_json: bool) -> None:
    """Look for bots that go easy on each other in a climbing game.

    Compares how often each bot beats another's plays, when it legally can, with how often it beats
    the plays of others in similar positions. A flag is a question, not a verdict.

    \b
    Example:
      stich integrity runs/spring
    """
    with read_run(target) as store:
        found = find_leniency(_watch("Replaying", store)(store.matches()), store.run().authors)
    if as_json:
        print_json(found.to_dict())
    elif not found.chances:
        click.echo("No bot could beat another's play: only climbing games are compared.")
    else:
        make_console().print(integrity_table(found))
        for flag in found.flags:
            click.echo(f"{format_flag(flag)} Look at: {', '.join(flag.matches)}")
        if not found.flags:
            click.echo("No two bots seem to go easy on each other.")
        click.echo(FLAG_RULE)
