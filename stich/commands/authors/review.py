"""`stich review`: list the decisions that cost a bot most, or on which another bot disagrees."""

import json
import multiprocessing
import random
import secrets
import signal
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from time import monotonic
from typing import Any, Final, NamedTuple

import click
from rich.text import Text

from bots.search import Lead, measure_lead, search
from games import IllegalMove
from learning.encoding import action_of
from stich.commands.common import (
    FloatRange,
    Starting,
    as_bot,
    command,
    int_option,
    json_option,
    print_json,
    refuse,
    start_options,
)
from stich.commands.runs import check_name, matches_argument, read_run
from stich.console.card_text import move_text
from stich.console.play_screen import position
from stich.console.progress import progress_bar
from stich.console.result_tables import make_console
from stich.env import read_view
from tournament.bench.play import ask_about
from tournament.bot.launch import LaunchSettings
from tournament.bot.protocol import Choice, TimeBank, request
from tournament.bot.started_bot import reach
from tournament.bot.supports import misfit
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


class RecordedMove(NamedTuple):
    """A recorded decision, with the bots and final scores of its match, both by seat."""

    row: DecisionRow
    seating: Sequence[str]
    scores: Sequence[int]


@dataclass(frozen=True, slots=True)
class Finding:
    """A decision for which another bot, the judge, chooses another move, `instead`.

    `lead` says how much better `instead` is than the recorded move. It is None if that was not
    measured, or if there were too few determinizations to measure it.
    """

    decision: RecordedMove
    instead: str
    lead: Lead | None = None

    @property
    def certain(self) -> float:
        """The lower end of `lead`'s 95 % interval, in points for the deal. 0 if `lead` is None."""
        return self.lead.points - _SURE * self.lead.error if self.lead else 0.0


Judged = Iterator[Finding | bool]
"""For each decision a finding, True if the judge chooses the same move, or False if the judge gave
no legal move in time. The iterator ends early if the time for the review is over."""


@command
@matches_argument
@click.argument("bot")
@click.option(
    "--with",
    "other",
    type=as_bot,
    metavar="BOT",
    help="List the decisions on which this bot disagrees instead.",
)
@click.option(
    "--as",
    "later",
    type=as_bot,
    metavar="BOT",
    help="List the decisions that BOT, a later version of the bot, now makes differently.",
)
@int_option("--top", 1, 10_000, 10, "Decisions to list at most.")
@int_option("--matches", 1, 100_000, 100, "Matches to read at most, evenly spread over the run.")
@int_option("--worlds", 2, 10_000, 40, "Random deals of the unseen cards to try per decision.")
@click.option(
    "--minutes",
    metavar="MINUTES",
    type=FloatRange(0, 10_000),
    default=5.0,
    show_default=True,
    help="Stop judging decisions after this many minutes.",
)
@start_options
@json_option
def review(
    target: str,
    bot: str,
    other: Bot | None,
    later: Bot | None,
    top: int,
    matches: int,
    worlds: int,
    minutes: float,
    starting: Starting,
    as_json: bool,
) -> None:
    """List the decisions that cost BOT most: the position, its move, and a better move.

    The judge is the reference bot `search`. It estimates how many points its own move gains in that
    deal, with the standard error. A bot named by --with is asked for moves only, so no points are
    shown.

    \b
    Examples:
      stich review runs/spring mine
      stich review runs/spring mine --as "python new.py"
    """
    if other and later:
        raise click.UsageError("--with and --as exclude each other; choose one.")
    with read_run(target) as store:
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
    results, stopped = _collect(progress_bar("Reviewing", len(decisions))(judged))
    findings = [result for result in results if isinstance(result, Finding)]
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
    for number, finding in enumerate(findings[:top], 1):
        _show(number, finding, judge)
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


def _collect(
    judged: Iterable[Finding | bool],
) -> tuple[list[Finding | bool], KeyboardInterrupt | None]:
    """Return all results, or those that came before Ctrl-C was pressed. Also return the interrupt,
    if any, so that it can be raised once the results are printed."""
    results: list[Finding | bool] = []
    try:
        results.extend(judged)
    except KeyboardInterrupt as interrupt:
        return results, interrupt
    return results, None


def _decisions(store: RunReader, bot: str, most: int) -> tuple[list[RecordedMove], int]:
    """Return a bot's decisions in up to `most` matches, and its number of faults in them.

    Forced moves and faults are not decisions. The matches are spread evenly over the run, and come
    in a random order that is always the same, so the beginning of the list is a sample of the run.
    Until the run has ended, matches of incomplete blocks are left out.

    Raises:
        StoreError: if there is no such bot, if it has made no decision in these matches, or if the
            run cannot be read.
        ReplayError: if a stored move is not legal.
    """
    run = store.run()
    check_name(bot, run)
    matches = [
        summary.match
        for summary in store.summaries()
        if bot in summary.seating and (run.finished or store.is_complete(summary.block))
    ]
    matches = [matches[number] for number in spread(range(len(matches)), most)]
    random.Random(0).shuffle(matches)  # noqa: S311 (no secret)
    decisions: list[RecordedMove] = []
    faults = 0
    for match in matches:
        record = store.match(match)
        for row in decision_rows(record):
            if row.bot == bot and not row.forced:
                faults += row.fault is not None
                if row.fault is None:
                    decisions.append(RecordedMove(row, record.seating, record.scores))
    if not decisions:
        raise StoreError(
            f"{bot} has made no decision in a block that is over ({plural(faults, 'fault')}). Wait"
            " until its first block has ended, or name another bot: `stich standings` lists them."
        )
    return decisions, faults


