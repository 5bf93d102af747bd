"""The checks of a bot. Each asks the bot or judges its earlier answers, and returns an
`Outcome`."""

import json
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from itertools import groupby
from statistics import median, quantiles
from threading import Barrier

import games
from tournament.bot.about import Scope, about_problems, read_about, read_supports
from tournament.bot.client import ExchangeError, Reply, ResponseTooLarge, TooLate
from tournament.bot.protocol import InvalidAnswer
from tournament.bot.started_bot import StartedBot
from tournament.check.examiner import (
    DEADLINE,
    WHOLE,
    CheckFailure,
    Connection,
    Examiner,
    Exchange,
    Outcome,
    Verdict,
)
from tournament.check.positions import Question, longest, openings, questions
from tournament.text import plural, printable

MAX_FAILURES = 3
"""The number of failures after which a check stops."""

NODELAY_MS = 20.0
"""A difference in milliseconds too large for the network. A delayed packet costs about 40 ms."""

_OUTPUT_LIMIT = 64 * 1024  # the bytes of output kept of a match, too many for one answer
_REPEATS = 15  # the requests in each measurement of connections
_ROUNDS = 3  # a busy machine may make reused connections slower once, not each time
_SHOWN = 64
_MAX_CAUSES = 5


def _milliseconds(value: float) -> str:
    return f"{value:.1f} ms" if value < 10 else f"{value:.0f} ms"


def _send(bot: Connection, path: str, body: bytes, seconds: float) -> Reply | ExchangeError:
    try:
        return bot.send(path, body, seconds)
    except ExchangeError as error:
        return error


def greet(examiner: Examiner, wanted: Scope | None) -> tuple[Outcome, list[Scope]]:
    """Check GET /. Return the outcome, and the scopes to check the bot with.

    If `wanted` is not None, it is the only scope, and what it leaves open is filled in from the
    answer. Otherwise there is a scope for each known game that the answer lists, or for every game
    if the answer lists none.
    """
    about: Mapping[str, object] = {}
    with closing(Connection(examiner)) as bot:
        result = _send(bot, "/", b"", examiner.clock.deadline_ms / 1000)
    exchange, problem = bot.exchange, str(result)
    if isinstance(result, Reply):
        try:
            about = read_about(result)
            problem = " ".join(about_problems(about, [wanted.game] if wanted else []))
        except InvalidAnswer as error:
            problem = str(error)
    listed = about.get("games")
    known = [name for name in games.GAMES if isinstance(listed, list) and name in listed]
    names = [wanted.game] if wanted else known or list(games.GAMES)
    scopes = [read_supports(about, name)[0] for name in names]
    if wanted is not None:
        scopes = [wanted.within(scopes[0])]
    if not problem:
        texts = [printable(str(about[field])) for field in ("name", "version")]
        shown = [text[:_SHOWN] + "…" * (len(text) > _SHOWN) for text in texts]
        taken = _milliseconds(exchange.elapsed_ms)
        return Outcome(f"{' '.join(shown)}: {', '.join(known)}; {taken}"), scopes
    rule = (
        'GET / is answered with 200 and {"name", "version", "author"?, "protocol": 1, "games":'
        ' [...], "supports"?}, each named once, in at most 64 KiB of JSON.'
    )
    example = {"name": "mine", "version": "1.0", "protocol": 1, "games": names}
    unfinished = isinstance(result, TooLate) and exchange.answer.status is not None
    fix = WHOLE if unfinished else f"Answer GET / with, say, {json.dumps(example)}."
    return Outcome("", (examiner.failure(problem, exchange, rule, fix),)), scopes


def _ask_all(
    examiner: Examiner, asked: Sequence[Question], extra: Mapping[str, object] | None = None
) -> tuple[int, list[CheckFailure]]:
    """Ask the questions over one connection. Stop after MAX_FAILURES failures, or once the bot is
    late or unreachable. Return the number of questions asked, and the failures. Successive
    questions of the same recorded game and seat form a match. `extra` is as in `Connection.ask`."""
    failures: list[CheckFailure] = []
    number = 0
    with closing(Connection(examiner)) as bot:
        for _, group in groupby(asked, key=lambda question: question.seat_in_record):
            match = list(group)
            with bot.match(match[0]):
                for question in match:
                    number += 1
                    failure = bot.ask(question, extra).failure
                    if failure is not None:
                        failures.append(failure)
                        if failure.final or len(failures) == MAX_FAILURES:
                            return number, failures
    return number, failures


