"""The checks themselves: each asks the bot something and says whether it kept the contract."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import groupby
from statistics import median, quantiles
from time import monotonic
from typing import Any

import games
from tournament.check_advice import ABOUT, DEADLINE, HOOKS, LISTEN, PARALLEL, UNKNOWN, Advice
from tournament.check_exchange import Evidence, Examiner, Sitting
from tournament.check_positions import Question, longest, openings, questions
from tournament.check_subject import Connection
from tournament.deadline import Broken, Nonsense, Reply, TooMuch
from tournament.players import declared
from tournament.records import Answer

ENOUGH = 3
"""Failures of one check after which it asks no more."""

REPEATS = 15
NODELAY_MS = 20.0
"""A difference that thinking does not explain; a delayed packet costs about 40 ms."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a check found. `note` is a short line of facts, for passed ones too."""

    passed: bool
    note: str
    failures: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Check:
    """A numbered check: its title, and what it does."""

    title: str
    run: Callable[[Examiner], Outcome]


def _outcome(note: str, failures: Sequence[Evidence]) -> Outcome:
    return Outcome(not failures, note, tuple(failures))


def _ms(value: float) -> str:
    return f"{value:.1f} ms" if value < 10 else f"{value:.0f} ms"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def absent(problem: str) -> Outcome:
    """There is no bot to be asked."""
    mend = "Start it by hand with PORT set, and look what it says."
    return Outcome(
        False, "", (Evidence(problem, "GET", "", "", Answer(), 0.0, rule=LISTEN, mend=mend),)
    )


# GET /


def greet(examiner: Examiner, wanted: Sequence[str]) -> tuple[Outcome, list[str]]:
    """GET /, and the games that the bot names, of those there are."""
    began = monotonic()
    reply: Reply | None = None
    problem = ""
    with closing(examiner.connect()) as bot:
        try:
            reply = bot.greet(examiner.clock.seconds)
        except TimeoutError:
            problem = "No whole answer by the deadline."
        except (OSError, Broken, TooMuch, Nonsense) as error:
            problem = str(error)
        elapsed_ms = (monotonic() - began) * 1000
        answer = bot.answer()
    about = declared(reply) if reply is not None else {}
    if reply is not None:
        problem = " ".join(_about_problems(reply, about, wanted))
    known = [name for name in games.GAMES if name in _list(about.get("games"))]
    if problem:
        mend = 'Answer GET / with, say, {"name": "mine", "version": "1.0", "protocol": 1, "games":'
        mend += f" {json.dumps(list(wanted or games.GAMES))}}}."
        told = Advice(ABOUT, mend)
        return _outcome("", [examiner.found(problem, "/", b"", answer, elapsed_ms, told)]), known
    named = f"{about['name']} {about['version']}: {', '.join(known)}; {_ms(elapsed_ms)}"
    return _outcome(named, []), known


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _about_problems(reply: Reply, about: Mapping[str, Any], wanted: Sequence[str]) -> list[str]:
    """All that is wrong with what a bot says of itself, as sentences."""
    if reply.status != 200:
        return [f"It answered with status {reply.status}, not 200."]
    if reply.encoding not in (None, "", "identity"):
        return [f"Its answer is encoded as {reply.encoding[:40]}; send it plain."]
    if not about:
        return ["Its answer is not a JSON object."]
    problems = [
        f'"{field}" must be a string that is not empty.'
        for field in ("name", "version")
        if not isinstance(about.get(field), str) or not about[field]
    ]
    if "author" in about and not isinstance(about["author"], str):
        problems.append('"author" must be a string, or left out.')
    protocol = about.get("protocol")
    if protocol != 1 or isinstance(protocol, bool):
        problems.append('"protocol" must be the number 1.')
    listed = about.get("games")
    if not isinstance(listed, list) or not listed:
        problems.append('"games" must be a list of the games that it plays.')
        return problems
    unknown = [json.dumps(name)[:40] for name in listed if name not in list(games.GAMES)]
    if unknown:
        there = ", ".join(games.GAMES)
        problems.append(f'"games" names {", ".join(unknown[:5])}; there are {there}.')
    problems += [f'"games" does not name {name}.' for name in wanted if name not in listed]
    return problems


# POST /move


def _ask_all(
    examiner: Examiner, asked: Sequence[Question], more: Mapping[str, Any] | None = None
) -> tuple[int, list[Evidence]]:
    """Ask over one connection until there are enough failures: how many asked, and those.

    The questions of one recorded game and seat are one match, begun and ended as in a cup.
    """
    failures: list[Evidence] = []
    number = 0
    with closing(examiner.connect()) as bot:
        for _, match in groupby(asked, key=lambda question: question.sitting):
            together = list(match)
            sitting = examiner.sit(bot, together[0])
            for question in together:
                number += 1
                failure = examiner.ask(bot, sitting, question, more)[1]
                if failure is not None:
                    failures.append(failure)
                    if failure.final or len(failures) == ENOUGH:
                        return number, failures
            examiner.rise(bot, sitting, together[0])
    return number, failures


