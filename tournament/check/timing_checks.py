"""The checks of time: two requests at once, reused and new connections, and the time for a move."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from statistics import median, quantiles

from tournament.check.advice import DEADLINE, PARALLEL, Advice
from tournament.check.examiner import Examiner, MatchSession, Verdict
from tournament.check.outcome import CheckFailure, Outcome
from tournament.check.positions import Question, openings
from tournament.check.protocol_checks import milliseconds, under_rule
from tournament.check.target import Connection

REPEATS = 15
ROUNDS = 3
"""A difference counts only if it is measured this often, because the machine may be busy once."""

NODELAY_MS = 20.0
"""A difference too large for the network; a delayed packet costs about 40 ms."""


def parallel(examiner: Examiner, game: str) -> Outcome:
    """Two requests at once."""
    both = [openings(game)[0], openings(game)[-1]]

    def ask(question: Question, session: MatchSession) -> Verdict:
        with examiner.connect() as bot:
            return examiner.ask(bot, session, question)

    found: list[Verdict] = []
    with ThreadPoolExecutor(2) as threads:
        for _ in range(4):
            with examiner.connect() as bot:
                sessions = [examiner.start_match(bot, question) for question in both]
            found += threads.map(ask, both, sessions)
            if any(verdict.failure for verdict in found):
                break
            with examiner.connect() as bot:
                for session in sessions:
                    examiner.end_match(bot, session)
    slowest = max(verdict.exchange.elapsed_ms for verdict in found)
    fix = (
        "Let the server accept a second connection while one is open: with a thread or a task"
        " for each, as Python's ThreadingHTTPServer."
    )
    return Outcome(
        f"the slower of each pair took at most {milliseconds(slowest)}",
        tuple(under_rule(examiner, each.failure, PARALLEL, fix) for each in found if each.failure),
    )


def connections(examiner: Examiner, game: str) -> Outcome:
    """The same time over a reused connection as over a new one."""
    question = openings(game)[0]
    for _ in range(ROUNDS):
        with examiner.connect() as bot:
            reused = _ask_repeatedly(examiner, question, bot)
        if reused[-1].failure is not None:
            return Outcome("over a reused connection", (reused[-1].failure,))
        new = _ask_repeatedly(examiner, question)
        if new[-1].failure is not None:
            return Outcome("over a new connection", (new[-1].failure,))
        times = _times(reused), _times(new)
        middles = f"reused {milliseconds(median(times[0]))}, new {milliseconds(median(times[1]))}"
        note = f"{middles} (medians of {REPEATS})"
        if not differ(*times):
            return Outcome(note)
    return Outcome(f"{note}, measured {ROUNDS} times", (_slower(examiner, reused, new),))


def differ(reused: Sequence[float], new: Sequence[float]) -> bool:
    """Whether the medians of two lists of milliseconds differ by more than `NODELAY_MS` and twice
    the larger interquartile range."""
    noise = max(_quartile_range(reused), _quartile_range(new))
    return abs(median(reused) - median(new)) > NODELAY_MS + 2 * noise


def _quartile_range(times: Sequence[float]) -> float:
    low, _, high = quantiles(times, n=4, method="inclusive")
    return high - low


def _times(verdicts: Sequence[Verdict]) -> list[float]:
    return [verdict.exchange.elapsed_ms for verdict in verdicts]


def _slower(examiner: Examiner, reused: Sequence[Verdict], new: Sequence[Verdict]) -> CheckFailure:
    over = median(_times(reused)) - median(_times(new))
    if over > 0:
        which, other, slow = "reused", "new", reused
        fix = (
            "Set TCP_NODELAY in the server, and write head and body of an answer at once: otherwise"
            " each answer waits 40 ms for the network."
        )
    else:
        which, other, slow = "new", "reused", new
        fix = (
            "A connection should cost next to nothing: look for a thread or process that is started"
            " for each, or a name that is looked up."
        )
    slowest = max((verdict.exchange for verdict in slow), key=lambda each: each.elapsed_ms)
    problem = f"Over {which} connections it takes {abs(over):.0f} ms more than over {other} ones."
    advice = Advice(DEADLINE, f"{fix} This delay counts as thinking time.")
    return examiner.failure(f"{problem} The slowest of them is shown.", slowest, advice)


def _ask_repeatedly(
    examiner: Examiner, question: Question, bot: Connection | None = None
) -> list[Verdict]:
    """Ask the question repeatedly, over this connection or each time a new one, until an answer
    fails."""

    def connect() -> AbstractContextManager[Connection]:
        return examiner.connect() if bot is None else nullcontext(bot)

    found: list[Verdict] = []
    for _ in range(REPEATS):
        with connect() as used:
            session = examiner.start_match(used, question)
        with connect() as used:
            found.append(examiner.ask(used, session, question))
        if found[-1].failure is not None:
            break
        with connect() as used:
            examiner.end_match(used, session)
    return found


def pace(examiner: Examiner) -> Outcome:
    """The times of all valid answers to single questions, against `move_ms`."""
    if examiner.slowest is None:
        return Outcome("too few answers to judge its time", inconclusive=True)
    first, *rest = examiner.times
    move_ms = examiner.clock.move_ms
    p99 = quantiles(rest, n=100, method="inclusive")[98] if len(rest) > 1 else rest[0]
    note = (
        f"first answer {milliseconds(first)}, then median {milliseconds(median(rest))},"
        f" p99 {milliseconds(p99)} of {len(rest)}; move_ms {move_ms}"
    )
    if p99 <= move_ms:
        return Outcome(note)
    problem = f"One answer in a hundred takes {milliseconds(p99)}, more than {move_ms} ms."
    advice = Advice(
        f"{DEADLINE} What goes over move_ms is taken from the bank.",
        "Think for less than clock.move_ms; leave some for the network and a busy machine.",
    )
    failure = examiner.failure(f"{problem} The slowest is shown.", examiner.slowest, advice)
    return Outcome(note, (failure,))
