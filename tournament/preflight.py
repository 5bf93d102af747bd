"""Before the first match: every bot answers once, so that a wrong one is told at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from itertools import islice
from time import monotonic
from typing import Any

from tournament.config import Bot, Cup
from tournament.deadline import Broken, Nonsense, TooMuch
from tournament.players import HttpBot, declared, dial_url
from tournament.processes import Ground, StartedBot, StartError
from tournament.terminal import printable

_AT_ONCE = 8


def problems(cup: Cup, ground: Ground) -> list[str]:
    """What keeps the cup's bots from playing it, as sentences; none is left running."""
    found: list[str] = []
    bots = iter(cup.bots)
    while some := list(islice(bots, _AT_ONCE)):
        with ExitStack() as stack:
            started = {
                bot.name: StartedBot(bot.name, bot.command, ground)
                for bot in some
                if bot.command is not None
            }
            for process in started.values():
                stack.callback(process.close)
            for bot in some:
                try:
                    about = _about(bot, started, stack)
                except StartError as error:
                    found.append(str(error))
                else:
                    found.extend(_unfit(bot, about, cup.game))
    return found


def _about(bot: Bot, started: Mapping[str, StartedBot], stack: ExitStack) -> Mapping[str, Any]:
    """What a bot says of itself; StartError if it cannot play at all."""
    if bot.url is not None:
        return _called(bot.name, bot.url)
    running = started[bot.name].ready_or_again()
    stack.callback(running.close)
    return running.about


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
    except (TimeoutError, Broken, TooMuch, Nonsense):
        return {}
    finally:
        bot.close()


def _unfit(bot: Bot, about: Mapping[str, Any], game: str) -> Iterable[str]:
    """What a bot itself says that does not fit the cup."""
    protocol, known = about.get("protocol", 1), about.get("games", [game])
    if protocol != 1:
        spoken = printable(repr(protocol)[:40])
        yield f"{bot.name}: it speaks protocol {spoken}; this runner speaks 1."
    if isinstance(known, list) and game not in known:
        plays = printable(", ".join(str(name)[:40] for name in known[:10])) or "no game"
        yield f"{bot.name}: it does not play {game}; it says that it plays {plays}."
