"""POST /start and /end: nobody waits for a bot that hangs there, and it hangs once."""

import socket
import threading
from dataclasses import replace

from tests.tournament import played
from tests.tournament.played import Dice
from tournament.bot.player import HttpBot, dial_url
from tournament.match.match import Pairing, Rules, play
from tournament.match.referee import LocalReferee

NAMES = ("ann", "bob", "cat")


def test_all_are_told_at_once() -> None:
    """Each waits until all have been told; one after the other, none would ever go on."""
    meeting = threading.Barrier(3, timeout=60)

    class Waits(Dice):
        def tell(self, path: str, body: bytes, seconds: float) -> None:
            meeting.wait()

    cup = replace(played.cup(NAMES), strikes=100)
    rules = Rules(cup.game, 3, cup.options, cup.clock, cup.strikes)
    pairing = Pairing("m", 1, "k", 1, "", 0, 1, NAMES, NAMES, "seed")
    assert play(rules, pairing, LocalReferee(), [Waits(name) for name in NAMES]).moves


def test_one_player_at_two_seats_is_told_one_after_the_other() -> None:
    told: list[str] = []
    alone = threading.Lock()

    class Careful(Dice):
        def tell(self, path: str, body: bytes, seconds: float) -> None:
            assert alone.acquire(blocking=False)
            told.append(path)
            alone.release()

    cup, twice = played.cup(NAMES), Careful("twice")
    rules = Rules(cup.game, 3, cup.options, cup.clock, cup.strikes)
    pairing = Pairing("m", 1, "k", 1, "", 0, 1, NAMES, NAMES, "seed")
    play(rules, pairing, LocalReferee(), [twice, Dice("bob"), twice])
    assert told == ["/start", "/start", "/end", "/end"]


def test_who_hangs_is_not_told_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        dial, dialled = dial_url(url), 0

        def counting(deadline: float) -> socket.socket:
            nonlocal dialled
            dialled += 1
            return dial(deadline)

        bot = HttpBot(url, counting)
        for path in ("/start", "/end", "/start", "/end"):
            bot.tell(path, b"{}", 0.05)
        bot.close()
    assert dialled == 2
