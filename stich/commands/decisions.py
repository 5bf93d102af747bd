"""The decisions of an organiser on a run that may be going on: pause, resume, void, withdraw,
disqualify, and undo the last of these two."""

from __future__ import annotations

import sys
from time import monotonic, sleep
from typing import TYPE_CHECKING

import click

from stich.commands import completion
from stich.commands.common import open_run, run_argument, run_command
from tournament.text import plural

if TYPE_CHECKING:
    from tournament.config import Cup
    from tournament.formats import Schedule
    from tournament.store.store import Store

_WAIT_S = 60.0
_ENDED = "This run has ended."

_UNDO = "To take this back: stich undo {}"

why_option = click.option(
    "--why", metavar="TEXT", default="", help="The reason, kept with the decision and shown."
)


yes_option = click.option("--yes", is_flag=True, help="Do not ask.")


@click.command()
@run_argument
@why_option
@run_command
def pause(target: str, why: str) -> int:
    """Begin no more matches until `stich resume`.

    Matches that are being played are finished.

    \b
    Example:
      stich pause runs/spring --why "The network is down."
    """
    from tournament.decisions import paused
    from tournament.records import DecisionKind

    with open_run(target) as store:
        if store.get("finished"):
            return _refuse(_ENDED)
        if paused(store.decisions()):
            return _refuse("This run is paused already.")
        store.decide(DecisionKind.PAUSE, why)
    click.echo("Paused: no more matches begin.")
    return 0


@click.command()
@run_argument
@why_option
@run_command
def resume(target: str, why: str) -> int:
    """Continue a run that was paused.

    \b
    Example:
      stich resume runs/spring
    """
    from tournament.decisions import paused
    from tournament.records import DecisionKind

    with open_run(target) as store:
        if store.get("finished"):
            return _refuse(_ENDED)
        if not paused(store.decisions()):
            return _refuse("This run is not paused.")
        store.decide(DecisionKind.RESUME, why)
    click.echo("Resumed.")
    return 0


@click.command()
@run_argument
@click.argument("what", metavar="MATCH|BLOCK")
@why_option
@run_command
def void(target: str, what: str, why: str) -> int:
    """Make a match, or all of a block, void: it does not count and is played again.

    MATCH is the id of a finished match or its beginning, BLOCK the number of a block. A finished
    run is open again; `stich run` plays the matches.

    \b
    Example:
      stich void runs/spring 17 --why "The machine of toy3 was restarted."
    """
    from tournament.records import DecisionKind
    from tournament.run.voiding import NotVoidable, matches_of, may_still_be_void

    with open_run(target) as store:
        cup, schedule = _schedule(store)
        try:
            block, matches = matches_of(store, cup, schedule, what)
        except NotVoidable as error:
            return _refuse(str(error))
        store.decide(DecisionKind.VOID, why, block=block, matches=matches)
        many = plural(len(matches), "match", "matches")
        if _carry_out(store, cup, schedule):
            click.echo(f"{many} of block {block} void, to be played again.")
        elif not may_still_be_void(store, cup, schedule, matches):
            return _refuse(
                f"Too late: block {block} has meanwhile decided how the cup continues, so its"
                " results stand."
            )
        else:
            click.echo(f"{many} of block {block} will be void when the runner has time.")
    return 0


def _schedule(store: Store) -> tuple[Cup, Schedule]:
    from tournament.config import Cup
    from tournament.formats import make_schedule

    cup = Cup.from_dict(store.get("config"))
    return cup, make_schedule(cup, store.get("seed"), store.get("match_key"))


