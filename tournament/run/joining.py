"""Joining and leaving a ladder: decisions of authors in the store of its run."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from tournament.config.cup import Cup
from tournament.decisions import absent, exclusion_of, finished_by, with_joined
from tournament.errors import StichError
from tournament.names import alike
from tournament.records import Decision, DecisionKind
from tournament.store.store import Store
from tournament.text import plural

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
    """Let a bot join the ladder `cup` (as in its file), whose store is at `target`. JoinRefused;
    StoreError.

    `author` identifies who enters the bot, in at most 64 characters; it is "" for the organiser.
    With `retires`, that bot leaves at the same time.
    """

    def check(decisions: list[Decision]) -> None:
        _check_open(decisions)
        all_bots = with_joined(cup, decisions)
        taken = alike(bot, all_bots.names)
        if taken is not None:
            raise JoinRefused(
                f"The name is that of the bot {taken}, or looks like it; choose another."
            )
        gone = absent(decisions) | {retires}
        playing = {one.name: one.author for one in all_bots.bots if one.name not in gone}
        if author and [*playing.values()].count(author) >= cup.join.per_author:
            most = plural(cup.join.per_author, "bot")
            raise JoinRefused(
                f"An author may have {most} here at once; let one leave with `stich leave`.",
            )
        if len(playing.keys() & seated(all_bots, decisions, checks)) >= cup.join.most:
            most = plural(cup.join.most, "bot")
            raise JoinRefused(f"The ladder is full, with {most}; try again later.")

    left = [Decision(0, DecisionKind.LEAVE, "", "", retires)] if retires else []
    entered = Decision(0, DecisionKind.JOIN, "", "", bot, author=author, version=version)
    with Store.open(target) as store:
        checks = store.get("checks", {})
        store.append_decisions([*left, entered], check)


def seated(cup: Cup, decisions: Sequence[Decision], checks: Mapping[str, str]) -> set[str]:
    """The bots that count as members of the ladder `cup`: not those that joined over an hour ago
    and have never passed the check. `checks` are the results of the checks, "" if a bot passed."""
    since = (datetime.now(UTC) - _UNSEATED).isoformat(timespec="milliseconds")
    new = {one.bot for one in decisions if one.kind == DecisionKind.JOIN and one.at >= since}
    passed = {bot for bot, problem in checks.items() if not problem}
    here = {bot.name for bot in cup.bots if not bot.connect}
    return (here | new | passed) - absent(decisions)


def leave(target: str, cup: Cup, bot: str) -> None:
    """Let a bot leave the ladder `cup`; its results stand. JoinRefused; StoreError."""

    def check(decisions: list[Decision]) -> None:
        _check_open(decisions)
        if bot not in with_joined(cup, decisions).names:
            raise JoinRefused(f"There is no bot {bot} here.")
        if exclusion_of(decisions, bot):
            raise JoinRefused(f"{bot} plays no more already.")

    with Store.open(target) as store:
        store.append_decisions([Decision(0, DecisionKind.LEAVE, "", "", bot)], check)


def _check_open(decisions: list[Decision]) -> None:
    if finished_by(decisions):
        raise JoinRefused("The ladder is over.")
