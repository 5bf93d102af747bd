"""`stich check`: check that a bot conforms to the protocol."""

from contextlib import closing
from dataclasses import dataclass
from typing import Any

import click

from stich.commands.common import (
    GAME,
    FloatRange,
    Starting,
    as_command,
    command,
    flag,
    game_options,
    int_option,
    named_bot,
    resolve_options,
    start_ms_option,
    start_options,
    url_option,
)
from stich.console.check_report import CheckProgress, print_as_they_come, print_json
from tournament.bot.protocol import TimeBank
from tournament.bot.supports import Scope
from tournament.check.suite import MAX_FALLBACK, QUICK, check_bot


@dataclass(frozen=True)
class CheckOptions:
    """The arguments of `stich check`."""

    url: str | None
    command: str | None
    game: str | None
    players: int | None
    options: dict[str, Any]
    move_ms: int
    bank_ms: int | None
    start_ms: int
    positions: int
    quick: bool
    max_fallback: float
    starting: Starting
    verbose: bool
    as_json: bool


@command
@url_option
@click.option(
    "--command",
    type=as_command,
    metavar="COMMAND",
    help="Command that starts the bot. The variable PORT tells the bot its port.",
)
@click.option("--game", type=GAME, help="Check only this game. By default, all that the bot names.")
@int_option("--players", 2, 6, None, "With --game: check this number of players only.")
@game_options
@int_option("--move-ms", 1, 3_600_000, 1000, "Time for each move, in milliseconds.")
@int_option(
    "--bank-ms",
    0,
    3_600_000,
    None,
    "Extra ms for a whole match. By default, 10 × --move-ms.",
)
@start_ms_option
@int_option("--positions", 1, 1000, 100, "Positions of each game to ask the bot about.")
@flag("--quick", help=f"Ask for {QUICK} moves at most. Use this if each answer costs money.")
@click.option(
    "--max-fallback",
    type=FloatRange(0, 1),
    default=MAX_FALLBACK,
    show_default=True,
    metavar="SHARE",
    help="Largest share of moves that may come from the bot's fallback.",
)
@start_options
@flag("--verbose", help="Show every failure, even those with the same cause.")
@flag("--json", "as_json", help="Print JSON, with complete requests.")
def check(**arguments: Any) -> int:
    """Check that a bot conforms to the protocol. Each failure says how to fix it.

    By default the bot is checked with everything that it plays, according to `games` and `supports`
    in its answer to GET /. Exits with 0 if every check passed, and with 1 if a check failed or was
    skipped.

    \b
    Examples:
      stich check --command "python3 bot.py"
      stich check --url http://127.0.0.1:9000 --game zhengfen --move-ms 200
    """
    given = CheckOptions(**arguments)
    bot = named_bot(given.command, given.url)
    wanted = _scope(given.game, given.players, given.options)
    bank_ms = 10 * given.move_ms if given.bank_ms is None else given.bank_ms
    clock = TimeBank(given.move_ms, float(bank_ms))
    launch = given.starting.launch([bot], given.start_ms)
    with closing(CheckProgress()) as progress:
        checks = check_bot(
            bot,
            launch,
            clock,
            wanted,
            given.positions,
            progress.start,
            progress.add_answer,
            quick=given.quick,
            max_fallback=given.max_fallback,
        )
        if given.as_json:
            results = list(checks)
        else:
            results = print_as_they_come(checks, progress, given.command, verbose=given.verbose)
    if given.as_json:
        print_json(results)
    return int(not all(result.outcome.passed for result in results))


def _scope(game: str | None, players: int | None, options: dict[str, Any]) -> Scope | None:
    """Return the part of a game to check. Players and options that are not given are left open.

    If `game` is None, return None, so that everything that the bot plays is checked.

    Raises:
        UsageError: if the game does not allow these players or options, or if there are players or
            options but no game.
    """
    if game is None:
        if players or options:
            raise click.UsageError("--players and --option are for one game; add --game.")
        return None
    resolve_options(game, players, options)
    values = tuple((name, (value,)) for name, value in options.items())
    return Scope(game, (players,) if players else (), values)
