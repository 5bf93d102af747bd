"""Commands for an organiser's decisions, even while the run is being played, and `stich trust`."""

import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import click

from stich.commands.common import command, flag, refuse
from stich.commands.runs import check_name, open_run, run_argument
from tournament.decisions import exclusion_of, finished_by, other_versions, paused
from tournament.names import base
from tournament.records import (
    AnyDecision,
    Disqualify,
    Finish,
    Pause,
    Resume,
    Undo,
    Void,
    Withdraw,
)
from tournament.run.consequences import consequences
from tournament.run.resume import only_runner
from tournament.run.voiding import apply_voids, last_exclusion, matches_of
from tournament.store import signing
from tournament.store.engine import StoreError, shown_target
from tournament.store.store import Store
from tournament.text import plural

_DONE = {Withdraw: "withdrawn", Disqualify: "disqualified"}

_yes_option = flag("--yes", help="Do not ask.")


def _decision(work: Callable[..., None]) -> click.Command:
    """Return a command that calls `work` with the run as `target` and `--why` (or "") as `why`."""
    why = "The reason for the decision. It is stored and shown."
    return command(run_argument(click.option("--why", metavar="TEXT", default="", help=why)(work)))


@_decision
def pause(target: str, why: str) -> None:
    """Pause a run: start no new matches until `stich resume`.

    Matches already under way are played to the end.

    \b
    Example:
      stich pause runs/spring --why "The network is down."
    """
    with open_run(target) as store:
        if paused(_decisions(store)):
            raise StoreError("This run is paused already.")
        store.decide(Pause(why=why))
    click.echo("Paused: no more matches begin.")


@_decision
def resume(target: str, why: str) -> None:
    """Continue a run that was paused.

    \b
    Example:
      stich resume runs/spring
    """
    with open_run(target) as store:
        if not paused(_decisions(store)):
            raise StoreError("This run is not paused.")
        store.decide(Resume(why=why))
    click.echo("Resumed.")


def _decisions(store: Store) -> tuple[AnyDecision, ...]:
    """Return the decisions on a run, which must not have ended.

    Raises:
        StoreError: if the run has ended or cannot be read.
    """
    run = store.run()
    if run.finished:
        raise StoreError("This run has ended.")
    return run.decisions


@_decision
@click.argument("what", metavar="MATCH|BLOCK")
def void(target: str, what: str, why: str) -> None:
    """Void a match or a whole block: it does not count, and is played again.

    MATCH is the id of a finished match, or the beginning of the id. BLOCK is the number of a block.
    Only blocks of the last round can be voided, and with [stop] only those since the last look. A
    finished run is reopened for `stich run`, but is refused if its seed was committed to, since
    that seed is now public. A runner at work voids the matches when it has time.

    \b
    Example:
      stich void runs/spring 17 --why "The machine of toy3 was restarted."
    """
    with open_run(target) as store:
        plan = store.run().plan()
        block, matches = matches_of(store, plan, what)
        store.decide(Void(why=why, block=block, matches=tuple(matches)))
        what = f"{plural(len(matches), 'match', 'matches')} of block {block}"
        try:
            with only_runner(store):
                apply_voids(store, plan)
            click.echo(f"{what} void, to be played again.")
        except StoreError:  # another process runs the cup, and will do it
            click.echo(f"{what} will be void when the runner has time.")


@_decision
@click.argument("bot")
@_yes_option
def withdraw(target: str, bot: str, why: str, yes: bool) -> None:
    """Withdraw a bot: it no longer plays. Its results stand, except in blocks left incomplete.

    \b
    Example:
      stich withdraw runs/spring mine --why "Its author asked for it."
    """
    _exclude(target, bot, why, yes, Withdraw)


@_decision
@click.argument("bot")
@_yes_option
def disqualify(target: str, bot: str, why: str, yes: bool) -> None:
    """Disqualify a bot: it no longer plays, and none of its tables counts in the standings.

    In a ladder, its tables stop counting when the next epoch begins. All versions of the bot are
    disqualified, and its author can enter another bot only if you invite that bot.

    \b
    Example:
      stich disqualify runs/spring mine --why "It attacked its opponents."
    """
    _exclude(target, bot, why, yes, Disqualify)