def positions(game: str, wanted: int) -> Check:
    """A legal move in every situation of a game."""

    def run(examiner: Examiner) -> Outcome:
        asked = questions(game, wanted)
        number, failures = _ask_all(examiner, asked)
        situations = len({question.situation for question in asked})
        note = f"{_counted(number, 'position')} of {_counted(situations, 'situation')}"
        if number < len(asked):
            note += f", {len(asked) - number} more not asked"
        return _outcome(note, failures)

    phases = ", ".join(games.get(game).phases)
    return Check(f"a legal move in every phase of {games.get(game).title}: {phases}", run)


def unknown_fields(game: str) -> Check:
    """Fields that no contract names are left alone."""

    def run(examiner: Examiner) -> Outcome:
        asked = [_with_more(question) for question in questions(game, 6)]
        more = {"weather": {"wind": [None, 1.5, "NE"]}, "protocol_minor": 7}
        number, failures = _ask_all(examiner, asked, more)
        mended = [
            _told(failure, UNKNOWN, "Read the fields that you need; do not refuse others.")
            for failure in failures
        ]
        return _outcome(_counted(number, "position"), mended)

    return Check("unknown fields in the request are tolerated", run)


def _with_more(question: Question) -> Question:
    view = {**question.view, "newer": {"list": [1, "two", None]}}
    return replace(question, view=view)


def _told(failure: Evidence, rule: str, mend: str) -> Evidence:
    """The same evidence under a further rule."""
    return replace(failure, rule=f"{rule} {failure.rule}", mend=f"{mend} {failure.mend}")


def long_list(game: str) -> Check:
    """The largest request of a game."""

    def run(examiner: Examiner) -> Outcome:
        asked = longest(game)
        with closing(examiner.connect()) as bot:
            sitting = examiner.sit(bot, asked)
            size = len(examiner.body(replace(sitting), asked))
            elapsed_ms, failure = examiner.ask(bot, sitting, asked)
            if failure is None:
                examiner.rise(bot, sitting, asked)
        note = f"{len(asked.moves)} moves, {size / 1024:.0f} KiB; {_ms(elapsed_ms)}"
        mend = "Raise the limit on a request's body to 4 MiB; look at the moves in one pass."
        failures = [] if failure is None else [_told(failure, f"A request of {size} bytes.", mend)]
        return _outcome(note, failures)

    return Check(f"the largest list of moves of {games.get(game).title}", run)


def parallel(game: str) -> Check:
    """Two requests at once."""

    def run(examiner: Examiner) -> Outcome:
        both = [openings(game)[0], openings(game)[-1]]

        def ask(question: Question, sitting: Sitting) -> tuple[float, Evidence | None]:
            with closing(examiner.connect()) as bot:
                return examiner.ask(bot, sitting, question)

        failures: list[Evidence] = []
        times: list[float] = []
        with ThreadPoolExecutor(2) as threads:
            for _ in range(4):
                sittings = _seated(examiner, both)
                for elapsed_ms, failure in threads.map(ask, both, sittings):
                    times.append(elapsed_ms)
                    if failure is not None:
                        mend = "Let the server take the second while the first is being decided."
                        failures.append(_told(failure, PARALLEL, mend))
                if failures:
                    break
                _risen(examiner, both, sittings)
        return _outcome(f"the slower of each two at most {_ms(max(times))}", failures)

    return Check("two requests at once", run)


def _seated(examiner: Examiner, asked: Sequence[Question]) -> list[Sitting]:
    """Begin a match for each question, over a connection that is closed again."""
    with closing(examiner.connect()) as bot:
        return [examiner.sit(bot, question) for question in asked]


def _risen(examiner: Examiner, asked: Sequence[Question], sittings: Sequence[Sitting]) -> None:
    """End them."""
    with closing(examiner.connect()) as bot:
        for question, sitting in zip(asked, sittings, strict=True):
            examiner.rise(bot, sitting, question)


