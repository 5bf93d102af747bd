"""Problems that prevent a cup are all found before its first match."""

from collections.abc import Iterable
from contextlib import closing
from dataclasses import replace

import pytest

from tests.support.cups import bot
from tools import hostile
from tournament.bot.launch import LaunchSettings
from tournament.config.cup import Bot, Cup, Limits, RunSettings
from tournament.model import Identity
from tournament.run.bot_pool import BotPool
from tournament.run.executor import Inspected
from tournament.run.preflight import inspect

WRONG = {
    "sleep 1000": 'wrong: "sleep 1000" did not answer GET / on 127.0.0.1:',
    "false": 'wrong: "false" ended with code 1 before it answered GET /.',
    "no-such-program --fast": 'wrong: "no-such-program --fast" cannot be started: there is no',
    "http://127.0.0.1:1": "wrong: nothing accepts connections at http://127.0.0.1:1 (Conn",
    "http://no.such.host.invalid": "wrong: nothing accepts connections at http://no.such.",
}


def inspected(bots: Iterable[Bot], game: str = "doudizhu", start_ms: int = 60_000) -> Inspected:
    cup = Cup("Cup", game, 3, tuple(bots))
    with closing(BotPool(cup, LaunchSettings(Limits(), start_ms))) as pool:
        return inspect(cup, pool)


def found(bots: Iterable[Bot], game: str = "doudizhu", start_ms: int = 60_000) -> list[str]:
    return list(inspected(bots, game, start_ms).problems)


@pytest.mark.parametrize("how", WRONG)
def test_a_bot_that_does_not_answer(how: str) -> None:
    wrong = Bot("wrong", url=how) if how.startswith("http") else Bot("wrong", command=how)
    (problem,) = found([wrong], start_ms=300 if how.startswith("sleep") else 60_000)
    assert problem.startswith(WRONG[how])


def test_a_bot_that_does_not_play_the_game_or_speaks_another_protocol() -> None:
    def newer(connection: object, request: object) -> None:
        """Not called: no match is played."""

    about = {"name": "newer", "version": "1", "protocol": 2, "games": ["dasan"]}
    with hostile.running(newer, about) as url:
        started = found([Bot("toy", command=bot("toy-1")), Bot("newer", url=url)], "dasan")
    assert started == [
        "newer: it speaks protocol 2; this runner speaks 1.",
        "toy: it does not play dasan; it says that it plays doudizhu.",
    ]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"<h1>It works</h1>", "Its answer is not JSON"),
        (b'{"status": "ok"}', 'Its answer has no "protocol")'),
        (b'{"protocol": 1}', 'Its answer has no "games")'),
    ],
)
def test_another_server_at_the_url_of_a_bot(body: bytes, why: str) -> None:
    with hostile.running(hostile.hang, hostile.answer(body)) as url:
        (problem,) = found([Bot("wrong", url=url), Bot("toy", command=bot("toy-1"))])
    assert problem.startswith(f"wrong: what answers GET / at {url} is not a bot ({why}")
    assert problem.endswith("); start it, or fix its url.")


def test_a_rules_service_that_is_not_there() -> None:
    cup = replace(Cup("Cup", "doudizhu", 3, ()), run=RunSettings(referee="http://127.0.0.1:1"))
    (problem,) = inspect(cup, BotPool(cup, LaunchSettings(Limits(), 1))).problems
    assert problem.startswith(
        "The rules service at http://127.0.0.1:1 does not answer GET /healthz (no"
    )


def test_what_bots_say_about_themselves_is_kept_as_text() -> None:
    about = {"name": "n\x1b" * 99, "version": ["2"], "author": "Ann <b>", "protocol": 1}
    with hostile.running(hostile.hang, {**about, "games": ["doudizhu"]}) as url:
        said = inspected([Bot("one", url=url), Bot("toy", command=bot("toy-1"))]).about
    assert said == {
        "one": Identity(name="n\\x1b" * 32, author="Ann <b>"),
        "toy": Identity("hostile", "1"),
    }
