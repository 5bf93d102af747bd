"""All checks of a bot, numbered and in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Protocol

import games
from tournament.bot.launch import LaunchSettings
from tournament.bot.protocol import TimeBank
from tournament.bot.started_bot import reach
from tournament.bot.url_bot import NotReached, StartError
from tournament.check import match_check, protocol_checks, timing_checks
from tournament.check.advice import LISTEN, Advice
from tournament.check.examiner import Examiner
from tournament.check.outcome import CheckFailure, CheckResult, Outcome
from tournament.check.positions import longest
from tournament.check.target import Target
from tournament.config import Bot


class Check(NamedTuple):
    """A check: its title, the function that runs it, and what that needs besides the examiner."""

    title: str
    run: Callable[..., Outcome]
    about: tuple[object, ...] = ()


_OUTPUT = Check("little is written to stdout and stderr", protocol_checks.output)
_INFO = Check("what it says beside its moves", protocol_checks.info)
_PACE = Check("its time for a move", timing_checks.pace)


class CheckObserver(Protocol):
    """Is notified of the progress of a check, by any thread."""

    def start(self, number: int, total: int, title: str) -> None:
        """A check begins."""

    def add_answer(self) -> None:
        """The bot is asked a question."""


def game_checks(names: Sequence[str], wanted: int) -> list[Check]:
    """The checks in which a bot plays these games; `wanted` positions of each."""
    main = (names[0],)
    # The largest list of all games says most; those of the others are much smaller.
    largest = max(names, key=lambda name: len(longest(name).moves))

    played = [games.get(name) for name in names]
    return [
        *(
            Check(
                f"a legal move in every phase of {game.title}: {', '.join(game.phases)}",
                protocol_checks.positions,
                (game.name, wanted),
            )
            for game in played
        ),
        Check("POST /start and POST /end are answered or declined", protocol_checks.hooks, main),
        Check("unknown fields in the request are tolerated", protocol_checks.unknown_fields, main),
        Check(
            f"the largest list of moves of {games.get(largest).title}",
            protocol_checks.long_list,
            (largest,),
        ),
        Check("two requests at once", timing_checks.parallel, main),
        Check("the same time over reused and new connections", timing_checks.connections, main),
        *(
            Check(f"a short match of {game.title}", match_check.short_match, (game.name,))
            for game in played
        ),
    ]


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
        target = Target(reach(bot, launch))
    except StartError as error:
        fix = "Start it by hand, and read what it writes."
        if isinstance(error, NotReached):
            fix = "Start the bot, or fix the host and the port of the URL."
        advice = Advice(LISTEN, fix)
        yield CheckResult(1, title, Outcome("", (CheckFailure(str(error), None, advice),)))
        return
    try:
        yield CheckResult(1, title, Outcome(target.url))
        examiner = Examiner(target, clock, observer.add_answer)
        about, named = protocol_checks.greet(examiner, wanted)
        yield CheckResult(2, "GET / says what the bot is", about)
        names = list(wanted) or named or list(games.GAMES)
        # What a bot writes is seen only if it was started here.
        output = [] if target.written() is None else [_OUTPUT]
        checks = [*game_checks(names, positions), _INFO, *output, _PACE]
        for number, check in enumerate(checks, start=3):
            observer.start(number, len(checks) + 2, check.title)
            try:
                target.restart_if_ended()
            except StartError as error:
                outcome = Outcome(f"it cannot be restarted: {error}", skipped=True)
            else:
                outcome = check.run(examiner, *check.about)
            yield CheckResult(number, check.title, outcome)
    finally:
        target.close()
