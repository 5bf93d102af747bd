"""POST /start and /end: a bot that hangs there does not delay others, and hangs only once."""

import json
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from unittest.mock import Mock

import pytest

from tests.support.service.contract import contract, validator
from tests.support.tournament import played
from tests.support.tournament.played import Dice
from tournament.bot.client import dial_url
from tournament.bot.url_bot import HttpBot


@dataclass
class Notified(Dice):
    """A random bot that takes the notifications at these paths, and calls a function for each."""

    on_notify: Callable[[str], object] = print
    paths: tuple[str, ...] = ("/start", "/end")
    notified: dict[str, Any] = field(default_factory=dict)

    def takes(self, path: str) -> bool:
        return path in self.paths

    def notify(self, path: str, body: bytes, seconds: float) -> None:
        self.notified[path] = json.loads(body)
        self.on_notify(path)


def match_of(*names: str, on_notify: Callable[[str], object], **options: Any) -> None:
    """A match of such bots; the same name is the same bot."""
    bots = {name: Notified(name, on_notify=on_notify, **options) for name in names}
    played.match([bots[name] for name in names])


def test_all_are_notified_at_once() -> None:
    """Each bot waits until all are notified. If notified in sequence, they would deadlock."""
    barrier = threading.Barrier(3, timeout=60)
    match_of("ann", "bob", "cat", on_notify=lambda _: barrier.wait())


def test_a_player_at_two_seats_is_notified_of_each_in_turn() -> None:
    paths: list[str] = []
    lock = threading.Lock()

    def note(path: str) -> None:
        assert lock.acquire(blocking=False)
        paths.append(path)
        lock.release()

    match_of("twice", "twice", "twice", on_notify=note)
    assert paths == ["/start"] * 3 + ["/end"] * 3


def test_who_declined_is_not_notified() -> None:
    paths: list[str] = []
    match_of("ann", "bob", "cat", on_notify=paths.append, paths=("/end",))
    assert paths == ["/end"] * 3


@pytest.mark.parametrize("names", [False, True])
def test_a_match_sends_what_the_contract_documents(names: bool) -> None:
    bots = [Notified(name) for name in ("ann", "bob", "cat")]
    played.match(bots, options={"deals": 2}, names=names)
    for bot in bots:
        start, end = bot.notified["/start"], bot.notified["/end"]
        assert ("names" in start) is names
        assert bot.asked
        requests = [("BotMoveRequest", body) for body in bot.asked]
        for schema, body in (("BotStart", start), *requests, ("BotEnd", end)):
            validator(schema).validate(body)
            assert set(body) <= set(contract()["components"]["schemas"][schema]["properties"])


def test_a_bot_that_hangs_is_not_notified_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        dial = Mock(side_effect=dial_url(url))
        bot = HttpBot(url, dial)
        for path in ("/start", "/end"):
            assert bot.takes(path)
            bot.notify(path, b"{}", 0.05)
            assert not bot.takes(path)
        bot.close()
    assert dial.call_count == 2
