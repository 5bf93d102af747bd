"""The check before the first match, in which every bot and the rules service must answer once."""

from collections.abc import Container, Iterator, Mapping
from itertools import chain
from typing import Any

from tournament.bot.client import ExchangeError
from tournament.bot.protocol import PROTOCOL, read_about
from tournament.bot.supports import misfit
from tournament.bot.url_bot import StartError, reach_url
from tournament.config.cup import Bot, Cup
from tournament.match.match import RefereeError
from tournament.model import Identity
from tournament.run.workers.bot_pool import BotPool
from tournament.run.workers.executor import Inspected
from tournament.text import printable

ANSWER_S = 5
_MAX_WORDS = 64  # characters kept of what a bot states about itself


def inspect(cup: Cup, bot_pool: BotPool, absent: Container[str] = ()) -> Inspected:
    """Start or reach every bot once, except those in `absent`, and reach the rules service if the
    cup names one. Failures, and bots that do not fit the cup, become problems in the result.
    Started bots stay in the pool."""
    problems, identities = [], {}
    if cup.run.referee is not None:
        from tournament.match.remote_referee import HttpReferee  # which takes long to load

        try:
            HttpReferee(cup.run.referee).ready()
        except RefereeError as error:
            problems.append(str(error))
    bots = [bot for bot in cup.bots if bot.name not in absent]
    remote = ((bot, _about_or_error(bot)) for bot in bots if bot.url is not None)
    for bot, about in chain(remote, bot_pool.start(bots)):
        if isinstance(about, StartError):
            problems.append(str(about))
        else:
            identities[bot.name] = identity(about)
            problems += misfits(bot, about, cup)
    return Inspected(tuple(problems), identities)


def _about_or_error(bot: Bot) -> Mapping[str, object] | StartError:
    try:
        return about_by_url(bot)
    except StartError as error:
        return error


def identity(about: Mapping[str, Any]) -> Identity:
    """Return the name, version and author that a bot states, each cut to 64 characters and then
    made printable. A value that is missing, blank or not a string becomes ""."""
    stated = {key: about.get(key) for key in ("name", "version", "author")}
    return Identity(
        **{
            key: printable(value[:_MAX_WORDS])
            for key, value in stated.items()
            if isinstance(value, str) and value.strip()
        }
    )


def about_by_url(bot: Bot) -> Mapping[str, object]:
    """Return what a remote bot states about itself. A wrong server or path often answers too, so
    the answer must have the keys "protocol" and "games".

    Raises:
        StartError: if the host is unknown, if nothing accepts a connection within 5 seconds, if no
            answer comes within another 5 seconds, or if the answer is not that of a bot.
    """
    player = reach_url(bot)
    try:
        about = read_about(player.send("/", b"", ANSWER_S))
        missing = [key for key in ("protocol", "games") if key not in about]
        why = f'Its answer has no "{missing[0]}".' if missing else ""
    except ExchangeError as error:
        why = str(error)
    finally:
        player.close()
    if why:
        why = printable(why.rstrip("."))
        where = "the end of its connection" if bot.connect else bot.url
        raise StartError(
            f"{bot.name}: what answers GET / at {where} is not a bot ({why}); start it, or fix its"
            " url."
        )
    return about


def misfits(bot: Bot, about: Mapping[str, object], cup: Cup) -> Iterator[str]:
    """Yield a sentence if `about`, the bot's answer to GET /, does not fit the cup. What the bot
    leaves out is not checked."""
    protocol = about.get("protocol", PROTOCOL)
    if protocol != PROTOCOL:
        spoken = printable(repr(protocol)[:40])
        yield f"{bot.name}: it speaks protocol {spoken}; this runner speaks {PROTOCOL}."
    elif why := misfit(about, cup.game, cup.players, cup.options):
        yield f"{bot.name}: {why}"
