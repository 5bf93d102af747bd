"""An author's bot challenges a connected bot, through the gateway and unranked."""

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager

import pytest

from tests.support.tournament.cups import bot, stich
from tests.support.web.gateways import Gateway
from tools import hostile
from tournament.bot.client import ExchangeError, dial_url
from tournament.bot.url_bot import HttpBot
from web.gateway.calls import EntryRefused
from web.gateway.challenger import ChallengedBot
from web.gateway.challenges import AN_HOUR


@contextmanager
def connected(gateway: Gateway, name: str, *, declines: bool = False) -> Iterator[list[str]]:
    """Run an author's program. Yields what bots were started: "ranked", "challenged"."""
    instances: list[str] = []
    with ExitStack() as stack:

        def reach(what: str) -> HttpBot:
            instances.append(what)
            url = stack.enter_context(hostile.running(hostile.toy(name)))
            return stack.enter_context(closing(HttpBot(url, dial_url(url))))

        challenged = None if declines else lambda: reach("challenged")
        stack.enter_context(gateway.program(name, reach("ranked"), challenged))
        yield instances


def challenge(gateway: Gateway, challenger: str, opponent: str, *more: str) -> tuple[int, str, str]:
    words = ("--token", gateway.token(challenger), "--no-sandbox", "--json", *more)
    done = stich("challenge", gateway.url, opponent, bot("toy-1"), *words)
    return done.returncode, done.stdout, done.stderr


def test_a_challenge_is_a_duel_in_a_separate_process(gateway: Gateway) -> None:
    with connected(gateway, "bob") as asked, closing(gateway.runner("bob")) as ranked:
        code, output, errors = challenge(gateway, "ann", "bob", "--deals", "2")
        assert code == 0, errors
        *_, last = map(json.loads, output.splitlines())
        assert (last["event"], last["matches"] > 0) == ("finished", True)
        faults = {line["bot"]: sum(line["faults"].values()) for line in last["standings"]}
        assert faults == {"ann": 0, "bob": 0}
        assert asked == ["ranked", "challenged"]
        assert ranked.send("/", b"", 60).status == 200, "its table is free"


def test_a_challenge_that_cannot_begin_says_why(gateway: Gateway) -> None:
    with connected(gateway, "ann", declines=True), connected(gateway, "bob"):
        for opponent, why in (
            ("dan", "dan is not connected now."),
            ("nobody", "nobody is not connected now."),
            ("bob", "bob is your own bot; challenge another one."),
            ("ann", "ann takes no challenges: its author has declined them"),
        ):
            code, _, errors = challenge(gateway, "bob", opponent)
            assert (code, errors[: len(why)]) == (1, why)


def test_a_bot_plays_one_challenge_at_a_time_and_20_an_hour(gateway: Gateway) -> None:
    eve, dan = gateway.token("eve"), gateway.token("dan")
    messages: list[str] = []
    with connected(gateway, "bob"):
        with ChallengedBot(gateway.url, eve, "bob", messages.append) as other:
            assert other.answer.terms.game == "doudizhu"
            with pytest.raises(EntryRefused, match="bob is playing a challenge; try again"):
                ChallengedBot(gateway.url, dan, "bob", messages.append)
            player = HttpBot(other.url, dial_url(other.url))
            with closing(player), pytest.raises(ExchangeError):
                player.send("/secret", b"", 60)
            assert set(messages) == {"That was no request of `stich challenge`."}
        for _ in range(10 * AN_HOUR):
            try:
                with ChallengedBot(gateway.url, eve, "bob", messages.append):
                    pass
            except EntryRefused as refused:
                messages.append(str(refused))
                if "is playing" not in messages[-1]:  # the one before is not over yet
                    break
        assert messages[-1].startswith("eve has begun 20 challenges within an hour")
