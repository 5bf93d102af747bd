"""`stich review`: the decisions that cost a bot most, or in which another bot differs."""

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
from itertools import chain, groupby
from time import monotonic
from typing import Any, Final, NamedTuple

import click
from rich.progress import track
from rich.text import Text

from bots.search import Lead, measure_lead, search
from games import IllegalMove
from learning.encoding import action_of
from stich.commands.common import (
    Starting,
    as_bot,
    command,
    int_option,
    json_option,
    print_json,
    refuse,
    refuse_nan,
    start_options,
    stopping,
)
from stich.commands.runs import matches_argument, read_run
from stich.console.card_text import move_text
from stich.console.play_screen import position
from stich.console.result_tables import make_console
from stich.env import read_view
from tournament.bench.play import ask_about
from tournament.bot.launch import LaunchSettings
from tournament.bot.protocol import TimeBank, request
from tournament.bot.started_bot import reach
from tournament.bot.supports import misfit
from tournament.bot.url_bot import Choice, HttpBot
from tournament.config.cup import Bot, Cup
from tournament.results.export import DecisionRow, decision_rows
from tournament.results.reading import RunReader
from tournament.run.machine import available_cores
from tournament.sampling import spread
from tournament.store.engine import StoreError
from tournament.text import plural, printable

_SURE: Final = 1.96
"""Standard errors on each side of a 95 % interval."""
_FAILURES: Final = 3
"""After so many failures in a row, a bot is asked no more."""


class RecordedMove(NamedTuple):
    """A recorded decision, with the bots and the scores of its match by seat."""

    row: DecisionRow
    seating: Sequence[str]
    scores: Sequence[int]


@dataclass(frozen=True, slots=True)
class Finding:
    """A decision that another player would have made differently.

    `lead` is the lead of `instead` over the recorded move, or None if it was not measured.
    """

    decision: RecordedMove
    instead: str
    lead: Lead | None = None

    @property
    def certain(self) -> float:
        """The points by which `instead` is at least better, with 95 % confidence."""
        return self.lead.points - _SURE * self.lead.error if self.lead else 0.0


Judged = Iterator[Finding | bool]
"""For each decision a finding, True if the players agree, or False if it was not judged."""


