"""The checks themselves: each asks the bot something and says whether it kept the contract."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import groupby
from time import monotonic
from typing import Any

import games
from tournament.bot.http_client import ConnectionLost, ProtocolError, Reply, ResponseTooLarge
from tournament.bot.protocol import InvalidAnswer, about_problems, read_about
from tournament.check.advice import ABOUT, HOOKS, LISTEN, OUTPUT, UNKNOWN, Advice
from tournament.check.examiner import Evidence, Examiner
from tournament.check.positions import Question, longest, openings, questions
from tournament.check.target import Connection
from tournament.records import Answer
from tournament.text import plural, printable

ENOUGH = 3
"""Failures of one check after which it asks no more."""

_NAME = 64
"""Letters of a name that are shown."""

CHATTER = 64 * 1024
"""Bytes that a bot may write for each answer: so much is kept of a whole match."""


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


def outcome_of(note: str, failures: Sequence[Evidence]) -> Outcome:
    """Passed if there are no failures."""
    return Outcome(not failures, note, tuple(failures))


def ms(value: float) -> str:
    """Milliseconds for people."""
    return f"{value:.1f} ms" if value < 10 else f"{value:.0f} ms"


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
            reply = bot.get_about(examiner.clock.seconds)
        except TimeoutError:
            problem = "No whole answer by the deadline."
        except (OSError, ConnectionLost, ResponseTooLarge, ProtocolError) as error:
            problem = str(error)
        elapsed_ms = (monotonic() - began) * 1000
        answer = bot.answer()
    about: Mapping[str, Any] = {}
    if reply is not None:
        try:
            about = read_about(reply)
            problem = " ".join(about_problems(about, wanted))
        except InvalidAnswer as error:
            problem = str(error)
    known = [name for name in games.GAMES if name in _list(about.get("games"))]
    if problem:
        mend = 'Answer GET / with, say, {"name": "mine", "version": "1.0", "protocol": 1, "games":'
        mend += f" {json.dumps(list(wanted or games.GAMES))}}}."
        told = Advice(ABOUT, mend)
        return outcome_of("", [examiner.found(problem, "/", b"", answer, elapsed_ms, told)]), known
    named = f"{_clipped(about['name'])} {_clipped(about['version'])}"
    named += f": {', '.join(known)}; {ms(elapsed_ms)}"
    return outcome_of(named, []), known


def _clipped(text: str) -> str:
    shown = printable(text)
    return shown if len(shown) <= _NAME else f"{shown[:_NAME]}…"


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


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
                failure = examiner.ask(bot, sitting, question, more).failure
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
        note = f"{plural(number, 'position')} of {plural(situations, 'situation')}"
        if number < len(asked):
            note += f", {len(asked) - number} more not asked"
        return outcome_of(note, failures)

    phases = ", ".join(games.get(game).phases)
    return Check(f"a legal move in every phase of {games.get(game).title}: {phases}", run)


def unknown_fields(game: str) -> Check:
    """Fields that no contract names are left alone."""

    def run(examiner: Examiner) -> Outcome:
        asked = [_with_more(question) for question in questions(game, 6)]
        more = {"weather": {"wind": [None, 1.5, "NE"]}, "protocol_minor": 7}
        number, failures = _ask_all(examiner, asked, more)
        mended = [
            told_also(failure, UNKNOWN, "Read the fields that you need; do not refuse others.")
            for failure in failures
        ]
        return outcome_of(plural(number, "position"), mended)

    return Check("unknown fields in the request are tolerated", run)


def _with_more(question: Question) -> Question:
    view = {**question.view, "newer": {"list": [1, "two", None]}}
    return replace(question, view=view)


def told_also(failure: Evidence, rule: str, mend: str) -> Evidence:
    """The same evidence under a further rule."""
    return replace(failure, rule=f"{rule} {failure.rule}", mend=f"{mend} {failure.mend}")


def long_list(game: str) -> Check:
    """The largest request of a game."""

    def run(examiner: Examiner) -> Outcome:
        asked = longest(game)
        with closing(examiner.connect()) as bot:
            sitting = examiner.sit(bot, asked)
            found = examiner.ask(bot, sitting, asked)
            if found.failure is None:
                examiner.rise(bot, sitting, asked)
        size, failure = len(found.body), found.failure
        note = f"{len(asked.moves)} moves, {size / 1024:.0f} KiB; {ms(found.elapsed_ms)}"
        mend = "Raise the limit on a request's body to 4 MiB; look at the moves in one pass."
        failures = (
            [] if failure is None else [told_also(failure, f"A request of {size} bytes.", mend)]
        )
        return outcome_of(note, failures)

    return Check(f"the largest list of moves of {games.get(game).title}", run)


# POST /start, POST /end


def hooks(game: str) -> Check:
    """POST /start and /end get any answer at all."""

    def run(examiner: Examiner) -> Outcome:
        question = openings(game)[0]
        sitting = examiner.sitting(question)
        bodies = {
            "/start": examiner.starting(sitting, question),
            "/end": examiner.ending(sitting, question),
        }
        failures: list[Evidence] = []
        notes = []
        with closing(examiner.connect()) as bot:
            for path, sent in bodies.items():
                if (
                    path == "/end" and not failures
                ):  # no match without a move; its answer is judged elsewhere
                    examiner.ask(bot, sitting, question)
                began = monotonic()
                problem, long = _told_of(bot, path, sent, examiner.clock.seconds)
                elapsed_ms = (monotonic() - began) * 1000
                examiner.clock.charge(elapsed_ms)
                answer = bot.answer()
                if problem:
                    mend = f"Answer {path} with 200 and {{}}, or with 404, at once."
                    told = Advice(HOOKS, mend)
                    failures.append(examiner.found(problem, path, sent, answer, elapsed_ms, told))
                else:
                    cut = ", longer than is read" if long else ""
                    notes.append(f"{path} {answer.status}{cut}")
        return outcome_of(", ".join(notes), failures)

    return Check("POST /start and POST /end are answered or declined", run)


def _told_of(bot: Connection, path: str, body: bytes, seconds: float) -> tuple[str, bool]:
    """POST and say what went wrong, "" if anything was answered in time; and whether the answer
    was longer than is read, which a runner does not mind."""
    try:
        bot.post(path, body, seconds)
    except TimeoutError:
        return f"No whole answer within {seconds * 1000:.0f} ms.", False
    except ResponseTooLarge:
        return "", True
    except (OSError, ConnectionLost, ProtocolError) as error:
        return str(error), False
    return "", False


# stdout and stderr


def chatter(examiner: Examiner) -> Outcome:
    """What a started bot wrote in the whole check, for each answer."""
    written, loudest = examiner.subject.written() or 0, examiner.loudest
    note = f"{_size(written)} in {plural(examiner.asked, 'answer')}"
    if loudest is None or written <= CHATTER * examiner.asked:
        return outcome_of(note, [])
    problem = (
        f"It wrote {note}, {_size(written // examiner.asked)} for each; only the last 64 KiB of a"
        f" match are kept. At the answer shown it wrote {_size(loudest.written)}."
    )
    mend = "Write a line for a move at most, or nothing; keep what is only for tests switched off."
    return outcome_of(note, [examiner.shown(problem, loudest, Advice(OUTPUT, mend))])


def _size(count: int) -> str:
    if count < 1024:
        return plural(count, "byte")
    return f"{count / 1024:.1f} KiB" if count < 1 << 20 else f"{count / (1 << 20):.1f} MiB"