@_decision
@_yes_option
def finish(target: str, why: str, yes: bool) -> None:
    """End a ladder: blocks that have begun are finished, and then the standings are final.

    This cannot be undone.

    \b
    Example:
      stich finish runs/autumn --why "The term is over."
    """
    with open_run(target) as store:
        run = store.run()
        if not run.cup.is_ladder:
            raise StoreError("This is not a ladder: a cup ends by itself.")
        if run.finished or finished_by(run.decisions):
            raise StoreError("This ladder has been ended already.")
        _confirm("The ladder ends and cannot be continued.", yes)
        store.decide(Finish(why=why))
    click.echo("The ladder ends when what has begun is finished.")


def _confirm(what: str, yes: bool) -> None:
    """Ask the user whether to go on, unless `yes`. `what` says what the consequences are.

    If the user cannot be asked because standard input is not a terminal, exit with 2.

    Raises:
        StoreError: if the answer is no.
        KeyboardInterrupt: if the user presses Ctrl-C or Ctrl-D.
    """
    if yes:
        return
    if not is_asked():
        refuse(f"{what} To do so without being asked, add --yes.", 2)
    try:
        if not click.confirm(f"{what} Go on?"):
            raise StoreError("Nothing was changed.")
    except click.Abort:
        raise KeyboardInterrupt from None


def _exclude(
    target: str, bot: str, why: str, yes: bool, kind: type[Withdraw] | type[Disqualify]
) -> None:
    """Store the decision to withdraw a bot, or to disqualify all its versions, as `kind` says.

    Ask the user first (see `_confirm`). After disqualifying, print which other bots of the author
    still play. A bot that has left a ladder or was withdrawn can still be disqualified.

    Raises:
        StoreError: if the bot is unknown or cannot be excluded in this way, if the user says no, or
            if the store cannot be used.
    """
    with open_run(target) as store:
        run = store.run()
        before = exclusion_of(run.decisions, bot)
        check_name(bot, run)
        if isinstance(before, kind | Disqualify):
            raise StoreError(f"{bot} is {_DONE[type(before)]} already.")
        if kind is Withdraw and run.finished:
            raise StoreError(f"This run has ended, so {bot} no longer plays anyway.")
        _confirm(" ".join(consequences(store, bot, kind)), yes)
        if kind is Withdraw:
            store.decide(Withdraw(bot=bot, why=why))
        else:
            versions = other_versions(run.decisions, bot)
            store.decide(Disqualify(bot=bot, versions=versions, why=why))
        companions = store.run().companions()
    back = shlex.join(("stich", "undo", shown_target(target)))
    click.echo(f"{bot} is {_DONE[kind]}. To take this back: {back}")
    if playing := [name for name, excluded in companions.items() if base(excluded) == base(bot)]:
        click.echo(f"Of the same author, and still playing: {', '.join(playing)}.")


@_decision
def undo(target: str, why: str) -> None:
    """Take back the latest withdrawal or disqualification.

    This is possible until the cup has continued without the bot: until the bot was struck out in a
    match, until [stop] has looked at the standings, or until the cup has ended without one of the
    bot's tables. In a ladder it is possible until the next epoch begins. A disqualification after
    the end can always be taken back.

    \b
    Example:
      stich undo runs/spring --why "It was another bot."
    """
    with open_run(target) as store:
        last = last_exclusion(store, store.run().plan())
        store.decide(Undo(bot=last.bot, why=why))
    click.echo(f"Taken back: {last.kind} {last.bot}.")


def is_asked() -> bool:
    """Whether standard input is a terminal, so that the user can be asked."""
    return sys.stdin.isatty()


@command
@click.argument("what", metavar="KEY|DIR", type=click.Path())
def trust(what: str) -> None:
    """Accept the runs of another organiser, or take over a run as it is.

    KEY is the public key that the organiser announced: 64 hexadecimal digits. DIR is a run that
    you have restored from a copy, or that another user or another machine has begun. From now on it
    is your run, and will be signed with your key when it ends. Check it with `stich verify` first.

    \b
    Examples:
      stich trust 3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29
      stich trust runs/spring
    """
    if re.fullmatch("[0-9a-fA-F]{64}", what):
        signing.trust(what.lower())
        click.echo(f"Runs of the key {what} are accepted from now on.")
        return
    if re.fullmatch("[0-9a-fA-F]+", what) and not Path(what).exists():
        refuse(f"{what}: is neither a folder nor a public key, which has 64 hexadecimal digits.", 2)
    with Store.open(what) as store:
        store.accept()
    click.echo(f"{store.where} is taken as it is; it is your run from now on.")
