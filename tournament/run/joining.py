"""Joining and leaving a ladder: decisions of authors in the store of its run."""

from collections.abc import Sequence, Set
from datetime import UTC, datetime, timedelta

from tournament.config.cup import Cup
from tournament.decisions import absent, disqualified, exclusion_of, exclusions, finished_by
from tournament.errors import StichError
from tournament.names import alike, base
from tournament.records import AnyDecision, Join, Leave
from tournament.store.store import Store
from tournament.text import plural

FREED_AFTER = timedelta(days=30)
"""How long after its bot has left a name is kept for the author of the bot."""
_UNSEATED = timedelta(hours=1)
"""How long a bot that has not passed the check counts towards `most`."""


class JoinRefused(StichError):
    """A bot cannot join or leave; the message is a sentence with the fix."""


def join(
    target: str,
    cup: Cup,
    bot: str,
    author: str,
    version: int = 1,
    retires: str = "",
) -> None:
    """Let a bot join the ladder `cup` (as in its file), whose store is at `target`.

    `author` identifies who enters the bot, in at most 64 characters; "" is the organiser. The bot
    `retires`, if given, leaves at the same time.

    Raises:
        JoinRefused: if the bot cannot join.
        StoreError: if the store cannot be used.
    """

    def check(decisions: list[AnyDecision]) -> None:
        _check_open(decisions)
        free = freed(decisions)
        all_bots = cup.with_joined(decisions)
        taken = alike(bot, [one for one in all_bots.names if base(one) not in free or one == bot])
        if taken is not None:
            raise JoinRefused(
                f"The name is that of the bot {taken}, or looks like it; choose another."
            )
        out = disqualified(decisions)
        for one in all_bots.bots:
            if author and one.author == author and one.name in out:
                raise JoinRefused(
                    f"The organiser has disqualified {one.name}, so its author may enter no other"
                    " bot, unless the organiser invites it (`stich invite`)."
                )
        gone = absent(decisions) | {retires}
        playing = {one.name: one.author for one in all_bots.bots if one.name not in gone}
        if author and [*playing.values()].count(author) >= cup.join.per_author:
            most = plural(cup.join.per_author, "bot")
            raise JoinRefused(
                f"An author may have {most} here at once; let one leave with `stich leave`.",
            )
        if len(playing.keys() & seated(all_bots, decisions, passed, failed)) >= cup.join.most:
            most = plural(cup.join.most, "bot")
            raise JoinRefused(f"The ladder is full, with {most}; try again later.")

    left = [Leave(bot=retires)] if retires else []
    entered = Join(bot=bot, author=author, version=version)
    with Store.open(target) as store:
        run = store.run_if_begun()
        passed = run.passed if run is not None else frozenset[str]()
        failed = frozenset(run.failed) if run is not None else frozenset[str]()
        store.decide(*left, entered, check=check)


def freed(decisions: Sequence[AnyDecision]) -> set[str]:
    """Return the names that another author may take over, without versions.

    All bots of such a name have left, the last of them at least FREED_AFTER ago.
    """
    since = (datetime.now(UTC) - FREED_AFTER).isoformat(timespec="milliseconds")
    gone = exclusions(decisions)
    left = {one.bot for one in gone if isinstance(one, Leave) and one.at <= since}
    entered = [one.bot for one in decisions if isinstance(one, Join)]
    kept = {base(bot) for bot in entered if bot not in left}
    return {base(bot) for bot in entered} - kept


def seated(
    cup: Cup, decisions: Sequence[AnyDecision], passed: Set[str], failed: Set[str]
) -> set[str]:
    """Return the bots that count as members of the ladder `cup`.

    Bots that have `failed` the check do not count, nor do bots that joined over an hour ago and
    have not `passed` the check.
    """
    since = (datetime.now(UTC) - _UNSEATED).isoformat(timespec="milliseconds")
    new = {one.bot for one in decisions if isinstance(one, Join) and one.at >= since}
    here = {bot.name for bot in cup.bots if not bot.connect}
    return (here | (new - failed) | passed) - absent(decisions)


def leave(target: str, cup: Cup, bot: str) -> None:
    """Let a bot leave the ladder `cup`. Its results stand.

    Raises:
        JoinRefused: if the bot does not play, or the ladder is over.
        StoreError: if the store cannot be used.
    """

    def check(decisions: list[AnyDecision]) -> None:
        _check_open(decisions)
        if bot not in cup.with_joined(decisions).names:
            raise JoinRefused(f"There is no bot {bot} here.")
        if exclusion_of(decisions, bot):
            raise JoinRefused(f"{bot} no longer plays.")

    with Store.open(target) as store:
        store.decide(Leave(bot=bot), check=check)


def _check_open(decisions: list[AnyDecision]) -> None:
    if finished_by(decisions):
        raise JoinRefused("The ladder is over.")