def _by_search(decisions: Sequence[RecordedMove], worlds: int, until: float) -> Judged:
    """On iteration, judge each decision in turn by the move of `search`, with one process per core.

    `worlds` determinizations are used to choose a move, and as many again to compare two moves. No
    decision is begun after `until`, a time on the clock of `monotonic`. The iterator then ends.
    Closing it waits for decisions that are being judged.

    Raises:
        BrokenProcessPool: during iteration, if one of the processes dies.
    """
    # Only this process reacts to Ctrl-C, and then ends the others.
    ignore = partial(signal.signal, signal.SIGINT, signal.SIG_IGN)
    pool = ProcessPoolExecutor(
        max(1, min(len(available_cores()), len(decisions))),
        multiprocessing.get_context("spawn"),
        initializer=ignore,
    )
    try:
        for judgement in pool.map(partial(_judge, worlds=worlds, until=until), decisions):
            if judgement is None:
                return
            yield judgement
    finally:
        pool.shutdown(cancel_futures=True)


def _judge(decision: RecordedMove, worlds: int, until: float) -> Finding | bool | None:
    """Compare a decision with the move of `search`, as `_compare` does.

    `worlds` and `until` are as in `_by_search`. Return None if `until` has passed.
    """
    if monotonic() >= until:
        return None
    row = decision.row
    return _compare(decision, search(json.loads(row.view), row.moves, iterations=worlds), worlds)


def _compare(decision: RecordedMove, move: str, worlds: int) -> Finding | bool:
    """Return True if `move`, a bot's choice, is the same as the recorded move, or else a finding.

    `move` must be legal. A play of the same ranks in other suits is the same move. The finding says
    how much better `move` is in up to `worlds` determinizations, unless `worlds` is 0.
    """
    row, view = decision.row, json.loads(decision.row.view)
    action = None if move == row.move else action_of(read_view(view), move)
    if move == row.move or (action is not None and action == row.action):
        return True
    lead = measure_lead(view, move, row.move, iterations=worlds) if worlds else None
    return Finding(decision, move, lead)


def _by_bot(
    bot: Bot,
    launch: LaunchSettings,
    cup: Cup,
    decisions: Sequence[RecordedMove],
    worlds: int,
    until: float,
) -> Judged:
    """On iteration, start or reach a bot, and judge decisions by its moves, with the cup's clock.

    The decisions of a seat in a match must be together, in order of play. `worlds` is as in
    `_compare`. After `until`, a time on the clock of `monotonic`, the bot is not asked and the
    iterator ends. Exit with 1 if the bot does not play the cup's game and options, or gives no
    legal move in time three times in a row.

    Raises:
        StartError: if the bot cannot be started or reached, or does not answer GET / as a bot does.
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
    """POST to `path`, which is /start or /end, if the bot takes that notification.

    Wait for an answer for at most the time of a move, and ignore it. A bot that declines, or does
    not answer in time, no longer takes the notification.
    """
    if player.takes(path):
        player.notify(path, body, cup.clock.move_ms / 1000)


def _ask(player: HttpBot, body: bytes, clock: TimeBank, view: dict[str, Any]) -> tuple[str, str]:
    """Ask a bot for its move in `view` by POST /move with `body`, and charge its `clock`.

    Return the move and "". If the bot gives no legal move in time, return "" and the reason.
    """
    answer = player.move(body, clock.deadline_ms / 1000)
    clock.charge(answer.elapsed_s * 1000)
    if not isinstance(answer, Choice):
        return "", f"{answer.kind}: {answer.detail}"
    try:
        return read_view(view).check(answer.move).text, ""
    except IllegalMove as error:
        return "", f"{answer.move[:200]} is not legal ({error.reason}): {error.detail}"


def _show(number: int, finding: Finding, judge: str) -> None:
    """Print a finding: its number in the list, the position, both moves, and its lead if measured.

    `judge` is the name of the bot that disagrees.
    """
    row, lead = finding.decision.row, finding.lead
    view = json.loads(row.view)
    points = f"{lead.points:+.2f} ± {lead.error:.2f} points" if lead else ""
    console = make_console()
    heading = f"{number}. Match {row.match}, move {row.index}"
    console.print(position(view, finding.decision.seating, heading))
    width = max(len(judge), len("played"))
    console.print(Text(f"{'played':{width}}  ").append_text(move_text(row.move)), soft_wrap=True)
    instead = Text(f"{judge:{width}}  ").append_text(move_text(finding.instead))
    console.print(instead.append(f"  {points}", "bold"), soft_wrap=True)
    console.print()


def _to_dict(finding: Finding) -> dict[str, object]:
    """The JSON values of a finding. `points` and `error` are None if `lead` is None."""
    row, lead = finding.decision.row, finding.lead
    return {
        **{name: getattr(row, name) for name in ("match", "block", "seat", "bot", "index")},
        "view": json.loads(row.view),
        "played": row.move,
        "instead": finding.instead,
        "points": lead and round(lead.points, 3),
        "error": lead and round(lead.error, 3),
    }
