"""The checks of the bot protocol: GET /, POST /move, POST /start and /end, stdout and stderr."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

import games
from tournament.bot.client import ConnectionLost, ProtocolError, Reply, ResponseTooLarge
from tournament.bot.protocol import InvalidAnswer, about_problems, read_about
from tournament.check.advice import ABOUT, HOOKS, OUTPUT, UNKNOWN, WHOLE, Advice
from tournament.check.examiner import Examiner, MatchSession
from tournament.check.outcome import CheckFailure, Exchange, Outcome
from tournament.check.positions import Question, longest, openings, questions
from tournament.check.target import Connection
from tournament.text import plural, printable

MAX_FAILURES = 3
"""A check stops at so many failures."""

OUTPUT_LIMIT = 64 * 1024
"""Bytes that a bot may write per answer: as much as is kept of a whole match."""

_NAME_SHOWN = 64


def milliseconds(value: float) -> str:
    """Milliseconds for people."""
    return f"{value:.1f} ms" if value < 10 else f"{value:.0f} ms"


def _send(
    examiner: Examiner, bot: Connection, path: str, body: bytes = b""
) -> tuple[Exchange, Reply | Exception]:
    """GET, or POST a body; the exchange, and the answer or the error that came instead."""
    result: Reply | Exception
    seconds = examiner.clock.deadline_ms / 1000
    try:
        result = bot.send(path, body, seconds)
    except TimeoutError:
        result = TimeoutError(f"No complete answer within {seconds * 1000:.0f} ms.")
    except (OSError, ConnectionLost, ResponseTooLarge, ProtocolError) as error:
        result = error
    url = f"{examiner.target.url}{path}"
    return Exchange(url, body, bot.answer(), bot.elapsed_s * 1000), result


# GET /


def greet(examiner: Examiner, wanted: Sequence[str]) -> tuple[Outcome, list[str]]:
    """Check GET /; the outcome, and the known games that the bot names."""
    about: Mapping[str, Any] = {}
    with examiner.connect() as bot:
        exchange, result = _send(examiner, bot, "/")
    if isinstance(result, Reply):
        try:
            about = read_about(result)
            problem = " ".join(about_problems(about, wanted))
        except InvalidAnswer as error:
            problem = str(error)
    else:
        problem = str(result)
    listed = about.get("games")
    known = [name for name in games.GAMES if isinstance(listed, list) and name in listed]
    if problem:
        unfinished = isinstance(result, TimeoutError) and exchange.answer.status is not None
        fix = WHOLE if unfinished else _example(wanted)
        return Outcome("", (examiner.failure(problem, exchange, Advice(ABOUT, fix)),)), known
    note = f"{_shorten(about['name'])} {_shorten(about['version'])}: {', '.join(known)}"
    return Outcome(f"{note}; {milliseconds(exchange.elapsed_ms)}"), known


def _example(wanted: Sequence[str]) -> str:
    about = {"name": "mine", "version": "1.0", "protocol": 1, "games": list(wanted or games.GAMES)}
    return f"Answer GET / with, say, {json.dumps(about)}."


def _shorten(text: str) -> str:
    shown = printable(text)
    return shown if len(shown) <= _NAME_SHOWN else f"{shown[:_NAME_SHOWN]}…"


# POST /move


def _ask_all(
    examiner: Examiner, asked: Sequence[Question], more: Mapping[str, Any] | None = None
) -> tuple[int, list[CheckFailure]]:
    """Ask over one connection until there are enough failures: how many were asked, and those.

    The questions of one recorded game and seat are one match, started and ended as in a cup.
    """
    failures: list[CheckFailure] = []
    number = 0
    with examiner.connect() as bot:
        for _, match in groupby(asked, key=lambda question: question.seat_in_record):
            session: MatchSession | None = None
            for question in match:
                session = session or examiner.start_match(bot, question)
                number += 1
                failure = examiner.ask(bot, session, question, more).failure
                if failure is not None:
                    failures.append(failure)
                    if failure.final or len(failures) == MAX_FAILURES:
                        return number, failures
            if session is not None:
                examiner.end_match(bot, session)
    return number, failures


def positions(examiner: Examiner, game: str, wanted: int) -> Outcome:
    """A legal move in every situation of a game."""
    asked = questions(game, wanted)
    number, failures = _ask_all(examiner, asked)
    examiner.failed_before = examiner.failed_before or bool(failures)
    situations = len({question.situation for question in asked})
    note = f"{plural(number, 'position')} of {plural(situations, 'situation')}"
    if number < len(asked):
        note += f", {len(asked) - number} more not asked"
    return Outcome(note, tuple(failures))


def unknown_fields(examiner: Examiner, game: str) -> Outcome:
    """Fields that the contract does not name are ignored."""
    asked = [
        replace(question, view={**question.view, "newer": {"list": [1, "two", None]}})
        for question in questions(game, 6)
    ]
    more = {"weather": {"wind": [None, 1.5, "NE"]}, "protocol_minor": 7}
    number, failures = _ask_all(examiner, asked, more)
    fix = "Read the fields that you need; do not reject others."
    return Outcome(
        plural(number, "position"),
        tuple(under_rule(examiner, failure, UNKNOWN, fix) for failure in failures),
    )


def under_rule(examiner: Examiner, failure: CheckFailure, rule: str, fix: str) -> CheckFailure:
    """The same failure with another rule and its fix in front; unless the bot has failed before
    where this rule plays no part."""
    if examiner.failed_before:
        return failure
    advice = Advice(f"{rule} {failure.advice.rule}", f"{fix} {failure.advice.fix}")
    return replace(failure, advice=advice)


def long_list(examiner: Examiner, game: str) -> Outcome:
    """The largest request of a game."""
    asked = longest(game)
    with examiner.connect() as bot:
        session = examiner.start_match(bot, asked)
        verdict = examiner.ask(bot, session, asked)
        if verdict.failure is None:
            examiner.end_match(bot, session)
    size, elapsed_ms = len(verdict.exchange.body), verdict.exchange.elapsed_ms
    note = f"{len(asked.moves)} moves, {size / 1024:.0f} KiB; {milliseconds(elapsed_ms)}"
    if verdict.failure is None:
        return Outcome(note)
    fix = "Raise the limit on a request's body to 4 MiB; look at the moves in one pass."
    rule = f"A request of {size} bytes."
    return Outcome(note, (under_rule(examiner, verdict.failure, rule, fix),))


# POST /start, POST /end


def hooks(examiner: Examiner, game: str) -> Outcome:
    """POST /start and /end get any answer at all."""
    question = openings(game)[0]
    session = MatchSession(examiner.match_id(), question)
    notes: list[str] = []
    failures: list[CheckFailure] = []
    with examiner.connect() as bot:

        def post(path: str, body: bytes) -> None:
            exchange, result = _send(examiner, bot, path, body)
            examiner.charge(exchange.elapsed_ms)
            # A runner ignores the answer, however long.
            if isinstance(result, Reply | ResponseTooLarge):
                cut = ", longer than is read" * isinstance(result, ResponseTooLarge)
                notes.append(f"{path} {exchange.answer.status}{cut}")
            else:
                advice = Advice(HOOKS, f"Answer {path} with 200 and {{}}, or with 404, at once.")
                failures.append(examiner.failure(str(result), exchange, advice))

        post("/start", session.start_request(examiner.clock.to_dict()))
        if not failures:  # a match has at least one move; its answer is judged elsewhere
            examiner.ask(bot, session, question)
        post("/end", session.end_request())
    return Outcome(", ".join(notes), tuple(failures))


# stdout and stderr


def output(examiner: Examiner) -> Outcome:
    """How much a started bot wrote in the whole check, for each answer."""
    written, loudest = examiner.target.written() or 0, examiner.loudest
    note = f"{_size(written)} in {plural(examiner.asked, 'answer')}"
    if loudest is None or written <= OUTPUT_LIMIT * examiner.asked:
        return Outcome(note, output=examiner.target.output())
    problem = (
        f"It wrote {note}, {_size(written // examiner.asked)} for each; only the last 64 KiB of a"
        f" match are kept. At the answer shown it wrote {_size(loudest.written)}."
    )
    fix = "Write at most a line per move, or nothing; switch debugging output off."
    failure = examiner.failure(problem, loudest.exchange, Advice(OUTPUT, fix))
    return Outcome(note, (failure,))


def info(examiner: Examiner) -> Outcome:
    """Warnings of what was dropped of the `info` of its answers; none of it is a fault."""
    found = examiner.target.dropped.most_common(MAX_FAILURES)
    more = len(examiner.target.dropped) - len(found)
    return Outcome(
        f"and {more} more warnings" if more else "",
        warnings=tuple(
            f"{why} Dropped from the info of {plural(count, 'answer')}." for why, count in found
        ),
    )


def _size(count: int) -> str:
    if count < 1024:
        return plural(count, "byte")
    return f"{count / 1024:.1f} KiB" if count < 1 << 20 else f"{count / (1 << 20):.1f} MiB"
