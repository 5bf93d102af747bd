"""What the runner sends to bots matches the contract, and the contract documents all of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.service.support import contract, validator
from tests.tournament.check.checked import FEW, checked
from tests.tournament.check.misbehaving import Call, honest, running
from tests.tournament.played import Dice, cup
from tournament.bot.url_bot import Choice, Failure
from tournament.match.match import Rules, play
from tournament.match.referee import Referee
from tournament.records import Pairing

SCHEMAS = {"/start": "BotStart", "/move": "BotMoveRequest", "/end": "BotEnd"}


class Listener(Dice):
    """A random bot that records the requests it gets."""

    received: list[tuple[str, Any]]

    def move(self, body: bytes, seconds: float) -> Choice | Failure:
        self.received.append(("/move", json.loads(body)))
        return super().move(body, seconds)

    def takes(self, path: str) -> bool:
        return True

    def notify(self, path: str, body: bytes, seconds: float) -> None:
        self.received.append((path, json.loads(body)))


@pytest.mark.parametrize("names", [False, True])
def test_a_match_sends_what_the_contract_documents(names: bool) -> None:
    of = cup(options={"deals": 2})
    seating = ("ann", "bob", "cat")
    bots = [Listener(name) for name in seating]
    for bot in bots:
        bot.received = []
    rules = Rules(of.game, of.players, of.options, of.clock, of.strikes, names)
    pairing = Pairing("m", 0, "k", 1, "", 0, 1, seating, seating, "seed")
    play(rules, pairing, Referee(), bots)
    for bot in bots:
        assert {path for path, _ in bot.received} == set(SCHEMAS)
        for path, body in bot.received:
            validator(SCHEMAS[path]).validate(body)
            known = contract()["components"]["schemas"][SCHEMAS[path]]["properties"]
            assert set(body) <= set(known)
        assert ("names" in bot.received[0][1]) is names
        turns = [body["turn"] for path, body in bot.received if path == "/move"]
        assert turns == list(range(1, len(turns) + 1))


def test_a_check_starts_a_bot_as_a_match_does() -> None:
    starts = []

    def act(call: Call) -> None:
        if call.path == "/start":
            starts.append(json.loads(call.body))
        honest(call)

    with running(act) as url:
        assert checked("--url", url, *FEW)[0] == 0
    assert starts
    for start in starts:
        validator("BotStart").validate(start)
