"""Commands for an organiser's decisions, even while the run is being played, and `stich trust`."""

import re
import shlex
import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from functools import wraps
from pathlib import Path
from typing import Any

import click

from stich.commands import option, runs
from stich.commands.common import command, refuse
from tournament.decisions import excluded, finished_by, other_versions, paused
from tournament.model import StoredRun
from tournament.names import base
from tournament.records import AnyDecision, Disqualify, Finish, Pause, Resume, Undo, Void, Withdraw
from tournament.run.consequences import apply_voids, consequences, last_exclusion, matches_of
from tournament.run.resume import only_runner
from tournament.store import signing
from tournament.store.engine import StoreError
from tournament.store.store import Store
from tournament.text import plural

_DONE = {Withdraw: "withdrawn", Disqualify: "disqualified"}

_yes_option = option.flag("--yes", help="Do not ask.")


def _decision(work: Callable[..., None]) -> click.Command:
    """Return a command that opens the store of a run (see `open_run`), and calls `work` with the
    store and the command's options. One of the options is --why, which is "" by default."""

    @command
    @runs.run_argument
    @click.option("--why", metavar="TEXT", default="", help="The reason. It is stored and shown.")
    @wraps(work)
    def run(target: str, **arguments: Any) -> None:
        with runs.open_run(target) as store:
            work(store, **arguments)

    return run


@_decision
def pause(store: Store, why: str) -> None:
    """Pause a run: start no new matches until `stich resume`. Matches under way are finished.

    \b
    Example:
      stich pause runs/spring --why "The network is down."
    """
    if paused(_decisions(store)):
        raise StoreError("This run is paused already.")
    store.decide(Pause(why=why))
    click.echo("Paused: no more matches begin.")


@_decision
def resume(store: Store, why: str) -> None:
    """Let a paused run begin matches again, once `stich run` or `stich arena` plays it.

    \b
    Example:
      stich resume runs/spring
    """
    if not paused(_decisions(store)):
        raise StoreError("This run is not paused.")
    store.decide(Resume(why=why))
    click.echo("Resumed.")


def _decisions(store: Store) -> tuple[AnyDecision, ...]:
    run = store.run()
    if run.finished:
        raise StoreError("This run has ended.")
    return run.decisions


def _unchanged(run: StoredRun) -> Callable[[list[AnyDecision]], None]:
    """Return a check for `Store.decide` that `run` still has all decisions. Otherwise, the check
    raises StoreError."""

    def check(decisions: list[AnyDecision]) -> None:
        if tuple(decisions) != run.decisions:
            raise StoreError("Another decision was made meanwhile; nothing was changed. Try again.")

    return check


@_decision
@click.argument("what", metavar="MATCH|BLOCK")
def void(store: Store, what: str, why: str) -> None:
    """Void a match or a whole block: it does not count, and is played again.

    MATCH is the id of a finished match, or the beginning of the id. BLOCK is the number of a block.
    Only blocks of the last round can be voided, and with [stop] only the blocks since the last look
    at the standings. A finished run is reopened, so that `stich run` can play it again. If the seed
    of a finished run was committed to, the command refuses, because the seed is public now. If the
    run is being played, its runner voids the matches soon.

    \b
    Example:
      stich void runs/spring 17 --why "The machine of toy3 was restarted."
    """
    run = store.run()
    plan = run.plan()
    block, matches = matches_of(store, plan, what)
    void = Void(why=why, block=block, matches=tuple(matches))
    store.decide(void, check=_unchanged(run))
    what = f"{plural(len(matches), 'match', 'matches')} of block {block}"
    with ExitStack() as stack:
        try:
            stack.enter_context(only_runner(store))
        except StoreError:  # another process runs the cup, and will do it
            click.echo(f"{what} will be void when the runner has time.")
            return
        apply_voids(store, plan)
    click.echo(f"{what} void, to be played again.")