def _carry_out(store: Store, cup: Cup, schedule: Schedule) -> bool:
    """Make the matches void, or wait until the runner that is at work has; whether it is done."""
    from tournament.decisions import pending
    from tournament.run.lock import only_runner
    from tournament.run.voiding import apply_voids
    from tournament.store.store import StoreError

    until = monotonic() + _WAIT_S
    while pending(store.decisions(), store.voids()):
        try:
            with only_runner(store):
                apply_voids(store, cup, schedule)
        except StoreError:  # a runner is at work, and does it
            if monotonic() >= until:
                return False
            sleep(0.2)
        else:
            return not pending(store.decisions(), store.voids())
    return True


@click.command()
@run_argument
@click.argument("bot", shell_complete=completion.run_bots)
@why_option
@yes_option
@run_command
def withdraw(target: str, bot: str, why: str, yes: bool) -> int:
    """Let a bot play no more; its results stand.

    \b
    Example:
      stich withdraw runs/spring mine --why "Its author asked for it."
    """
    from tournament.decisions import absent
    from tournament.records import DecisionKind

    with open_run(target) as store:
        if problem := _not_to_exclude(store, bot):
            return _refuse(problem)
        if bot in absent(store.decisions()):
            return _refuse(f"{bot} is withdrawn already.")
        if store.get("finished"):
            return _refuse(f"This run has ended, so {bot} plays no more anyway.")
        if code := _unconfirmed(yes, f"{bot} plays no more, and its results stand."):
            return code
        store.decide(DecisionKind.WITHDRAW, why, bot=bot)
    click.echo(f"{bot} is withdrawn. {_UNDO.format(target)}")
    return 0


@click.command()
@run_argument
@click.argument("bot", shell_complete=completion.run_bots)
@why_option
@yes_option
@run_command
def disqualify(target: str, bot: str, why: str, yes: bool) -> int:
    """Let a bot play no more, and take the results of all its tables out of the standings.

    \b
    Example:
      stich disqualify runs/spring mine --why "It attacked its opponents."
    """
    from tournament.records import DecisionKind

    with open_run(target) as store:
        if problem := _not_to_exclude(store, bot):
            return _refuse(problem)
        what = f"{bot} plays no more, and the results of all its tables stop counting."
        if code := _unconfirmed(yes, what):
            return code
        store.decide(DecisionKind.DISQUALIFY, why, bot=bot)
    click.echo(f"{bot} is disqualified. {_UNDO.format(target)}")
    return 0


@click.command()
@run_argument
@why_option
@run_command
def undo(target: str, why: str) -> int:
    """Take back the latest withdrawal or disqualification.

    That is possible until the cup has gone on without the bot: until a match in which it was struck
    out, a look of [stop], or the end of the cup.

    \b
    Example:
      stich undo runs/spring --why "It was another bot."
    """
    from tournament.records import DecisionKind
    from tournament.run.voiding import NotVoidable, last_exclusion

    with open_run(target) as store:
        try:
            last = last_exclusion(store, *_schedule(store))
        except NotVoidable as error:
            return _refuse(str(error))
        store.decide(DecisionKind.UNDO, why, bot=last.bot)
    click.echo(f"Taken back: {last.kind} {last.bot}.")
    return 0


def _not_to_exclude(store: Store, bot: str) -> str | None:
    """Why a bot can be neither withdrawn nor disqualified, if so."""
    from tournament.decisions import disqualified

    bots = store.get("bots", ())
    if bot not in bots:
        return f"There is no bot {bot}; there are {', '.join(bots)}."
    if bot in disqualified(store.facts()):
        return f"{bot} is disqualified already."
    return None


def is_asked() -> bool:
    """Whether somebody can be asked."""
    return sys.stdin.isatty()


def _unconfirmed(yes: bool, what: str) -> int:
    """Ask on a terminal whether to do this; the exit code if it is not to be done, else 0."""
    if yes:
        return 0
    if not is_asked():
        click.echo(f"{what} To do so without being asked, add --yes.", err=True)
        return 2
    return 0 if click.confirm(f"{what} Go on?") else _refuse("Nothing was changed.")


def _refuse(text: str) -> int:
    click.echo(text, err=True)
    return 1
