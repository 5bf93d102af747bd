"""`stich standings`, `matches`, `replay`, `verify` and `integrity`: show and check results."""

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict
from itertools import chain
from pathlib import Path

import click

from stich.commands import option, runs
from stich.commands.common import command, print_json
from stich.console.progress import progress_bar
from stich.console.result_tables import integrity_table, make_console, print_table
from stich.console.screens import print_match, step_through
from tournament.display.formatting import FLAG_RULE, format_flag, signed
from tournament.display.replay import post_mortem, to_dict
from tournament.records import FaultKind, MatchSummary
from tournament.results.files.exported_rows import ExportedRows
from tournament.results.files.match_file import MatchFile
from tournament.results.info_sums import info_sums
from tournament.results.integrity import integrity as find_leniency
from tournament.results.standings import standings as compute_standings
from tournament.results.verify import Mismatch, verify_matches
from tournament.results.verify import verify as verify_run
from tournament.store.chain import Digest, parse_receipt, read_receipts
from tournament.store.engine import RESTORE, StoreError
from tournament.store.run_reader import RunReader
from tournament.text import plural, printable, printable_lines, short

_FIELDS = ("match", "block", "round", "stage", "seating", "scores", "adjusted", "deals", "struck")


@command
@runs.matches_argument
@option.json_output
@option.flag("--info", help="Add sums of the numbers that bots sent with their moves.")
def standings(target: str, as_json: bool, info: bool) -> None:
    """Print the standings of a run, or of a file.

    DIR is the folder of a run, or the URL of its database. FILE has matches, as written by
    `stich export --format matches`, or rows, as written by `stich export --format jsonl`. Other
    programs may write such files too. With - as FILE, standard input is read.

    \b
    Examples:
      stich standings runs/spring --json
      stich standings spring.jsonl
    """
    with ExitStack() as stack:
        reader: RunReader | ExportedRows
        if runs.is_file(target):
            name, lines = stack.enter_context(runs.open_lines(target))
            first = next(lines, b"")
            lines = chain([first], lines)
            has_moves = b'"moves"' in first or b'"stich-match/' in first
            reader = MatchFile(lines, name) if has_moves else ExportedRows(lines, name)
        else:
            reader = stack.enter_context(runs.read_run(target))
        run, table, sums = reader.run(), compute_standings(reader), None
        if info:
            if isinstance(reader, ExportedRows):
                raise click.UsageError("--info needs a run or matches: rows have no moves.")
            sums = info_sums(reader.matches())
    if as_json:
        info_rows = {} if sums is None else {"info": [asdict(line) for line in sums]}
        print_json({**table.to_dict(), **info_rows})
    else:
        print_table(table, run, sums)


@command
@runs.matches_argument
@option.flag("--json", "as_json", help="Print JSON Lines, one line per match.")
@option.flag("--faults", "faulty", help="List only matches in which a bot had a fault.")
@click.option("--bot", metavar="NAME", help="List only matches of this bot.")
def matches(target: str, as_json: bool, faulty: bool, bot: str | None) -> None:
    """List the finished matches of a run.

    \b
    Example:
      stich matches runs/spring --faults --bot mine
    """
    with runs.read_run(target) as store:
        if bot is not None:
            runs.check_name(bot, store.run())
        if not as_json:
            sys.stdout.write("match             block  bots by seat, with their scores\n")
        listed = False
        for match in store.summaries():
            if bot not in (None, *match.seating) or (faulty and not any(map(sum, match.faults))):
                continue
            listed = True
            if as_json:
                faults = [dict(zip(FaultKind, counts, strict=True)) for counts in match.faults]
                print_json({name: getattr(match, name) for name in _FIELDS} | {"faults": faults})
            else:
                sys.stdout.write(_match_line(match))
        if not (listed or as_json):
            sys.stdout.write("There is no such match.\n")


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
    return printable(f"{match.match}  {match.block:5d}  {', '.join(seats)}{stage}") + "\n"


@command
@runs.matches_argument
@click.argument("match", metavar="MATCH")
@option.json_output
@option.flag("--faults", help="Show only the post-mortem of each fault.")
def replay(target: str, match: str, as_json: bool, faults: bool) -> None:
    """Step through a match with all hands open. MATCH is its id, or the beginning of the id.
    Prints the whole match if standard output is not a terminal.

    \b
    Examples:
      stich replay runs/spring 7eb97a
      stich replay runs/spring 7eb97a --faults
    """
    with runs.read_run(target) as store:
        record, cup = store.match(match), store.run().cup
        if not set(cup.names).issuperset(record.seating):
            raise StoreError(
                f"{store.where}: is damaged (match {match} has other bots); {RESTORE}."
            )
    console = make_console()
    if as_json:
        print_json(to_dict(record, cup))
    elif faults:
        shown = [post_mortem(record, fault, cup) for fault in record.faults]
        click.echo(printable_lines("\n\n".join(shown)) or "There was no fault in this match.")
    elif console.is_terminal:
        step_through(console, record, cup)
    else:
        print_match(console, record, cup)