@_decision
@click.argument("bot")
@_yes_option
def withdraw(store: Store, bot: str, why: str, yes: bool) -> None:
    """Withdraw a bot: it no longer plays. Its results stand, except in blocks that stay incomplete.

    \b
    Example:
      stich withdraw runs/spring mine --why "Its author asked for it."
    """
    _exclude(store, bot, why, yes, Withdraw)


@_decision
@click.argument("bot")
@_yes_option
def disqualify(store: Store, bot: str, why: str, yes: bool) -> None:
    """Disqualify a bot: it no longer plays, and none of its tables counts in the standings.

    In a ladder, the bot's tables stop counting when the next epoch begins. All versions of the bot
    are disqualified, and its author can enter another bot only if you invite that bot.

    \b
    Example:
      stich disqualify runs/spring mine --why "It attacked its opponents."
    """
    _exclude(store, bot, why, yes, Disqualify)


@_decision
@_yes_option
def finish(store: Store, why: str, yes: bool) -> None:
    """End a ladder for good. Blocks that have begun are played to the end, then the standings are
    final.

    \b
    Example:
      stich finish runs/autumn --why "The term is over."
    """
    run = store.run()
    if not run.cup.is_ladder:
        raise StoreError("This is not a ladder: a cup ends by itself.")
    if run.finished or finished_by(run.decisions):
        raise StoreError("This ladder has been ended already.")
    _confirm("The ladder ends and cannot be continued.", yes)
    store.decide(Finish(why=why))
    click.echo("The ladder ends when what has begun is finished.")


def _confirm(what: str, yes: bool) -> None:
    """Print `what`, the consequences, and ask the user whether to go on. Do nothing if `yes` is
    true. Exit with 2 if the user cannot be asked.

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
    store: Store, bot: str, why: str, yes: bool, kind: type[Withdraw] | type[Disqualify]
) -> None:
    def check(decisions: Iterable[AnyDecision]) -> None:
        before = excluded(decisions).get(bot)
        if isinstance(before, kind | Disqualify):
            raise StoreError(f"{bot} is {_DONE[type(before)]} already.")

    run = store.run()
    runs.check_name(bot, run)
    check(run.decisions)
    if kind is Withdraw and run.finished:
        raise StoreError(f"This run has ended, so {bot} no longer plays anyway.")
    _confirm(" ".join(consequences(store, bot, kind)), yes)
    if kind is Withdraw:
        store.decide(Withdraw(bot=bot, why=why), check=check)
    else:
        versions = other_versions(run.decisions, bot)
        store.decide(Disqualify(bot=bot, versions=versions, why=why), check=check)
    companions = store.run().companions()
    back = shlex.join(("stich", "undo", str(store.folder or store.where)))
    click.echo(f"{bot} is {_DONE[kind]}. To take this back: {back}")
    if playing := [name for name, other in companions.items() if base(other) == base(bot)]:
        click.echo(f"Of the same author, and still playing: {', '.join(playing)}.")


@_decision
def undo(store: Store, why: str) -> None:
    """Take back the latest withdrawal or disqualification.

    In a ladder, this is possible until the next epoch begins. In a cup, it is possible until the
    bot is struck out in a match, [stop] looks at the standings, or the cup ends without one of the
    bot's tables. A disqualification after the end can always be taken back.

    \b
    Example:
      stich undo runs/spring --why "It was another bot."
    """
    run = store.run()
    last = last_exclusion(store, run.plan())
    store.decide(Undo(bot=last.bot, why=why), check=_unchanged(run))
    click.echo(f"Taken back: {last.kind} {last.bot}.")


def is_asked() -> bool:
    """Return whether standard input is a terminal, so that the user can be asked."""
    return sys.stdin.isatty()


@command
@click.argument("what", metavar="KEY|DIR", type=click.Path())
def trust(what: str) -> None:
    """Accept the runs of another organiser, or take over a run as it is.

    KEY is the public key that the organiser announced: 64 hexadecimal digits. DIR is a run that
    you have restored from a copy, or that another user or another machine has begun. From now on it
    is your run, and will be signed with your key when it ends. Check it with `stich verify` first.

    \b
    Example:
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