def positions(examiner: Examiner, scope: Scope, wanted: int) -> Outcome:
    """Check that the bot makes a legal move in up to `wanted` positions, as varied as possible.

    Stop after MAX_FAILURES failures, or once the bot is late or unreachable. If there are failures,
    set the examiner's `failed_before` to True.
    """
    asked = questions(scope, wanted)
    number, failures = _ask_all(examiner, asked)
    examiner.failed_before = examiner.failed_before or bool(failures)
    situations = len({question.situation for question in asked})
    note = f"{plural(number, 'position')} of {plural(situations, 'situation')}"
    if number < len(asked):
        note += f", {len(asked) - number} more not asked"
    return Outcome(note, tuple(failures))


def unknown_fields(examiner: Examiner, scope: Scope, wanted: int = 6) -> Outcome:
    """Check, in up to `wanted` positions, that the bot ignores unknown fields of requests. Stop
    early as `positions` does."""
    asked = [
        replace(question, view={**question.view, "newer": {"list": [1, "two", None]}})
        for question in questions(scope, wanted)
    ]
    extra = {"weather": {"wind": [None, 1.5, "NE"]}, "protocol_minor": 7}
    number, failures = _ask_all(examiner, asked, extra)
    rule = "A request may have fields that a bot does not know; it ignores them."
    fix = "Read the fields that you need; do not reject others."
    return Outcome(plural(number, "position"), _under_rule(examiner, failures, rule, fix))


def _under_rule(
    examiner: Examiner, failures: Iterable[CheckFailure | None], rule: str, fix: str
) -> tuple[CheckFailure, ...]:
    """Return the failures that are not None. If the check of positions has not failed before, put
    `rule` and `fix` in front of each failure's own rule and fix."""
    found = [failure for failure in failures if failure is not None]
    if not examiner.failed_before:
        found = [replace(old, rule=f"{rule} {old.rule}", fix=f"{fix} {old.fix}") for old in found]
    return tuple(found)


def long_list(examiner: Examiner, scope: Scope) -> Outcome:
    """Check that the bot makes a legal move in the position that `longest` returns for a scope."""
    asked = longest(scope)
    with closing(Connection(examiner)) as bot, bot.match(asked):
        exchange, failure = bot.ask(asked)
    size = len(exchange.body)
    taken = _milliseconds(exchange.elapsed_ms)
    note = f"{len(asked.moves)} moves, {size / 1024:.0f} KiB; {taken}"
    fix = "Raise the limit on a request's body to 4 MiB; look at the moves in one pass."
    return Outcome(note, _under_rule(examiner, [failure], f"A request of {size} bytes.", fix))


def hooks(examiner: Examiner, scope: Scope) -> Outcome:
    """Check that the bot answers POST /start and /end in time, with any status and any body. If it
    answers /start, ask it for a move before /end, but ignore a failure to move."""
    question = openings(scope)[0]
    notes: list[str] = []
    failures: list[CheckFailure] = []
    rule = (
        "POST /start and POST /end are answered with anything, of which at most 64 KiB are read;"
        " 404, 405 and 501 are fine if a bot does not offer them."
    )
    with closing(Connection(examiner)) as bot:
        for path, body in zip(("/start", "/end"), bot.begin(question), strict=True):
            if path == "/end" and not failures:  # a match has a move, which is judged elsewhere
                bot.ask(question)
            result = _send(bot, path, body, examiner.clock.deadline_ms / 1000)
            # A runner ignores the answer, however long it is.
            if isinstance(result, Reply | ResponseTooLarge):
                cut = ", longer than is read" * isinstance(result, ResponseTooLarge)
                notes.append(f"{path} {bot.exchange.answer.status}{cut}")
            else:
                fix = f"Answer {path} with 200 and {{}}, or with 404, at once."
                failures.append(examiner.failure(str(result), bot.exchange, rule, fix))
    return Outcome(", ".join(notes), tuple(failures))