def connections(game: str) -> Check:
    """The same time over a kept connection as over a new one."""

    def run(examiner: Examiner) -> Outcome:
        question = openings(game)[0]
        kept, failure = _timed_kept(examiner, question)
        if failure is not None:
            return _outcome("over a kept connection", [failure])
        new, failure = _timed_new(examiner, question)
        if failure is not None:
            return _outcome("over a new connection", [failure])
        a, b = median(kept), median(new)
        note = f"kept {_ms(a)}, new {_ms(b)} (medians of {REPEATS})"
        if abs(a - b) <= max(NODELAY_MS, max(a, b) / 2):
            return _outcome(note, [])
        return _outcome(note, [_slower(examiner, a, b)])

    return Check("the same time over kept and new connections", run)


def _slower(examiner: Examiner, kept: float, new: float) -> Evidence:
    which, other = ("kept", "new") if kept > new else ("new", "kept")
    mend = (
        "Set TCP_NODELAY in the server, and write head and body of an answer at once: otherwise"
        " each answer waits 40 ms for the network. "
        if kept > new
        else "A connection should cost next to nothing: look for a thread or a process that is"
        " started for each, or for a name that is looked up. "
    )
    told = Advice(DEADLINE, mend + "It counts as thinking time.")
    problem = f"Over {which} connections it takes {abs(kept - new):.0f} ms more than over {other}."
    return examiner.slow(problem, b"", max(kept, new), told)


def _timed_kept(examiner: Examiner, question: Question) -> tuple[list[float], Evidence | None]:
    times: list[float] = []
    with closing(examiner.connect()) as bot:
        for _ in range(REPEATS):
            sitting = examiner.sit(bot, question)
            elapsed_ms, failure = examiner.ask(bot, sitting, question)
            if failure is not None:
                return times, failure
            times.append(elapsed_ms)
            examiner.rise(bot, sitting, question)
    return times, None


def _timed_new(examiner: Examiner, question: Question) -> tuple[list[float], Evidence | None]:
    times: list[float] = []
    for _ in range(REPEATS):
        sittings = _seated(examiner, [question])
        with closing(examiner.connect()) as bot:
            elapsed_ms, failure = examiner.ask(bot, sittings[0], question)
        if failure is not None:
            return times, failure
        times.append(elapsed_ms)
        _risen(examiner, [question], sittings)
    return times, None


# POST /start, POST /end


def hooks(game: str) -> Check:
    """POST /start and /end get any answer at all."""

    def run(examiner: Examiner) -> Outcome:
        question = openings(game)[0]
        sitting = examiner.sitting(question)
        bodies = {
            "/start": examiner.starting(sitting, question),
            "/end": sitting.tells(scores=question.record.scores),
        }
        failures = []
        notes = []
        with closing(examiner.connect()) as bot:
            for path, sent in bodies.items():
                if (
                    path == "/end" and not failures
                ):  # no match without a move; its answer is judged elsewhere
                    examiner.ask(bot, sitting, question)
                began = monotonic()
                problem = _told_of(bot, path, sent, examiner.clock.seconds)
                elapsed_ms = (monotonic() - began) * 1000
                examiner.clock.charge(elapsed_ms)
                answer = bot.answer()
                if problem:
                    mend = f"Answer {path} with 200 and {{}}, or with 404, at once."
                    told = Advice(HOOKS, mend)
                    failures.append(examiner.found(problem, path, sent, answer, elapsed_ms, told))
                else:
                    notes.append(f"{path} {answer.status}")
        return _outcome(", ".join(notes), failures)

    return Check("POST /start and POST /end are answered or declined", run)


def _told_of(bot: Connection, path: str, body: bytes, seconds: float) -> str:
    """POST and say what went wrong, "" if anything was answered in time."""
    try:
        bot.post(path, body, seconds)
    except TimeoutError:
        return f"No whole answer within {seconds * 1000:.0f} ms."
    except (OSError, Broken, TooMuch, Nonsense) as error:
        return str(error)
    return ""


# time


def pace(examiner: Examiner) -> Outcome:
    """The times of all single questions so far, against `move_ms`."""
    times = examiner.times
    if len(times) < 2:
        return Outcome(False, "too few answers to say anything of its time")
    first, rest = times[0], times[1:]
    p99 = quantiles(rest, n=100, method="inclusive")[98] if len(rest) > 1 else rest[0]
    note = (
        f"first answer {_ms(first)}, then median {_ms(median(rest))}, p99 {_ms(p99)}"
        f" of {len(rest)}; move_ms {examiner.clock.move_ms}"
    )
    if p99 <= examiner.clock.move_ms:
        return _outcome(note, [])
    problem = f"One answer in a hundred takes {_ms(p99)}, more than {examiner.clock.move_ms} ms."
    told = Advice(
        DEADLINE + " What goes over move_ms is taken from the bank.",
        "Think for less than clock.move_ms; leave some for the network and a busy machine.",
    )
    return _outcome(note, [examiner.slow(problem, b"", p99, told)])
