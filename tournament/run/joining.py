"""Joining and leaving a ladder. Both are stored as decisions of the run."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from tournament.config.cup import Cup
from tournament.decisions import excluded, finished_by
from tournament.errors import StichError
from tournament.model import Run
from tournament.names import alike, base
from tournament.records import AnyDecision, Disqualify, Join, Leave
from tournament.store.store import Store
from tournament.text import plural

FREED_AFTER = timedelta(days=30)
"""For how long a bot's name is kept for its author after the bot has left."""
_UNSEATED = timedelta(hours=1)  # for which a new bot that has not been checked counts as seated


class JoinRefused(StichError):
    """Raised if a bot cannot join or leave. The message is a sentence that says why."""


def join(target: str, cup: Cup, bot: str, author: str, version: int = 1, retires: str = "") -> None:
    """Store at `target` the decision that the bot named `bot` joins a ladder. `cup` is the ladder
    as its file describes it.

    `author` identifies the bot's author in at most 64 characters, or is "" for the organiser.
    `version` is the number of the bot's version, from 1. From 2 on, the name must end with the
    number, as in ann/2. If `retires` names a bot, that bot leaves at the same time. The caller must
    check the form of the name `bot`, and that the bot `retires` belongs to the author.

    Raises:
        JoinRefused: if the ladder is over or full, the name is taken or looks like a taken name, or
            the author may not enter another bot.
        StoreError: if the store cannot be used.
    """

    def check(decisions: list[AnyDecision]) -> None:
        _check_open(decisions)
        free = freed(decisions)
        all_bots = cup.with_joined(decisions)
        names = [name for name in all_bots.names if base(name) not in free or name == bot]
        if taken := alike(bot, names):
            raise JoinRefused(
                f"The name is that of the bot {taken}, or looks like it; choose another."
            )
        authors = {other.name: other.author for other in all_bots.bots}
        stopped = excluded(decisions)
        for other, decision in sorted(stopped.items()):
            by_author = author and authors.get(other) == author
            if by_author and isinstance(decision, Disqualify):
                raise JoinRefused(
                    f"The organiser has disqualified {other}, so its author may enter no other bot,"
                    " unless the organiser invites it (`stich invite`)."
                )
        playing = authors.keys() - stopped.keys() - {retires}
        if author and [authors[other] for other in playing].count(author) >= cup.join.per_author:
            most = plural(cup.join.per_author, "bot")
            raise JoinRefused(
                f"An author may have {most} here at once; let one leave with `stich leave`."
            )
        if len(playing & seated(all_bots, decisions, run)) >= cup.join.most:
            most = plural(cup.join.most, "bot")
            raise JoinRefused(f"The ladder is full, with {most}; try again later.")

    left = [Leave(bot=retires)] if retires else []
    entered = Join(bot=bot, author=author, version=version)
    with Store.open(target) as store:
        run = store.run_if_begun()
        store.decide(*left, entered, check=check)


def freed(decisions: Sequence[AnyDecision]) -> set[str]:
    """Return the names of bots, without versions, that another author may now use. A name is free
    once FREED_AFTER has passed since its last version left, unless the organiser excluded a
    version."""
    since = (datetime.now(UTC) - FREED_AFTER).isoformat(timespec="milliseconds")
    left = {
        bot
        for bot, decision in excluded(decisions).items()
        if isinstance(decision, Leave) and decision.at <= since
    }
    entered = [decision.bot for decision in decisions if isinstance(decision, Join)]
    return {base(bot) for bot in entered} - {base(bot) for bot in entered if bot not in left}


def seated(cup: Cup, decisions: Sequence[AnyDecision], run: Run | None) -> set[str]:
    """Return the bots that count towards a ladder's limit `join.most`. Each of them still plays,
    and either need not connect, has passed the check, or joined within the last hour and has not
    failed the check.

    `cup` must include the bots that have joined. `run` is None before the run begins.
    """
    since = (datetime.now(UTC) - _UNSEATED).isoformat(timespec="milliseconds")
    counted = {join.bot for join in decisions if isinstance(join, Join) and join.at >= since}
    if run is not None:
        counted = (counted - run.failed.keys()) | run.passed
    need_not_connect = (bot.name for bot in cup.bots if not bot.connect)
    return counted.union(need_not_connect).difference(excluded(decisions))


def leave(target: str, cup: Cup, bot: str) -> None:
    """Store at `target` the decision that a bot leaves the ladder. `cup` is as in `join`. The bot's
    results stand. The caller must check that the bot belongs to the author who asks.

    Raises:
        JoinRefused: if there is no such bot, the bot no longer plays, or the ladder is over.
        StoreError: if the store cannot be used.
    """

    def check(decisions: list[AnyDecision]) -> None:
        _check_open(decisions)
        if bot not in cup.with_joined(decisions).names:
            raise JoinRefused(f"There is no bot {bot} here.")
        if bot in excluded(decisions):
            raise JoinRefused(f"{bot} no longer plays.")

    with Store.open(target) as store:
        store.decide(Leave(bot=bot), check=check)


def _check_open(decisions: list[AnyDecision]) -> None:
    if finished_by(decisions):
        raise JoinRefused("The ladder is over.")