def parallel(examiner: Examiner, scope: Scope) -> Outcome:
    """Check that the bot makes legal moves when two requests arrive at the same time."""
    both = [openings(scope)[0], openings(scope)[-1]]

    def ask(question: Question) -> Verdict:
        with closing(Connection(examiner)) as bot, bot.match(question):
            bot.disconnect()
            barrier.wait()
            return bot.ask(question)

    barrier = Barrier(2)
    with ThreadPoolExecutor(2) as threads:
        verdicts = list(threads.map(ask, both))
    slowest = max(exchange.elapsed_ms for exchange, _ in verdicts)
    rule = "A bot may get a request before it has answered another: the requests are independent."
    fix = (
        "Let the server accept a second connection while one is open: with a thread or a task"
        " for each, as Python's ThreadingHTTPServer."
    )
    failures = _under_rule(examiner, [failure for _, failure in verdicts], rule, fix)
    return Outcome(f"the slower one took {_milliseconds(slowest)}", failures)


def connections(examiner: Examiner, scope: Scope) -> Outcome:
    """Check that the bot does not answer more slowly over reused connections than over new ones.

    The check fails if the bot is `slower` in all three measurements, or does not make a legal move.
    """
    question = openings(scope)[0]
    for _ in range(_ROUNDS):
        reused, failure = _ask_repeatedly(examiner, question, reuse=True)
        if failure is not None:
            return Outcome("over a reused connection", (failure,))
        new, failure = _ask_repeatedly(examiner, question, reuse=False)
        if failure is not None:
            return Outcome("over a new connection", (failure,))
        times = ([exchange.elapsed_ms for exchange in exchanges] for exchanges in (reused, new))
        reused_ms, new_ms = times
        medians = f"reused {_milliseconds(median(reused_ms))}, new {_milliseconds(median(new_ms))}"
        note = f"{medians} (medians of {_REPEATS})"
        if not slower(reused_ms, new_ms):
            return Outcome(note)
    over = median(reused_ms) - median(new_ms)
    slowest = max(reused, key=lambda exchange: exchange.elapsed_ms)
    problem = (
        f"Over reused connections it takes {over:.0f} ms more than over new ones. The slowest of"
        " them is shown."
    )
    fix = (
        "Set TCP_NODELAY in the server, and write head and body of an answer at once: otherwise"
        " each answer waits 40 ms for the network. This delay counts as thinking time."
    )
    failure = examiner.failure(problem, slowest, DEADLINE, fix)
    return Outcome(f"{note}, measured {_ROUNDS} times", (failure,))


def _ask_repeatedly(
    examiner: Examiner, question: Question, *, reuse: bool
) -> tuple[list[Exchange], CheckFailure | None]:
    """Ask a question `_REPEATS` times, but stop if the bot does not make a legal move in time. With
    `reuse`, use the same connection, and otherwise a new connection each time. Return all
    exchanges, and the failure or None."""
    exchanges: list[Exchange] = []
    failure = None
    with closing(Connection(examiner)) as bot:
        while failure is None and len(exchanges) < _REPEATS:
            with bot.match(question):
                if not reuse:
                    bot.disconnect()
                exchange, failure = bot.ask(question)
            exchanges.append(exchange)
    return exchanges, failure


def slower(reused: Sequence[float], new: Sequence[float]) -> bool:
    """Return whether the median of `reused` exceeds the median of `new` by more than `NODELAY_MS`
    plus twice the larger interquartile range. All times are in milliseconds."""
    quartiles = [quantiles(times, n=4, method="inclusive") for times in (reused, new)]
    noise = max(high - low for low, _, high in quartiles)
    return median(reused) - median(new) > NODELAY_MS + 2 * noise


