import json
from typing import Any

import pytest

from tests.support.service.contract import contract, validator
from tests.support.tournament.played import Dice, cup
from tournament.match.match import Match, Referee, Rules
from tournament.records import Pairing


class Listener(Dice):
    def __post_init__(self) -> None:
        super().__post_init__()
        self.notified: dict[str, Any] = {}

    def takes(self, path: str) -> bool:
        return True

    def notify(self, path: str, body: bytes, seconds: float) -> None:
        self.notified[path] = json.loads(body)


@pytest.mark.parametrize("names", [False, True])
def test_a_match_sends_what_the_contract_documents(names: bool) -> None:
    of = cup(options={"deals": 2})
    seating = ("ann", "bob", "cat")
    bots = [Listener(name) for name in seating]
    rules = Rules(of.game, of.players, of.options, of.clock, of.strikes, names)
    Match(rules, Pairing.alone("m", seating, "seed"), Referee(), bots).play()
    for bot in bots:
        start, end = bot.notified["/start"], bot.notified["/end"]
        assert ("names" in start) is names
        assert bot.asked
        requests = [("BotMoveRequest", body) for body in bot.asked]
        for schema, body in (("BotStart", start), *requests, ("BotEnd", end)):
            validator(schema).validate(body)
            assert set(body) <= set(contract()["components"]["schemas"][schema]["properties"])
