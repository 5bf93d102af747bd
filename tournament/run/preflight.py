"""Before the first match: every bot and the rules service answer once, so that what is wrong is
told at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from time import monotonic
from typing import Any

from tournament.bot.http_client import ConnectionLost, ProtocolError, ResponseTooLarge
from tournament.bot.player import HttpBot, declared, dial_url
from tournament.bot.process import StartError
from tournament.config import Bot, Cup
from tournament.match.referee import RefereeError
from tournament.run.bot_pool import BotPool
from tournament.text import printable

_AT_ONCE = 8


def problems(cup: Cup, bot_pool: BotPool) -> Iterator[str]:
    """What keeps the cup from being played, as sentences. Bots that run stay in the bot_pool."""
    if cup.run.referee is not None:
        yield from _referee(cup.run.referee)
    for bot in cup.bots:
        if bot.url is not None:
            try:
                yield from _unfit(bot, _called(bot.name, bot.url), cup.game)
            except StartError as error:
                yield str(error)
    commands = iter([bot for bot in cup.bots if bot.command is not None])
    while some := list(islice(commands, _AT_ONCE)):
        for bot, running in bot_pool.start(some):
            if isinstance(running, StartError):
                yield str(running)
            else:
                yield from _unfit(bot, running.about, cup.game)


def _referee(url: str) -> Iterator[str]:
    """A rules service that the cup names must be there."""
    from tournament.match.remote_referee import HttpReferee

    try:
        HttpReferee(url).ready()
    except RefereeError as error:
        yield str(error)


def _called(name: str, url: str) -> Mapping[str, Any]:
    """A bot by URL must take a connection; what it makes of GET / is its own business."""
    mend = "start it, or mend its url"
    try:
        dial = dial_url(url)
    except OSError as error:
        raise StartError(f"{name}: its host is not known ({error.strerror}); {mend}.") from None
    try:
        dial(monotonic() + 5).close()
    except OSError as error:
        why = error.strerror or "no answer within 5 s"
        raise StartError(f"{name}: nothing takes a connection at {url} ({why}); {mend}.") from None
    bot = HttpBot(url, dial)
    try:
        return declared(bot.greet(2))
    except (TimeoutError, ConnectionLost, ResponseTooLarge, ProtocolError):
        return {}
    finally:
        bot.close()


def _unfit(bot: Bot, about: Mapping[str, Any], game: str) -> Iterator[str]:
    """What a bot itself says that does not fit the cup."""
    protocol, known = about.get("protocol", 1), about.get("games", [game])
    if protocol != 1:
        spoken = printable(repr(protocol)[:40])
        yield f"{bot.name}: it speaks protocol {spoken}; this runner speaks 1."
    if isinstance(known, list) and game not in known:
        plays = printable(", ".join(str(name)[:40] for name in known[:10])) or "no game"
        yield f"{bot.name}: it does not play {game}; it says that it plays {plays}."
