"""The whole check of a bot: all checks in order."""

import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from functools import partial

import games
from games.game import Value
from games.shuffle import Randomness
from tournament.bot.about import Scope
from tournament.bot.launch import LaunchSettings
from tournament.bot.protocol import TimeBank
from tournament.bot.started_bot import StartedBot, reach
from tournament.bot.url_bot import InProcessBot, Player, StartError
from tournament.check import checks
from tournament.check.examiner import (
    LISTEN,
    CheckFailure,
    CheckResult,
    Connection,
    Examiner,
    Exchange,
    Outcome,
)
from tournament.check.positions import longest
from tournament.config.cup import Bot, Clock
from tournament.match.match import Match, Referee, Rules
from tournament.records import FaultKind, Pairing
from tournament.text import plural

OPTIONS: Mapping[str, Value] = {"deals": 2}
"""The options of the short matches."""

QUICK = 20
"""The largest number of requests for moves in a quick check."""

MAX_FALLBACK = 0.1
"""The largest share (0 to 1) of a bot's moves that its fallback may make by default."""


def _random_player(seat: int) -> Player:
    random = Randomness(f"check-random-{seat}", 1)
    return InProcessBot(lambda _, moves: moves[random.below(len(moves))])


def _short_match(scope: Scope, examiner: Examiner) -> Outcome:
    """Check the bot at seat 0 in a match against random players. Each fault of the bot, up to the
    fault at which its process ended, is a failure. Set the examiner's `counts_moves` to True."""
    # A program that keeps state may fall back in the recorded games, because it has to follow moves
    # that it did not make. So only moves in matches count, unless no match is played.
    examiner.counts_moves = True
    count = min(scope.players)
    seats = range(1, count)
    clock = Clock(examiner.clock.move_ms, int(examiner.clock.bank_ms))
    options = scope.fit(OPTIONS)
    rules = Rules(scope.game, count, options, clock, strikes=checks.MAX_FAILURES)
    seating = ("checked", *(f"random {seat}" for seat in seats))
    pairing = Pairing.alone(secrets.token_hex(8), seating, "check")
    with closing(Connection(examiner)) as bot:
        players: list[Player] = [bot, *(_random_player(seat) for seat in seats)]
        record = Match(rules, pairing, Referee(), players).play()
    causes = (failure.error for failure in bot.failures)  # of all faults except illegal moves
    failures = []
    for fault in record.faults:
        cause = None if fault.kind is FaultKind.ILLEGAL else next(causes)
        body = fault.request.encode()
        exchange = Exchange(f"{fault.url}/move", body, fault.answer, fault.elapsed_ms)
        failures.append(examiner.fault(fault.kind, fault.detail, cause, exchange))
        if fault.kind is FaultKind.UNREACHABLE and examiner.ended():
            break  # the bot has died, so its other faults say nothing new
    note = f"{plural(record.deals, 'deal')}, {plural(len(record.times[0]), 'move')}"
    return Outcome(f"{note}, score {record.scores[0]:+d}", tuple(failures))


def _checks(
    scopes: Sequence[Scope], wanted: int, max_fallback: float, *, quick: bool
) -> Iterator[tuple[str, Callable[[Examiner], Outcome]]]:
    """Yield the title and the function of each check, except the checks that `check_bot` adds.
    `wanted` is the largest number of positions for each game. With `quick`, there are fewer checks,
    and perhaps fewer positions."""
    main = scopes[0]
    # The lists of the other games are much smaller, and would say nothing new.
    largest = max(scopes, key=lambda scope: len(longest(scope).moves))
    fields = partial(checks.unknown_fields, scope=main)
    if quick:  # the other checks take six requests
        wanted = min(wanted, (QUICK - 6) // len(scopes))
        fields = partial(fields, wanted=1)
    for scope in scopes:
        game = games.get(scope.game)
        title = f"a legal move in every phase of {game.title}: {', '.join(game.phases)}"
        if quick:
            title = f"a legal move in {plural(wanted, 'position')} of {game.title}"
        yield title, partial(checks.positions, scope=scope, wanted=wanted)
    title = "POST /start and POST /end are answered or declined"
    yield title, partial(checks.hooks, scope=main)
    yield "unknown fields in the request are tolerated", fields
    title = f"the largest list of moves of {games.get(largest.game).title}"
    yield title, partial(checks.long_list, scope=largest)
    yield "two requests at once", partial(checks.parallel, scope=main)
    if not quick:
        title = "no more time over reused than over new connections"
        yield title, partial(checks.connections, scope=main)
        for scope in scopes:
            title = f"a short match of {games.get(scope.game).title}"
            yield title, partial(_short_match, scope)
    yield "its moves are its own", partial(checks.own_moves, most=max_fallback, quick=quick)
    yield "what it says beside its moves", checks.info


def check_bot(
    bot: Bot,
    launch: LaunchSettings,
    clock: TimeBank,
    wanted: Scope | None,
    positions: int,
    on_check: Callable[[int, int, str], None],
    on_answer: Callable[[], None],
    *,
    quick: bool = False,
    max_fallback: float = MAX_FALLBACK,
) -> Iterator[CheckResult]:
    """Start or reach a bot, run all checks in order, yield their results, and end a started bot.

    Each check runs when its result is asked for. Closing the iterator also ends a started bot. If
    the bot cannot be started or reached, the only result is a failure. A started bot that has ended
    is restarted before the next check, which is skipped if the bot cannot be restarted. `clock` is
    the bot's time, to which the time of its answers is charged. If `wanted` is not None, the checks
    cover only this scope, and what it leaves open is filled in from the answer to GET /. Otherwise
    they cover everything that the bot says it plays. `positions` is the largest number of positions
    for each game. With `quick`, there are fewer checks and fewer positions. `max_fallback` is the
    largest share (0 to 1) of moves that the bot's fallback may make.

    `on_check` is called before each check except the first two, with the check's number, the total
    number of checks, and the title. `on_answer` is called after every request for a move, answered
    or not, perhaps from another thread.
    """
    title = "the bot is there"
    try:
        reached = reach(bot, launch)
    except StartError as error:
        fix = error.fix or "Start it by hand, and read what it writes."
        if bot.url is not None:
            fix = "Start the bot, or fix the host and the port of the URL."
        failure = CheckFailure(error.problem, None, LISTEN, fix)
        yield CheckResult(1, title, Outcome("", (failure,)))
        return
    with closing(reached):
        yield CheckResult(1, title, Outcome(reached.url))
        examiner = Examiner(reached, clock, on_answer, counts_moves=quick)
        about, scopes = checks.greet(examiner, wanted)
        yield CheckResult(2, "GET / says what the bot is", about)
        remaining = list(_checks(scopes, positions, max_fallback, quick=quick))
        if isinstance(reached, StartedBot):
            writes = partial(checks.output, started=reached, scope=scopes[0])
            remaining.append(("little is written to stdout and stderr", writes))
        remaining.append(("its time for a move", checks.pace))
        for number, (title, run) in enumerate(remaining, start=3):
            on_check(number, len(remaining) + 2, title)
            try:
                if examiner.ended() is not None:
                    reached.restart()
                    reached.disconnect()
                outcome = run(examiner)
            except StartError as error:
                outcome = Outcome(f"it cannot be restarted: {error}", skipped=True)
            yield CheckResult(number, title, outcome)
