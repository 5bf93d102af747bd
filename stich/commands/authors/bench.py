"""`stich bench`: measure a bot on fixed deals against house bots, and compare two results."""

import os
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.markdown import Markdown

from stich.commands import option
from stich.commands.common import command, refuse, stopping, writing
from stich.console.bench_table import badge, comparison_table, result_table
from stich.console.progress import watch
from stich.console.result_tables import make_console
from stich.houses import HOUSES
from tournament.bench.play import Bench, Budget, ask_about, read_landmarks
from tournament.bench.record import Record, compare, read_record, write_record
from tournament.bench.suite import BLOCKS, BOT, CLOCK, PUBLIC_SEED, SUITE, TABLES
from tournament.bot.about import misfit
from tournament.bot.url_bot import StartError
from tournament.run.workers.machine import available_cores


class _Bench(click.Group):
    """A group of commands. The word `measure` may be left out, as in `stich bench BOT`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = ["measure", *args]
        return super().parse_args(ctx, args)


@click.group(cls=_Bench)
def bench() -> None:
    """Measure a bot on fixed deals, against `sensible`, or compare two results.

    `stich bench BOT` is short for `stich bench measure BOT`, whose --help lists the options.

    \b
    Examples:
      stich bench "python bot.py" --game doudizhu --json mine.json
      stich bench compare yesterday.json mine.json
    """


def _check_file(ctx: click.Context, param: click.Parameter, file: Path | None) -> Path | None:
    """Return the path that an option names, or None. Before the bot plays, raise BadParameter for a
    path that cannot be written."""
    if file is not None:
        written = file if file.exists() else file.absolute().parent
        if file.is_dir() or not os.access(written, os.W_OK):
            fix = "name a file in a folder that exists and that you may write to"
            raise click.BadParameter(f"{file} cannot be written: {fix}.")
    return file


_file_option = partial(
    click.option, type=click.Path(path_type=Path), callback=_check_file, metavar="FILE"
)


@dataclass(frozen=True)
class _Options:
    words: tuple[str, ...]
    game: str | None
    players: int | None
    rules: str | None
    minutes: float | None
    blocks: int | None
    quick: bool
    seed: str
    json_file: Path | None
    markdown: bool
    badge_file: Path | None
    against: str | None
    at_least: float | None
    concurrency: int | None
    max_matches: int
    starting: option.Starting


@command
@click.argument("words", nargs=-1, required=True, metavar="BOT")
@click.option("--game", type=option.GAME, help="Play only this game, not all that the bot names.")
@option.number("--players", 2, 6, None, "Play with this number of players only.")
@click.option(
    "--rules",
    type=click.Choice(sorted({table.rules for table in TABLES})),
    help="Play with this set of options only. By default, all sets that the bot plays.",
)
@click.option(
    "--minutes",
    metavar="MINUTES",
    type=option.FloatRange(0, 1440, min_open=True),
    help="Play each table for this many minutes. By default, one minute.",
)
@option.number("--blocks", 1, BLOCKS, None, "Play this many blocks of each table instead.")
@option.flag("--quick", help="Play each table for ten seconds.")
@click.option(
    "--seed",
    default=PUBLIC_SEED,
    metavar="SECRET",
    type=option.as_seed,
    help="Play other deals than the public ones. The same secret gives the same deals.",
)
@_file_option("--json", "json_file", help="Write the result as JSON.")
@option.flag("--markdown", help="Print the table as Markdown.")
@_file_option("--badge", "badge_file", help="Write an SVG badge.")
@click.option(
    "--against",
    metavar="FILE",
    help="Compare with this result, and exit with 1 if the bot is worse.",
)
@click.option(
    "--at-least",
    type=option.FloatRange(-1_000_000, 1_000_000),
    metavar="POINTS",
    help="Exit with 1 if the bot makes less than this over par at any table, in points per deal.",
)
@option.number("--concurrency", 1, 256, None, "Tables to play at once. By default, one per core.")
@option.max_matches
@option.starting
def measure(**arguments: Any) -> int:
    """Measure a bot on fixed deals, against `sensible`.

    BOT is a command, a URL, or the name of a reference bot. The result is the number of points per
    deal that the bot makes over par. Par is what `sensible` makes in the bot's place. Each table
    has a fixed list of 2,000 blocks, which are played in order until the time is up. Exits with 1
    if a table could not be played, or if the bot was struck out, is worse than the bot in
    --against, or makes less than --at-least.

    \b
    Example:
      stich bench "python bot.py" --against best.json
    """
    given = _Options(**arguments)
    if len(given.words) > 1:
        raise click.UsageError('A command with words needs quotes, as in "python bot.py".')
    bot = replace(option.as_bot(given.words[0]), name=BOT, max_matches=given.max_matches)
    if (given.minutes is not None) + (given.blocks is not None) + given.quick > 1:
        raise click.UsageError("--minutes, --blocks and --quick exclude each other; choose one.")
    budget = Budget(10.0 if given.quick else 60 * (given.minutes or 1.0))
    if given.blocks is not None:
        budget = Budget(blocks=given.blocks)
    best = None if given.against is None else read_record(Path(given.against))
    with stopping("Stopped. Nothing is stored."):
        launch = given.starting.launch([bot], CLOCK.start_ms)
        try:
            about = ask_about(bot, launch)
        except StartError as error:
            refuse(str(error).removeprefix(f"{BOT}: "))
        reasons = {
            table: misfit(about, table.game, table.players, table.options)
            for table in TABLES
            if given.game in (None, table.game)
            and given.players in (None, table.players)
            and given.rules in (None, table.rules)
        }
        if not reasons:
            names = "; ".join(table.title for table in TABLES)
            raise click.UsageError(f"{SUITE} has no such table. It has: {names}.")
        tables = [table for table, why in reasons.items() if not why]
        if not tables:
            refuse(f"The bot plays no table of {SUITE}: {next(iter(reasons.values()))}", 2)
        at_once = given.concurrency or len(available_cores()) or 1
        with watch(SUITE) as observer:
            total = given.blocks and given.blocks * sum(table.players for table in tables)
            observer.begin(0, total)
            record = Bench(given.seed, HOUSES, at_once).measure(
                bot, about, tables, launch, budget, observer.match
            )
    _print(result_table(record, read_landmarks()), given.markdown)
    if json_file := given.json_file:
        with writing(json_file):
            write_record(record, json_file)
    if badge_file := given.badge_file:
        with writing(badge_file):
            badge_file.write_text(badge(record), encoding="utf-8")
    failed = bool(record.problems)
    if best is not None and record.results:
        failed |= _print_comparison(best, record, given.markdown)
    if given.at_least is not None:
        failed |= any(result.over_par < given.at_least for result in record.results)
    return int(failed)


@command
@click.argument("old", metavar="OLD.json")
@click.argument("new", metavar="NEW.json")
@option.flag("--markdown", help="Print the table as Markdown.")
def compare_results(old: str, new: str, markdown: bool) -> None:
    """Compare two results of `stich bench --json`.

    If both have the same deals, they are compared block by block.

    \b
    Example:
      stich bench compare yesterday.json mine.json
    """
    _print_comparison(read_record(Path(old)), read_record(Path(new)), markdown)


bench.add_command(measure, "measure")
bench.add_command(compare_results, "compare")


def _print(table: str, markdown: bool) -> None:
    if markdown:
        click.echo(table)
    else:
        make_console().print(Markdown(table), soft_wrap=True)  # users copy a line of the table


def _print_comparison(old: Record, new: Record, markdown: bool) -> bool:
    comparison = compare(old, new)
    _print(comparison_table(old, new, comparison), markdown)
    return comparison.worse
