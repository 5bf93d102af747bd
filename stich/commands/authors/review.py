"""`stich review`: list the decisions that cost a bot most, or on which another bot disagrees."""

import json
import multiprocessing
import random
import secrets
import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from operator import attrgetter
from time import monotonic
from typing import Any, Final, NamedTuple

import click
from rich.text import Text

from bots.search import Lead, measure_lead, search
from games import IllegalMove
from learning.encoding import action_of
from stich.commands import option, runs
from stich.commands.common import command, print_json, refuse
from stich.console.progress import progress_bar
from stich.console.result_tables import make_console
from stich.console.screens import move_text, position
from stich.env import read_view
from tournament.bench.play import ask_about
from tournament.bot.about import misfit
from tournament.bot.launch import LaunchSettings
from tournament.bot.protocol import Choice, TimeBank, request
from tournament.bot.started_bot import reach
from tournament.bot.url_bot import HttpBot
from tournament.config.cup import Bot, Cup
from tournament.results.files.export import DecisionRow, decision_rows
from tournament.run.workers.machine import available_cores
from tournament.sampling import spread
from tournament.store.engine import StoreError
from tournament.store.run_reader import RunReader
from tournament.text import plural, printable

_SURE: Final = 1.96  # standard errors on each side of a 95 % interval
_FAILURES: Final = 3  # after so many failures in a row, the command ends


class _Decision(NamedTuple):
    """A recorded decision, with the bots and the final scores of its match by seat."""

    row: DecisionRow
    seating: Sequence[str]
    scores: Sequence[int]


@dataclass(frozen=True, slots=True)
class _Finding:
    """A decision for which the judge chooses another move, `instead`. `lead` says how much better
    `instead` is, or is None if that was not measured or there were too few determinizations."""

    decision: _Decision
    instead: str
    lead: Lead | None = None

    @property
    def certain(self) -> float:
        """The lower end of the 95 % interval of `lead`, in points, or 0 if `lead` is None."""
        return self.lead.points - _SURE * self.lead.error if self.lead else 0.0


_Judged = Iterator[_Finding | bool]
"""For each decision a finding, True if the judge chooses the same move, or False if the judge gave
no legal move in time. The iterator ends early if the time for the review is over."""
_bot_option = partial(click.option, type=option.as_bot, metavar="BOT")


@command
@runs.matches_argument
@click.argument("bot")
@_bot_option("--with", "other", help="List the decisions on which this bot disagrees instead.")
@_bot_option(
    "--as", "later", help="List the decisions that this later version of the bot makes differently."
)
@option.number("--top", 1, 10_000, 10, "Decisions to list at most.")
@option.number("--matches", 1, 100_000, 100, "Matches to read at most, evenly spread over the run.")
@option.number("--worlds", 2, 10_000, 40, "Random deals of the unseen cards to try per decision.")
@click.option(
    "--minutes",
    metavar="MINUTES",
    type=option.FloatRange(0, 10_000),
    default=5.0,
    show_default=True,
    help="Stop judging decisions after this many minutes.",
)
@option.starting
@option.json_output
def review(
    target: str,
    bot: str,
    other: Bot | None,
    later: Bot | None,
    top: int,
    matches: int,
    worlds: int,
    minutes: float,
    starting: option.Starting,
    as_json: bool,
) -> None:
    """List the decisions that cost BOT most: the position, BOT's move, and a better move.

    The reference bot `search` judges each decision, and estimates how many points its own choice
    would have gained in the deal over BOT's move, with the standard error. Only decisions that cost
    points with 95 % confidence are listed, the surest losses first.

    With --as, the later version chooses the other move, and `search` estimates what that move
    gains. All changed decisions are listed, those that lose most first. With --with, the other bot
    chooses the move. No points are estimated, and the decisions are in no particular order.

    \b
    Examples:
      stich review runs/spring mine
      stich review runs/spring mine --as "python new.py"
    """
    if other and later:
        raise click.UsageError("--with and --as exclude each other; choose one.")
    with runs.read_run(target) as store:
        cup = store.run().cup
        decisions, faults = _decisions(store, bot, matches)
    until = monotonic() + 60 * minutes
    asked = other or later
    if asked is None:
        judge, judged = "search", _by_search(decisions, worlds, until)
    else:
        launch = starting.launch([asked], cup.clock.start_ms)
        judge = asked.name
        judged = _by_bot(asked, launch, cup, decisions, worlds if later else 0, until)
    of = f"{plural(len(decisions), 'decision')} of {printable(bot)}"
    click.echo(f"{printable(judge)} judges {of}, for at most {minutes:g} min.", err=True)
    results: list[_Finding | bool] = []
    stopped: KeyboardInterrupt | None = None
    try:
        results.extend(progress_bar("Reviewing", len(decisions))(judged))
    except KeyboardInterrupt as interrupt:
        stopped = interrupt  # it is raised once the results are printed
    findings = [result for result in results if isinstance(result, _Finding)]
    if later:
        findings.sort(key=lambda finding: finding.lead.points if finding.lead else 0.0)
    elif other is None:
        findings = [finding for finding in findings if finding.certain > 0]
        findings.sort(key=lambda finding: -finding.certain)
    if as_json:
        for finding in findings[:top]:
            print_json(_to_dict(finding))
        if stopped:
            raise stopped
        return
    _print(findings[:top], judge)
    failed = results.count(False)
    what = "cost points" if asked is None else "are different"
    of = f"{plural(len(results) - failed, 'decision')} of {printable(bot)}"
    click.echo(f"{len(findings)} of {of} {what}.")
    if late := len(decisions) - len(results):
        why = "were not judged" if stopped else "had no time; add --minutes"
        click.echo(f"{plural(late, 'decision')} more {why}.")
    if failed:
        more = f"{plural(failed, 'decision')} more, {printable(judge)} gave no legal move in time"
        click.echo(f"For {more}; `stich check` finds out why.")
    if faults:
        click.echo(f"{plural(faults, 'fault')} left out: `stich replay {target} MATCH --faults`.")
    if stopped:
        raise stopped


