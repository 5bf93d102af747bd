"""Checks of time: two requests at once, kept and new connections, all answers against the clock."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from statistics import median, quantiles

from tournament.check.advice import DEADLINE, PARALLEL, Advice
from tournament.check.examiner import Asked, Evidence, Examiner, Sitting
from tournament.check.positions import Question, openings
from tournament.check.protocol_checks import Check, Outcome, ms, outcome_of, told_also

REPEATS = 15
ROUNDS = 3
"""How often a difference must be measured to be believed: the machine may have been busy."""

NODELAY_MS = 20.0
"""A difference that the network does not explain; a delayed packet costs about 40 ms."""


def _seated(examiner: Examiner, asked: Sequence[Question]) -> list[Sitting]:
    """Begin a match for each question, over a connection that is closed again."""
    with closing(examiner.connect()) as bot:
        return [examiner.sit(bot, question) for question in asked]


def _risen(examiner: Examiner, asked: Sequence[Question], sittings: Sequence[Sitting]) -> None:
    """End them."""
    with closing(examiner.connect()) as bot:
        for question, sitting in zip(asked, sittings, strict=True):
            examiner.rise(bot, sitting, question)


def parallel(game: str) -> Check:
    """Two requests at once."""

    def run(examiner: Examiner) -> Outcome:
        both = [openings(game)[0], openings(game)[-1]]

        def ask(question: Question, sitting: Sitting) -> Asked:
            with closing(examiner.connect()) as bot:
                return examiner.ask(bot, sitting, question)

        failures: list[Evidence] = []
        times: list[float] = []
        with ThreadPoolExecutor(2) as threads:
            for _ in range(4):
                sittings = _seated(examiner, both)
                for found in threads.map(ask, both, sittings):
                    times.append(found.elapsed_ms)
                    if found.failure is not None:
                        mend = "Let the server take the second while the first is being decided."
                        failures.append(told_also(found.failure, PARALLEL, mend))
                if failures:
                    break
                _risen(examiner, both, sittings)
        return outcome_of(f"the slower of each two at most {ms(max(times))}", failures)

    return Check("two requests at once", run)


def connections(game: str) -> Check:
    """The same time over a kept connection as over a new one."""

    def run(examiner: Examiner) -> Outcome:
        question = openings(game)[0]
        for _ in range(ROUNDS):
            kept = _over_kept(examiner, question)
            if kept[-1].failure is not None:
                return outcome_of("over a kept connection", [kept[-1].failure])
            new = _over_new(examiner, question)
            if new[-1].failure is not None:
                return outcome_of("over a new connection", [new[-1].failure])
            times = [each.elapsed_ms for each in kept], [each.elapsed_ms for each in new]
            note = f"kept {ms(median(times[0]))}, new {ms(median(times[1]))} (medians of {REPEATS})"
            if not differ(*times):
                return outcome_of(note, [])
        return outcome_of(f"{note}, measured {ROUNDS} times", [_slower(examiner, kept, new)])

    return Check("the same time over kept and new connections", run)


def differ(kept: Sequence[float], new: Sequence[float]) -> bool:
    """Whether one kind of connection is slower, by more than the times of each vary (twice their
    interquartile range) and a little; in milliseconds."""
    return abs(median(kept) - median(new)) > NODELAY_MS + 2 * max(_spread(kept), _spread(new))


def _spread(times: Sequence[float]) -> float:
    low, _, high = quantiles(times, n=4, method="inclusive")
    return high - low


def _middle(asked: Sequence[Asked]) -> float:
    return median(each.elapsed_ms for each in asked)


def _slower(examiner: Examiner, kept: Sequence[Asked], new: Sequence[Asked]) -> Evidence:
    over = _middle(kept) - _middle(new)
    which, other = ("kept", "new") if over > 0 else ("new", "kept")
    mend = (
        "Set TCP_NODELAY in the server, and write head and body of an answer at once: otherwise"
        " each answer waits 40 ms for the network. "
        if over > 0
        else "A connection should cost next to nothing: look for a thread or a process that is"
        " started for each, or for a name that is looked up. "
    )
    told = Advice(DEADLINE, mend + "It counts as thinking time.")
    problem = f"Over {which} connections it takes {abs(over):.0f} ms more than over {other}."
    slowest = max(kept if over > 0 else new, key=lambda each: each.elapsed_ms)
    return examiner.shown(f"{problem} The slowest of them is shown.", slowest, told)


def _over_kept(examiner: Examiner, question: Question) -> list[Asked]:
    """The question over one connection, until one fails."""
    found: list[Asked] = []
    with closing(examiner.connect()) as bot:
        for _ in range(REPEATS):
            sitting = examiner.sit(bot, question)
            found.append(examiner.ask(bot, sitting, question))
            if found[-1].failure is not None:
                break
            examiner.rise(bot, sitting, question)
    return found


def _over_new(examiner: Examiner, question: Question) -> list[Asked]:
    """The question over a connection of its own each time, until one fails."""
    found: list[Asked] = []
    for _ in range(REPEATS):
        sittings = _seated(examiner, [question])
        with closing(examiner.connect()) as bot:
            found.append(examiner.ask(bot, sittings[0], question))
        if found[-1].failure is not None:
            break
        _risen(examiner, [question], sittings)
    return found


def pace(examiner: Examiner) -> Outcome:
    """The times of all single questions so far, against `move_ms`."""
    times = examiner.times
    if len(times) < 2 or examiner.slowest is None:
        return Outcome(False, "too few answers to say anything of its time")
    first, rest = times[0], times[1:]
    p99 = quantiles(rest, n=100, method="inclusive")[98] if len(rest) > 1 else rest[0]
    note = (
        f"first answer {ms(first)}, then median {ms(median(rest))}, p99 {ms(p99)}"
        f" of {len(rest)}; move_ms {examiner.clock.move_ms}"
    )
    if p99 <= examiner.clock.move_ms:
        return outcome_of(note, [])
    problem = f"One answer in a hundred takes {ms(p99)}, more than {examiner.clock.move_ms} ms."
    told = Advice(
        DEADLINE + " What goes over move_ms is taken from the bank.",
        "Think for less than clock.move_ms; leave some for the network and a busy machine.",
    )
    slowest = examiner.shown(f"{problem} The slowest is shown.", examiner.slowest, told)
    return outcome_of(note, [slowest])
