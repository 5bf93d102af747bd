"""`stich check`: does a bot keep the protocol? Numbered checks, each with its evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import games
from tournament.bot.started_bot import StartError
from tournament.check import match_check, protocol_checks, timing_checks
from tournament.check import report as check_report
from tournament.check.examiner import Clock, Examiner
from tournament.check.positions import longest
from tournament.check.protocol_checks import Check, Outcome
from tournament.check.target import Subject


@dataclass(frozen=True, slots=True)
class Numbered:
    """A check with its number and what it found; `outcome` is None where it was not run."""

    number: int
    title: str
    outcome: Outcome | None
    reason: str = ""

    @property
    def passed(self) -> bool:
        """Whether the bot kept this; a check that was not run is not passed."""
        return self.outcome is not None and self.outcome.passed


def plan(names: Sequence[str], wanted: int, *, watched: bool) -> list[Check]:
    """The checks after GET /, for these games; `wanted` positions of each. What a bot writes is
    looked at where it is `watched`, being started here.
    """
    main = names[0]
    # The largest of all lists shows most; the other games' are a small part of it.
    big = max(names, key=lambda name: len(longest(name).moves))
    return [
        *(protocol_checks.positions(name, wanted) for name in names),
        protocol_checks.hooks(main),
        protocol_checks.unknown_fields(main),
        protocol_checks.long_list(big),
        timing_checks.parallel(main),
        timing_checks.connections(main),
        *(match_check.short(name) for name in names),
        *(
            [Check("little is written to stdout and stderr", protocol_checks.chatter)]
            if watched
            else []
        ),
        Check("its time for a move", timing_checks.pace),
    ]


def examine(
    subject: Subject, clock: Clock, wanted: Sequence[str], each: int, bar: check_report.Bar
) -> Iterator[Numbered]:
    """Run all checks in order on a bot; of the games in `wanted`, or else those it names."""
    examiner = Examiner(subject, clock, bar.answered)
    greeting, named = protocol_checks.greet(examiner, wanted)
    yield Numbered(2, "GET / says what the bot is", greeting)
    names = list(wanted) or named or list(games.GAMES)
    checks = plan(names, each, watched=subject.written() is not None)
    for number, check in enumerate(checks, start=3):
        bar.begins(number, len(checks) + 2, check.title)
        try:
            subject.revive()
        except StartError as error:
            yield Numbered(number, check.title, None, f"it does not start again: {error}")
            continue
        yield Numbered(number, check.title, check.run(examiner))
