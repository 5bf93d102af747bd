"""Before the first match, every bot and the rules service must answer once, so that problems are
reported at once."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import Any

from tournament.bot.client import ConnectionLost, ProtocolError, ResponseTooLarge
from tournament.bot.protocol import PROTOCOL, InvalidAnswer, read_about
from tournament.bot.url_bot import StartError, reach_url
from tournament.config import Bot, Cup
from tournament.match.referee import RefereeError
from tournament.run.bot_pool import BotPool
from tournament.run.executor import Inspected
from tournament.text import printable

_ANSWER_S = 5
_MAX_WORDS = 64  # of what a bot says about itself is kept


def inspect(cup: Cup, bot_pool: BotPool, absent: Container[str] = ()) -> Inspected:
    """Start or reach every bot once. Started bots stay in the pool; those in `absent` play no
    more."""
    found = list(_inspect(cup, bot_pool, absent))
    problems = [said for said in found if isinstance(said, str)]
    about = dict(said for said in found if not isinstance(said, str))
    return Inspected(tuple(problems), about)


def _inspect(
    cup: Cup, bot_pool: BotPool, absent: Container[str]
) -> Iterator[str | tuple[str, Mapping[str, str]]]:
    """Problems, and what each bot that is there says about itself."""
    if cup.run.referee is not None:
        yield from _referee(cup.run.referee)
    bots = [bot for bot in cup.bots if bot.name not in absent]
    for bot in bots:
        if bot.url is not None:
            try:
                about = about_by_url(bot, bot.url)
            except StartError as error:
                yield str(error)
            else:
                yield bot.name, _identity(about)
                yield from _misfits(bot, about, cup.game)
    for bot, running in bot_pool.start(bots):
        if isinstance(running, StartError):
            yield str(running)
        else:
            yield bot.name, _identity(running.about)
            yield from _misfits(bot, running.about, cup.game)


def _identity(about: Mapping[str, Any]) -> dict[str, str]:
    """The name, version and author that a bot says it has, as far as it says them."""
    said = {key: about.get(key) for key in ("name", "version", "author")}
    return {
        key: printable(value[:_MAX_WORDS])
        for key, value in said.items()
        if isinstance(value, str) and value.strip()
    }


def _referee(url: str) -> Iterator[str]:
    """A rules service that the cup names must answer."""
    from tournament.match.remote_referee import HttpReferee

    try:
        HttpReferee(url).ready()
    except RefereeError as error:
        yield str(error)


def about_by_url(bot: Bot, url: str) -> Mapping[str, Any]:
    """What a bot by URL says about itself; StartError if no bot answers there.

    Unlike a started bot it must say its protocol and its games: another server, or a wrong path,
    often answers too.
    """
    player = reach_url(bot, url)
    try:
        about = read_about(player.send("/", b"", _ANSWER_S))
        missing = [key for key in ("protocol", "games") if key not in about]
        why = f'Its answer has no "{missing[0]}".' if missing else ""
    except TimeoutError:
        why = f"No complete answer within {_ANSWER_S} s."
    except (ConnectionLost, ResponseTooLarge, ProtocolError, InvalidAnswer) as error:
        why = str(error)
    finally:
        player.close()
    if why:
        why = printable(why.rstrip("."))
        where = "the end of its connection" if bot.connect else url
        raise StartError(
            f"{bot.name}: what answers GET / at {where} is not a bot ({why}); start it, or fix its"
            " url."
        )
    return about


def _misfits(bot: Bot, about: Mapping[str, Any], game: str) -> Iterator[str]:
    """How what a bot says about itself does not fit the cup; what it does not say fits."""
    protocol, known = about.get("protocol", PROTOCOL), about.get("games", [game])
    if protocol != PROTOCOL:
        spoken = printable(repr(protocol)[:40])
        yield f"{bot.name}: it speaks protocol {spoken}; this runner speaks {PROTOCOL}."
    elif isinstance(known, list) and game not in known:
        plays = printable(", ".join(str(name)[:40] for name in known[:10])) or "no game"
        yield f"{bot.name}: it does not play {game}; it says that it plays {plays}."
