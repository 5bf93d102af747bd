"""`stich bench`: how good a bot is, on fixed deals against house bots."""

from dataclasses import replace
from pathlib import Path

import click
from rich.markdown import Markdown

from stich.commands.common import (
    GAME,
    Starting,
    as_bot,
    as_seed,
    command,
    int_option,
    max_matches_option,
    refuse,
    refuse_nan,
    start_options,
    stopping,
    writing,
)
from stich.console.bench_table import badge, comparison_table, result_table
from stich.console.progress import watch
from stich.console.result_tables import make_console
from stich.houses import HOUSES
from tournament.bench.compare import MismatchError, compare
from tournament.bench.play import ask_about, matches, read_par, run_bench
from tournament.bench.record import Record, RecordError, read_record, write_record
from tournament.bench.suite import BOT, CLOCK, OPTIONS, PLAYERS, PUBLIC_SEED, SUITE, TABLES, quick
from tournament.bot.supports import misfit
from tournament.bot.url_bot import StartError
from tournament.run.machine import available_cores

_USAGE = 'Write one bot, as in "python bot.py", or: compare OLD.json NEW.json'


def _file(ctx: click.Context, param: click.Parameter, value: str | None) -> Path | None:
    """A file to write; a missing folder is a usage error now, not after minutes of play."""
    if value is None:
        return None
    file = Path(value)
    if file.is_dir() or not file.absolute().parent.is_dir():
        raise click.BadParameter(f"{value} cannot be written: name a file in an existing folder.")
    return file


@command
@click.argument("words", nargs=-1, required=True, metavar="BOT | compare OLD.json NEW.json")
@click.option("--game", type=GAME, help="Play this game only; by default all that the bot names.")
@int_option("--players", 2, 6, None, "Play with so many players only.")
@click.option(
    "--opponents",
    type=click.Choice(["sensible", "search"]),
    help="Play against these house bots only.",
)
@click.option("--quick", "is_quick", is_flag=True, help="Play the first tenth of the blocks.")
@click.option(
    "--seed",
    default=PUBLIC_SEED,
    metavar="SECRET",
    type=as_seed,
    help="Play other deals than the public ones; par is played too.",
)
@click.option("--json", "json_file", callback=_file, metavar="FILE", help="Write the result.")
@click.option("--markdown", is_flag=True, help="Print Markdown.")
@click.option("--badge", "badge_file", callback=_file, metavar="FILE", help="Write an SVG badge.")
@click.option("--against", metavar="FILE", help="Exit with 1 if the bot is worse than this result.")
@click.option(
    "--at-least",
    type=click.FloatRange(-1_000_000, 1_000_000),
    callback=refuse_nan,
    metavar="POINTS",
    help="Exit with 1 if the bot is below so many points over par at any table.",
)
@int_option("--concurrency", 1, 256, None, "Tables at once; one a core by default.")
@max_matches_option
@start_options
def bench(
    words: tuple[str, ...],
    game: str | None,
    players: int | None,
    opponents: str | None,
    is_quick: bool,
    seed: str,
    json_file: Path | None,
    markdown: bool,
    badge_file: Path | None,
    against: str | None,
    at_least: float | None,
    concurrency: int | None,
    max_matches: int,
    starting: Starting,
) -> int:
    """Measure a bot on fixed deals, against house bots, or compare two results.

    BOT is a command, a URL, or the name of a reference bot. The result is how many points a deal it
    makes over par: what the bot `sensible` makes in its place. Exits with 1 if a game could not be
    played, and as --against and --at-least say.

    \b
    Examples:
      stich bench "python bot.py" --game doudizhu --json mine.json
      stich bench compare yesterday.json mine.json
      stich bench "python bot.py" --against best.json
    """
    if words[0] == "compare":
        if len(words) != 3:
            raise click.UsageError(_USAGE)
        old, new = (read_record(Path(word)) for word in words[1:])
        _print_comparison(old, new, (words[1], words[2]), markdown)
        return 0
    if len(words) > 1:
        raise click.UsageError(f"{_USAGE}. A command with words needs quotes.")
    bot = replace(as_bot(words[0]), name=BOT, max_matches=max_matches)
    best = None if against is None else read_record(Path(against))
    if best is not None and best.suite != SUITE:
        raise RecordError(f"{against}: is a result of {best.suite}; this version plays {SUITE}.")
    landmarks = read_par()
    with stopping("Stopped. Nothing is stored."):
        launch = starting.launch([bot], CLOCK.start_ms)
        try:
            about = ask_about(bot, launch)
        except StartError as error:
            refuse(str(error).removeprefix(f"{BOT}: "))
        tables = [
            quick(table) if is_quick else table
            for table in TABLES
            if game in (None, table.game)
            and players in (None, table.players)
            and opponents in (None, table.opponents)
            and not misfit(about, table.game, table.players, OPTIONS[table.game])
        ]
        if not tables:
            has = ", ".join(PLAYERS)
            raise click.UsageError(
                f"{SUITE} has no such table that the bot plays; it has {has}. Leave out --players"
                " and --opponents."
            )
        at_once = concurrency or len(available_cores()) or 1
        with watch(make_console(stderr=True), SUITE) as observer:
            observer.begin(0, matches(tables, seed))
            record = run_bench(bot, about, tables, seed, HOUSES, launch, at_once, observer.match)
    _print(result_table(record, landmarks), markdown)
    if json_file is not None:
        with writing(json_file):
            write_record(record, json_file)
    if badge_file is not None:
        with writing(badge_file):
            badge_file.write_text(badge(record), encoding="utf-8")
    failed = bool(record.problems)
    if best is not None and record.results:
        failed |= _print_comparison(best, record, (str(against), "this result"), markdown)
    if at_least is not None:
        failed |= any(result.over_par < at_least for result in record.results)
    return int(failed)


def _print(table: str, markdown: bool) -> None:
    if markdown:
        click.echo(table)
    else:
        make_console().print(Markdown(table), soft_wrap=True)  # a line of it is copied


def _print_comparison(old: Record, new: Record, names: tuple[str, str], markdown: bool) -> bool:
    """Print how two records differ, and return whether the new one is worse. RecordError if they
    are not comparable."""
    try:
        found = compare(old, new)
    except MismatchError as error:
        raise RecordError(f"{names[0]} and {names[1]} cannot be compared: {error}") from None
    _print(comparison_table(old, new, found), markdown)
    return found.worse
