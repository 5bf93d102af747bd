"""`stich check`: check that a bot conforms to the protocol."""

from contextlib import closing
from dataclasses import dataclass
from typing import Any

import click

from stich.commands import option
from stich.commands.common import command
from stich.console.check_report import CheckProgress, print_as_they_come, print_json
from tournament.bot.about import Scope
from tournament.bot.protocol import TimeBank
from tournament.check.suite import MAX_FALLBACK, QUICK, check_bot


@dataclass(frozen=True)
class _Options:
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
    starting: option.Starting
    verbose: bool
    as_json: bool


@command
@option.url
@click.option(
    "--command",
    type=option.as_command,
    metavar="COMMAND",
    help="Command that starts the bot. The variable PORT tells the bot its port.",
)
@click.option("--game", type=option.GAME, help="Check only this game, not all that the bot names.")
@option.number("--players", 2, 6, None, "With --game: check this number of players only.")
@option.game_options
@option.number("--move-ms", 1, 3_600_000, 1000, "Time for each move, in milliseconds.")
@option.number(
    "--bank-ms", 0, 3_600_000, None, "Extra ms for a whole match. By default, 10 × --move-ms."
)
@option.start_ms
@option.number("--positions", 1, 1000, 100, "Positions of each game to ask the bot about.")
@option.flag("--quick", help=f"Ask for {QUICK} moves at most. Use this if each answer costs money.")
@click.option(
    "--max-fallback",
    type=option.FloatRange(0, 1),
    default=MAX_FALLBACK,
    show_default=True,
    metavar="SHARE",
    help="Largest share of moves that may come from the bot's fallback.",
)
@option.starting
@option.flag("--verbose", help="Show every failure, even those with the same cause.")
@option.flag("--json", "as_json", help="Print JSON, with complete requests.")
def check(**arguments: Any) -> int:
    """Check that a bot conforms to the protocol, and print how to fix each failure.

    By default the bot is checked with everything that it plays, according to `games` and `supports`
    in its answer to GET /. Exits with 0 if every check passed, and with 1 if a check failed or was
    skipped.

    \b
    Examples:
      stich check --command "python3 bot.py"
      stich check --url http://127.0.0.1:9000 --game zhengfen --move-ms 200
    """
    given = _Options(**arguments)
    bot = option.named_bot(given.command, given.url)
    bank_ms = 10 * given.move_ms if given.bank_ms is None else given.bank_ms
    wanted, players, options = None, given.players, given.options
    if given.game is not None:
        option.resolve_options(given.game, players, options)  # checks them
        values = tuple((name, (value,)) for name, value in options.items())
        wanted = Scope(given.game, (players,) if players else (), values)
    elif players or options:
        raise click.UsageError("--players and --option are for one game; add --game.")
    with closing(CheckProgress()) as progress:
        checks = check_bot(
            bot,
            given.starting.launch([bot], given.start_ms),
            TimeBank(given.move_ms, float(bank_ms)),
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