def _decisions(store: RunReader, bot: str, most: int) -> tuple[list[_Decision], int]:
    """Return a bot's decisions in up to `most` matches, and its number of faults in these matches.

    Forced moves and faults are not decisions. Until the run has ended, incomplete blocks are left
    out. The matches are spread evenly over the run, and are in a random order that is the same in
    every call, so the beginning of the list is a sample of the run. Within a match, the decisions
    of each seat are together, in the order of play.

    Raises:
        StoreError: if there is no such bot, the bot made no decision, or the run cannot be read.
        ReplayError, games.OptionError, games.UnknownGame: if a match cannot be replayed.
    """
    run = store.run()
    runs.check_name(bot, run)
    matches = [
        summary.match
        for summary in store.summaries()
        if bot in summary.seating and (run.finished or store.is_complete(summary.block))
    ]
    matches = spread(matches, most)
    random.Random(0).shuffle(matches)  # noqa: S311 (no secret)
    asked = [
        _Decision(row, record.seating, record.scores)
        for record in map(store.match, matches)
        for row in sorted(decision_rows(record), key=attrgetter("seat"))
        if row.bot == bot and not row.forced
    ]
    decisions = [decision for decision in asked if decision.row.fault is None]
    faults = len(asked) - len(decisions)
    if not decisions:
        raise StoreError(
            f"{bot} has made no decision in a block that is over ({plural(faults, 'fault')}). Wait"
            " until its first block has ended, or name another bot: `stich standings` lists them."
        )
    return decisions, faults


def _by_search(decisions: Sequence[_Decision], worlds: int, until: float) -> _Judged:
    """Yield a judgement of each decision, in order, by the moves of `search` with `worlds`
    determinizations. One process per core searches. End early at `until`, a `monotonic` time.

    Raises:
        BrokenProcessPool: if a process dies.
    """
    # Only this process reacts to Ctrl-C, and then ends the others.
    ignore = partial(signal.signal, signal.SIGINT, signal.SIG_IGN)
    cores = max(1, min(len(available_cores()), len(decisions)))
    pool = ProcessPoolExecutor(cores, multiprocessing.get_context("spawn"), initializer=ignore)
    try:
        for judgement in pool.map(partial(_judge, worlds=worlds, until=until), decisions):
            if judgement is None:
                return
            yield judgement
    finally:
        pool.shutdown(cancel_futures=True)


def _judge(decision: _Decision, worlds: int, until: float) -> _Finding | bool | None:
    if monotonic() >= until:
        return None
    view, moves = json.loads(decision.row.view), decision.row.moves
    return _compare(decision, search(view, moves, iterations=worlds), worlds)