def pace(examiner: Examiner) -> Outcome:
    """Check that 99% of the bot's earlier answers outside the short matches took at most `move_ms`.

    The first answer does not count, because the bot may load something first. With fewer than two
    answers, the check is skipped.
    """
    if len(examiner.valid) < 2:
        return Outcome("too few answers to judge its time", skipped=True)
    first, *rest = (exchange.elapsed_ms for exchange in examiner.valid)
    slowest = max(examiner.valid[1:], key=lambda exchange: exchange.elapsed_ms)
    move_ms = examiner.clock.move_ms
    p99 = quantiles(rest, n=100, method="inclusive")[98] if len(rest) > 1 else rest[0]
    note = (
        f"first answer {_milliseconds(first)}, then median {_milliseconds(median(rest))},"
        f" p99 {_milliseconds(p99)} of {len(rest)}; move_ms {move_ms}"
    )
    if p99 <= move_ms:
        return Outcome(note)
    problem = (
        f"One answer in a hundred takes {_milliseconds(p99)}, more than {move_ms} ms. The slowest"
        " is shown."
    )
    rule = f"{DEADLINE} What goes over move_ms is taken from the bank."
    fix = "Think for less than clock.move_ms; leave some for the network and a busy machine."
    return Outcome(note, (examiner.failure(problem, slowest, rule, fix),))


def output(examiner: Examiner, started: StartedBot, scope: Scope) -> Outcome:
    """Check that `started`, the examiner's bot, writes less than 64 KiB of output for one answer.

    The bot's earlier output is discarded, but its end is in the outcome if the check passes.
    """
    question, shown = openings(scope)[0], examiner.output()
    started.process.clear_output()
    with closing(Connection(examiner)) as bot, bot.match(question):
        bot.ask(question)
    if len(started.output().encode()) < _OUTPUT_LIMIT:
        return Outcome("", output=shown)
    problem = "It wrote 64 KiB or more for an answer; only the last 64 KiB of a match are kept."
    rule = (
        "The last 64 KiB that a bot writes to stdout and stderr in a match are kept; the rest is"
        " lost, and reading it slows down the machine that the bot plays on."
    )
    fix = "Write at most a line per move, or nothing; switch debugging output off."
    return Outcome("", (CheckFailure(problem, None, rule, fix, output=examiner.output()),))


def own_moves(examiner: Examiner, most: float, *, quick: bool) -> Outcome:
    """Check that at most the share `most` (0 to 1) of the moves that the examiner counted came from
    the bot's fallback. `quick`, which changes only the advice, says that these moves were made in
    recorded games rather than in matches."""
    count, shown = examiner.fallbacks.total(), examiner.last_fallback
    if not count or shown is None:
        return Outcome("")
    share = count / examiner.moves
    causes = [f"{why} ({number})" for why, number in examiner.fallbacks.most_common(_MAX_CAUSES)]
    if len(examiner.fallbacks) > _MAX_CAUSES:
        causes.append(f"{plural(len(examiner.fallbacks) - _MAX_CAUSES, 'other cause')}")
    summary = f"{count} of {plural(examiner.moves, 'move')} by its fallback: {'; '.join(causes)}"
    if share <= most:
        return Outcome(summary)
    problem = f"{share:.0%} of its moves are not its own: {summary}."
    rule = (
        'The field "fallback" says that a move is not that of the program or model behind the bot,'
        f" and why. At most {most:.0%} of the moves may have it; --max-fallback changes that."
    )
    fix = (
        "Repair the program or the model behind the bot, or its settings, until it answers with"
        " moves of its own; what the bot wrote has the details. If it needs more time, give it more"
        " with --move-ms; a cup must then have as much as move_ms in [clock]."
    )
    if quick:
        fix += (
            " A program that keeps state cannot take over the recorded games of a quick check:"
            " leave out --quick, and it plays a match from the beginning."
        )
    return Outcome("", (examiner.failure(problem, shown, rule, fix),))


def info(examiner: Examiner) -> Outcome:
    """Warn about the three most common reasons why parts of `info` were dropped or cut."""
    reasons = examiner.dropped.most_common(MAX_FAILURES)
    warnings = (
        f"{why} Dropped or cut in the info of {plural(count, 'answer')}." for why, count in reasons
    )
    return Outcome("", warnings=tuple(warnings))