def _receipts(ctx: click.Context, param: click.Parameter, texts: Sequence[str]) -> list[Digest]:
    receipts: list[Digest] = []
    for text in texts:
        try:
            receipts.append(parse_receipt(text))
        except ValueError:
            if not (in_file := read_receipts(Path(text))):
                raise click.BadParameter(
                    f"{short(text)}: is neither a receipt nor a file of receipts; write a number, a"
                    " colon and 64 hexadecimal digits, as `stich connect` keeps them, or name its"
                    " file."
                ) from None
            receipts += in_file
    return receipts


@command
@runs.matches_argument
@option.json_output
@click.option("--key", metavar="HEX", help="The public key that must have signed the run.")
@click.option(
    "--receipt",
    "receipts",
    multiple=True,
    metavar="N:HEX|FILE",
    callback=_receipts,
    help="A receipt from the time when the run was played, or a file of receipts. Can be repeated.",
)
def verify(target: str, as_json: bool, key: str | None, receipts: tuple[Digest, ...]) -> int:
    """Recompute every deal, move and score of a run, or of a file of matches.

    No computed value is trusted. In a published folder, every file is checked as well. Exits with 1
    if anything does not match.

    \b
    Examples:
      stich verify runs/spring
      stich verify spring --receipt ~/.local/state/stich/receipts/1f0c9a7d52e84b36
    """
    if runs.is_file(target):
        if receipts:
            raise click.UsageError("--receipt needs a run: a file of matches has no entries.")
        with runs.read_run(target, any_moves=True) as file:
            total = file.run().total
            report = verify_matches(file, progress_bar("Verifying", file.count()))
    else:
        with runs.open_run(target) as run, run.snapshot() as store:
            total = store.run().total
            report = verify_run(store, progress_bar("Verifying", store.count()), receipts)
    if key is not None and report.signer != key.lower():
        signer = f"the signer is {report.signer}" if report.signer else "a file has no signature"
        report.mismatches.append(Mismatch(None, f"The key is not {key}; {signer}."))
    if as_json:
        print_json(report.to_dict())
        return int(not report.verified)
    for mismatch in report.mismatches:
        click.echo(printable(f"{mismatch.match or 'run'}: {mismatch.detail}"))
    differing = plural(len(report.mismatches), "mismatch", "mismatches")
    click.echo(
        f"{plural(report.matches, 'match', 'matches')} of {plural(report.blocks, 'block')},"
        f" {plural(report.deals, 'deal')} and {plural(report.moves, 'move')} recomputed:"
        f" {'all agree' if report.verified else differing}."
    )
    for incident in report.incidents:
        click.echo(incident)
    if not report.finished:
        planned = plural(total or 0, "match", "matches")
        click.echo(f"The run is not finished: {report.matches} of {planned}.")
    if receipts and report.verified:
        click.echo(f"The run passes through {plural(len(receipts), 'receipt')}.")
    if report.commitment is not None:
        matching = "matches" if report.commitment else "does NOT match"
        click.echo(f"The seed {matching} the commitment.")
    return int(not report.verified)


@command
@runs.matches_argument
@option.json_output
def integrity(target: str, as_json: bool) -> None:
    """Look for bots that go easy on each other in a climbing game.

    Compares how often a bot beats the plays of each opponent, when it legally can, with how often
    it beats the plays of other bots in similar positions. A flag is a question, not a verdict.

    \b
    Example:
      stich integrity runs/spring
    """
    with runs.read_run(target) as store:
        matches = progress_bar("Replaying", store.count())(store.matches())
        report = find_leniency(matches, store.run().authors)
    if as_json:
        print_json(asdict(report))
    elif not report.chances:
        click.echo("No bot had a chance to beat another's play; only climbing games have any.")
    else:
        make_console().print(integrity_table(report))
        for flag in report.flags:
            click.echo(f"{format_flag(flag)} Look at: {', '.join(flag.matches)}")
        if not report.flags:
            click.echo("No two bots seem to go easy on each other.")
        click.echo(FLAG_RULE)
