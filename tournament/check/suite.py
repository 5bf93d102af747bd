"""All checks of a bot, numbered and in order."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial
from typing import Any, Protocol

import games
from games.shuffle import Randomness
from tournament.bot.launch import LaunchSettings
from tournament.bot.protocol import TimeBank
from tournament.bot.started_bot import reach
from tournament.bot.url_bot import Choice, NotReached, Player, StartError
from tournament.check import checks
from tournament.check.examiner import Examiner
from tournament.check.outcome import (
    LISTEN,
    Advice,
    CheckFailure,
    CheckResult,
    Exchange,
    Outcome,
)
from tournament.check.positions import longest
from tournament.config import Bot, Clock
from tournament.match.match import Pairing, Rules, play
from tournament.match.referee import LocalReferee
from tournament.records import FaultKind
from tournament.text import plural

OPTIONS: Mapping[str, Any] = {"deals": 2}
"""Those of the short matches."""

Check = tuple[str, Callable[[Examiner], Outcome]]
"""The title of a check, and the function that runs it."""


class CheckObserver(Protocol):
    """Is notified of the progress of a check, by any thread."""

    def start(self, number: int, total: int, title: str) -> None:
        """A check begins."""

    def add_answer(self) -> None:
        """The bot has answered a question, or failed to."""


class _RandomPlayer(Player):
    """A player in this process at another seat: random legal moves, the same in every check."""

    url = "in this process"

    def __init__(self, seat: int) -> None:
        self._random = Randomness(f"check-random-{seat}", 1)

    def move(self, body: bytes, seconds: float) -> Choice:
        """One of the legal moves."""
        moves = json.loads(body)["moves"]
        return Choice(moves[self._random.below(len(moves))], 0.0)


def _short_match(name: str, examiner: Examiner) -> Outcome:
    """Two deals against random players, the bot at seat 0, by the code that plays cups."""
    game = games.get(name)
    seats = range(1, game.min_players)
    clock = Clock(examiner.clock.move_ms, int(examiner.clock.bank_ms))
    rules = Rules(name, game.min_players, OPTIONS, clock, strikes=checks.MAX_FAILURES)
    seating = ("checked", *(f"random {seat}" for seat in seats))
    pairing = Pairing.alone(examiner.match_id(), seating, "check")
    with examiner.connect() as bot:
        players: list[Player] = [bot, *(_RandomPlayer(seat) for seat in seats)]
        record = play(rules, pairing, LocalReferee(), players)
    causes = (failure.error for failure in bot.failures)  # of all faults but illegal moves
    failures = []
    for fault in record.faults:
        cause = None if fault.kind is FaultKind.ILLEGAL else next(causes)
        body = fault.request.encode()
        exchange = Exchange(f"{fault.url}/move", body, fault.answer, fault.elapsed_ms)
        failures.append(examiner.fault(fault.kind, fault.detail, cause, exchange))
        if fault.kind is FaultKind.UNREACHABLE and examiner.ended():
            break  # it has died: the other faults add nothing
    note = f"{plural(record.deals, 'deal')}, {plural(len(record.times[0]), 'move')}"
    return Outcome(f"{note}, score {record.scores[0]:+d}", tuple(failures))


def _checks(names: Sequence[str], wanted: int) -> Iterator[Check]:
    """The checks in which a bot plays these games; `wanted` positions of each."""
    main = names[0]
    # The largest list of all games says most; those of the others are much smaller.
    largest = max(names, key=lambda name: len(longest(name).moves))
    for name in names:
        game = games.get(name)
        title = f"a legal move in every phase of {game.title}: {', '.join(game.phases)}"
        yield title, partial(checks.positions, game=name, wanted=wanted)
    title = "POST /start and POST /end are answered or declined"
    yield title, partial(checks.hooks, game=main)
    title = "unknown fields in the request are tolerated"
    yield title, partial(checks.unknown_fields, game=main)
    title = f"the largest list of moves of {games.get(largest).title}"
    yield title, partial(checks.long_list, game=largest)
    yield "two requests at once", partial(checks.parallel, game=main)
    title = "the same time over reused and new connections"
    yield title, partial(checks.connections, game=main)
    for name in names:
        yield f"a short match of {games.get(name).title}", partial(_short_match, name)
    yield "what it says beside its moves", checks.info


def check_bot(
    bot: Bot,
    launch: LaunchSettings,
    clock: TimeBank,
    wanted: Sequence[str],
    positions: int,
    observer: CheckObserver,
) -> Iterator[CheckResult]:
    """Run all checks in order, for the `wanted` games or else those that the bot names.

    Starts the bot, or reaches it, and ends what it started.
    """
    title = "the bot is there"
    try:
        reached = reach(bot, launch)
    except StartError as error:
        fix = "Start it by hand, and read what it writes."
        if isinstance(error, NotReached):
            fix = "Start the bot, or fix the host and the port of the URL."
        advice = Advice(LISTEN, fix)
        yield CheckResult(1, title, Outcome("", (CheckFailure(str(error), None, advice),)))
        return
    with closing(reached):
        yield CheckResult(1, title, Outcome(reached.url))
        examiner = Examiner(reached, clock, observer.add_answer)
        about, named = checks.greet(examiner, wanted)
        yield CheckResult(2, "GET / says what the bot is", about)
        names = list(wanted) or named or list(games.GAMES)
        found = list(_checks(names, positions))
        if examiner.written() is not None:
            found.append(("little is written to stdout and stderr", checks.output))
        found.append(("its time for a move", checks.pace))
        for number, (title, run) in enumerate(found, start=3):
            observer.start(number, len(found) + 2, title)
            try:
                examiner.restart_if_ended()
                outcome = run(examiner)
            except StartError as error:
                outcome = Outcome(f"it cannot be restarted: {error}", skipped=True)
            yield CheckResult(number, title, outcome)