def _compare(decision: _Decision, move: str, worlds: int) -> _Finding | bool:
    """Return True if `move`, which must be legal, is the recorded move or has the same ranks.
    Otherwise, return a finding, whose lead is not measured if `worlds` is 0."""
    row, view = decision.row, json.loads(decision.row.view)
    same_ranks = row.action is not None and action_of(read_view(view), move) == row.action
    if move == row.move or same_ranks:
        return True
    lead = measure_lead(view, move, row.move, iterations=worlds) if worlds else None
    return _Finding(decision, move, lead)


def _by_bot(
    bot: Bot,
    launch: LaunchSettings,
    cup: Cup,
    decisions: Sequence[_Decision],
    worlds: int,
    until: float,
) -> _Judged:
    """Yield a judgement of each decision, in order, by the bot's moves with the cup's clock. End
    early at `until`, a `monotonic` time.

    The decisions of a seat in a match must be consecutive, in the order of play. No lead is
    measured if `worlds` is 0. Exit with 1 if the bot does not play the cup's game and options, or
    gives no legal move in time three times in a row.

    Raises:
        StartError: if the bot cannot be started or reached, or what answers is not a bot.
    """
    if why := misfit(ask_about(bot, launch), cup.game, cup.players, cup.options):
        refuse(f"{bot.name}: {why} Name a bot that plays the game of this run.")
    failures: list[str] = []
    with closing(reach(bot, launch)) as player:
        seats = groupby(decisions, lambda decision: (decision.row.match, decision.row.seat))
        for (match, seat), group in seats:
            clock = TimeBank(cup.clock.move_ms, float(cup.clock.bank_ms))
            body = partial(request, f"{match}-{seat}-{secrets.token_hex(4)}")
            place = partial(body, game=cup.game, seat=seat)
            rules = {"players": cup.players, "options": cup.options}
            _notify(player, cup, "/start", place(**rules, clock=clock.to_dict()))
            for turn, decision in enumerate(group, 1):
                if monotonic() >= until:
                    return
                view, moves = json.loads(decision.row.view), decision.row.moves
                asked = body(turn=turn, view=view, moves=moves, clock=clock.to_dict())
                move, why = _ask(player, asked, clock, view)
                failures = [*failures, why] if why else []
                if len(failures) == _FAILURES:
                    refuse(f"{bot.name}: {failures[0]} `stich check` finds out more.")
                yield not why and _compare(decision, move, worlds)
            _notify(player, cup, "/end", place(scores=decision.scores))


def _notify(player: HttpBot, cup: Cup, path: str, body: bytes) -> None:
    if player.takes(path):
        player.notify(path, body, cup.clock.move_ms / 1000)


def _ask(player: HttpBot, body: bytes, clock: TimeBank, view: dict[str, Any]) -> tuple[str, str]:
    """Ask a bot for its move in `view`, and charge `clock`. Return the move and "". If the bot
    gives no legal move in time, return "" and the reason."""
    answer = player.move(body, clock.deadline_ms / 1000)
    clock.charge(answer.elapsed_s * 1000)
    if not isinstance(answer, Choice):
        return "", f"{answer.kind}: {answer.detail}"
    try:
        return read_view(view).check(answer.move).text, ""
    except IllegalMove as error:
        return "", f"{answer.move[:200]} is not legal ({error.reason}): {error.detail}"


def _print(findings: Sequence[_Finding], judge: str) -> None:
    console = make_console()
    width = max(len(judge), len("played"))
    for number, finding in enumerate(findings, 1):
        row, lead = finding.decision.row, finding.lead
        heading = f"{number}. Match {row.match}, move {row.index}"
        console.print(position(json.loads(row.view), finding.decision.seating, heading))
        played = Text(f"{'played':{width}}  ").append_text(move_text(row.move))
        console.print(played, soft_wrap=True)
        points = f"{lead.points:+.2f} ± {lead.error:.2f} points" if lead else ""
        instead = Text(f"{judge:{width}}  ").append_text(move_text(finding.instead))
        console.print(instead.append(f"  {points}", "bold"), soft_wrap=True)
        console.print()


def _to_dict(finding: _Finding) -> dict[str, object]:
    row, lead = finding.decision.row, finding.lead
    return {
        **{name: getattr(row, name) for name in ("match", "block", "seat", "bot", "index")},
        "view": json.loads(row.view),
        "played": row.move,
        "instead": finding.instead,
        "points": lead and round(lead.points, 3),
        "error": lead and round(lead.error, 3),
    }
