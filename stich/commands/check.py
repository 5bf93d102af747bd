"""`stich check`: does a bot conform to the protocol?"""

from __future__ import annotations

import click

from stich.commands import completion
from stich.commands.common import (
    check_game,
    exit_with_code,
    int_option,
    named_bot,
    network_option,
    prepare_bots,
    sandbox_option,
)
from stich.console import interrupts
from stich.console.check_report import JsonReport, TextReport
from tournament.bot.protocol import TimeBank
from tournament.bot.sandbox.bubblewrap import SandboxError
from tournament.check.suite import check_bot


@click.command()
@click.option("--url", help="Address of a running bot, as http://127.0.0.1:9000.")
@click.option("--command", help="Command that starts the bot; PORT is set to its port.")
@click.option(
    "--game",
    callback=check_game,
    shell_complete=completion.games,
    help="Check this game only; by default all that it names.",
)
@int_option("--move-ms", 1, 3_600_000, 1000, "Time for each move, in milliseconds.")
@int_option("--bank-ms", 0, 3_600_000, None, "Extra time in all; ten times --move-ms by default.")
@int_option("--start-ms", 1, 3_600_000, 10_000, "Time until --command answers GET /.")
@int_option("--positions", 1, 1000, 100, "Positions to ask for each game.")
@sandbox_option
@network_option
@click.option("--verbose", is_flag=True, help="Show every failure, also those of the same cause.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON, with complete requests.")
@exit_with_code
def check(
    url: str | None,
    command: str | None,
    game: str | None,
    move_ms: int,
    bank_ms: int | None,
    start_ms: int,
    positions: int,
    sandbox: bool | None,
    network: bool,
    verbose: bool,
    as_json: bool,
) -> int:
    """Check that a bot conforms to the protocol. Each failure says how to fix it.

    Exits with 0 if every check passed and with 1 if one failed.

    \b
    Examples:
      stich check --command "python3 bot.py"
      stich check --url http://127.0.0.1:9000 --game zhengfen --move-ms 200
    """
    bot = named_bot(command, url)
    clock = TimeBank(move_ms, float(10 * move_ms if bank_ms is None else bank_ms))
    report = JsonReport() if as_json else TextReport(verbose=verbose)
    try:
        launch = prepare_bots([bot], start_ms, sandbox, network=network)
        wanted = [game] if game else []
        for result in check_bot(bot, launch, clock, wanted, positions, report.progress):
            report.add(result)
    except SandboxError as error:
        click.echo(str(error), err=True)
        return 1
    except KeyboardInterrupt:
        report.stopped()
        return interrupts.EXIT_CODE
    return report.finish()