@command
@matches_argument
@click.argument("bot")
@click.option("--with", "other", type=as_bot, metavar="BOT", help="List where this bot disagrees.")
@click.option(
    "--as",
    "later",
    type=as_bot,
    metavar="BOT",
    help="Ask this later version of the bot again, and list where it now decides differently.",
)
@int_option("--top", 1, 10_000, 10, "Decisions to list at most.")
@int_option("--matches", 1, 100_000, 100, "Matches at most, evenly spread over the run.")
@int_option("--worlds", 2, 10_000, 40, "Random deals of the unseen cards for each decision.")
@click.option(
    "--minutes",
    type=click.FloatRange(0, 10_000),
    callback=refuse_nan,
    default=5.0,
    show_default=True,
    help="Begin no further decision after this time.",
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
    """List the decisions that cost BOT most: the position, what it played, and what is better.

    The judge is the reference bot `search`. It says how many points a deal its own move makes more,
    with the standard error. Another bot, asked by --with, has moves and no points.

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
    with stopping("Stopped."):
        asked = other or later
        if asked is None:
            judged = _by_search(decisions, worlds, until)
        else:
            launch = starting.launch([asked], cup.clock.start_ms)
            judged = _by_bot(asked, launch, cup, decisions, worlds if later else 0, until)
        console = make_console(stderr=True)
        shown: Any = {"console": console, "disable": not console.is_terminal}
        results = list(track(judged, "Reviewing", len(decisions), **shown))
    found = [one for one in results if isinstance(one, Finding)]
    if later:
        found.sort(key=lambda one: one.lead.points if one.lead else 0.0)
    elif other is None:
        found = sorted((one for one in found if one.certain > 0), key=lambda one: -one.certain)
    judge = "search" if asked is None else asked.name
    if as_json:
        for one in found[:top]:
            print_json(_to_dict(one))
        return
    for number, one in enumerate(found[:top], 1):
        _show(number, one, judge)
    many = len(results) - results.count(False)
    what = "cost points" if asked is None else "are different"
    click.echo(f"{len(found)} of {plural(many, 'decision')} of {printable(bot)} {what}.")
    if late := len(decisions) - many:
        click.echo(f"{plural(late, 'decision')} more had no time; add --minutes.")
    if faults:
        click.echo(f"{plural(faults, 'fault')} left out: `stich replay {target} MATCH --faults`.")


def _decisions(store: RunReader, bot: str, most: int) -> tuple[list[RecordedMove], int]:
    """Return the decisions of a bot in up to `most` matches, and the number of its faults there.

    The matches are in random order, so that any part of the list is a sample of the run.

    Raises:
        StoreError: if there is no decision.
    """
    run = store.run()
    if bot not in run.cup.names:
        raise StoreError(f"There is no bot {bot}; there are {', '.join(run.cup.names)}.")
    matches = [
        one.match
        for one in store.summaries()
        if bot in one.seating and (run.finished or store.is_complete(one.block))
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
    """Judge decisions by `search`, in a process for each core."""
    ignore = partial(signal.signal, signal.SIGINT, signal.SIG_IGN)  # this process ends the others
    pool = ProcessPoolExecutor(
        max(1, min(len(available_cores()), len(decisions))),
        multiprocessing.get_context("spawn"),
        initializer=ignore,
    )
    try:
        yield from pool.map(partial(_judge, worlds=worlds, until=until), decisions)
    finally:
        pool.shutdown(cancel_futures=True)


def _judge(decision: RecordedMove, worlds: int, until: float) -> Finding | bool:
    """Judge a decision, unless the time is over."""
    if monotonic() >= until:
        return False
    row = decision.row
    return _compare(decision, search(json.loads(row.view), row.moves, iterations=worlds), worlds)


def _compare(decision: RecordedMove, move: str, worlds: int) -> Finding | bool:
    """Compare the recorded move with another legal one. Without worlds, measure nothing."""
    row = decision.row
    view = json.loads(row.view)
    # A play in other suits may be the same.
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
    """Ask a bot for its moves, with the clock of the cup.

    Raises:
        StartError: if the bot cannot be reached.
    """
    if why := misfit(ask_about(bot, launch), cup.game, cup.players, cup.options):
        refuse(f"{printable(bot.name)}: {why} Name a bot that plays the game of this run.")
    failures: list[str] = []
    with closing(reach(bot, launch)) as player:
        for (match, seat), part in groupby(decisions, lambda one: (one.row.match, one.row.seat)):
            table = _Table(player, cup, f"{match}-{seat}-{secrets.token_hex(4)}", next(part))
            for decision in chain([table.first], part):
                if monotonic() >= until:
                    yield False
                    continue
                move, why = table.ask(decision.row)
                failures = [*failures, why] if why else []
                if len(failures) == _FAILURES:
                    again = "`stich check` finds out more."
                    refuse(f"{printable(bot.name)}: {printable(failures[0])} {again}")
                yield not why and _compare(decision, move, worlds)
            table.end()


class _Table:
    """A recorded match, played again from one seat as far as a bot at that seat can tell."""

    def __init__(self, player: HttpBot, cup: Cup, match: str, first: RecordedMove) -> None:
        self.first = first
        self._player, self._match, self._turn = player, match, 0
        self._clock = TimeBank(cup.clock.move_ms, float(cup.clock.bank_ms))
        self._at = {"game": cup.game, "seat": first.row.seat}
        options = {"players": cup.players, "options": cup.options}
        self._notify("/start", **options, clock=self._clock.to_dict())

    def end(self) -> None:
        """Notify the bot of the end of the match."""
        self._notify("/end", scores=self.first.scores)

    def ask(self, row: DecisionRow) -> tuple[str, str]:
        """Ask for a move. Return the move, and why there is no legal one ("" if there is)."""
        self._turn += 1
        view, clock = json.loads(row.view), self._clock
        asked = {"turn": self._turn, "view": view, "moves": row.moves}
        body = request(self._match, **asked, clock=clock.to_dict())
        answer = self._player.move(body, clock.deadline_ms / 1000)
        clock.charge(answer.elapsed_s * 1000)
        if not isinstance(answer, Choice):
            return "", f"{answer.kind}: {answer.detail}"
        try:
            return read_view(view).check(answer.move).text, ""
        except IllegalMove as error:
            return "", f"{answer.move[:200]} is not legal ({error.reason}): {error.detail}"

    def _notify(self, path: str, **fields: object) -> None:
        if self._player.takes(path):
            body = request(self._match, **self._at, **fields)
            self._player.notify(path, body, self._clock.move_ms / 1000)


def _show(number: int, finding: Finding, judge: str) -> None:
    """Print a finding with its position."""
    row, lead = finding.decision.row, finding.lead
    view = json.loads(row.view)
    points = f"{lead.points:+.2f} ± {lead.error:.2f} points" if lead else ""
    console = make_console()
    heading = f"{number}. Match {row.match}, move {row.index}"
    console.print(position(view, finding.decision.seating, heading))
    console.print(Text("played     ").append_text(move_text(row.move)), soft_wrap=True)
    instead = Text(f"{judge}  ").append_text(move_text(finding.instead))
    console.print(instead.append(f"  {points}", "bold"), soft_wrap=True)
    console.print()


def _to_dict(finding: Finding) -> dict[str, object]:
    """The JSON values of a finding. `points` and `error` are None if the lead was not measured."""
    row, lead = finding.decision.row, finding.lead
    return {
        **{name: getattr(row, name) for name in ("match", "block", "seat", "bot", "index")},
        "view": json.loads(row.view),
        "played": row.move,
        "instead": finding.instead,
        "points": lead and round(lead.points, 3),
        "error": lead and round(lead.error, 3),
    }
