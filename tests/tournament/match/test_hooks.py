"""POST /start and /end: a bot that hangs there does not delay others, and hangs only once."""

import socket
import threading

from tests.support import played
from tests.support.played import Dice
from tournament.bot.client import dial_url
from tournament.bot.url_bot import HttpBot


def test_all_are_notified_at_once() -> None:
    """Each bot waits until all are notified; if notified in sequence, they would deadlock."""
    meeting = threading.Barrier(3, timeout=60)

    class Waits(Dice):
        def takes(self, path: str) -> bool:
            return True

        def notify(self, path: str, body: bytes, seconds: float) -> None:
            meeting.wait()

    played.match([Waits("ann"), Waits("bob"), Waits("cat")])


def test_one_player_at_two_seats_is_notified_one_after_the_other() -> None:
    paths: list[str] = []
    alone = threading.Lock()

    class Careful(Dice):
        def takes(self, path: str) -> bool:
            return True

        def notify(self, path: str, body: bytes, seconds: float) -> None:
            assert alone.acquire(blocking=False)
            paths.append(path)
            alone.release()

    twice = Careful("twice")
    played.match([twice, Dice("bob"), twice])
    assert paths == ["/start", "/start", "/end", "/end"]


def test_who_declined_is_not_notified() -> None:
    class Declines(Dice):
        def takes(self, path: str) -> bool:
            return path == "/end"

        def notify(self, path: str, body: bytes, seconds: float) -> None:
            paths.append(path)

    paths: list[str] = []
    played.match([Declines("ann"), Declines("bob"), Declines("cat")])
    assert paths == ["/end"] * 3


def test_a_bot_that_hangs_is_not_notified_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        dial, dialled = dial_url(url), 0

        def counting(deadline: float) -> socket.socket:
            nonlocal dialled
            dialled += 1
            return dial(deadline)

        bot = HttpBot(url, counting)
        for path in ("/start", "/end"):
            assert bot.takes(path)
            bot.notify(path, b"{}", 0.05)
            assert not bot.takes(path)
        bot.close()
    assert dialled == 2
