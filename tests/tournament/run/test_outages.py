"""A bot by URL that cannot be reached: void matches, waiting, and then faults."""

import socket
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from tests.support.tournament import cups, played
from tests.support.tournament.cups import served_toys, stich, succeed, write
from tests.support.tournament.one_table import Clock
from tests.support.web.network import Link
from tools import hostile
from tournament.bot.url_bot import Failure
from tournament.config.cup import Bot, Cup
from tournament.match.match import Match, MatchVoid, Referee
from tournament.records import Answer, AnyVoid, FaultKind, Outage, Pairing, Revocation, place_of
from tournament.run.outages import Outages
from tournament.store.store import Store

URL = "http://127.0.0.1:9"
CUP = replace(played.cup(), bots=tuple(Bot(name, url=URL) for name in ("ann", "bob", "cat")))


@pytest.mark.parametrize(
    ("kind", "awaited", "void"),
    [
        (FaultKind.UNREACHABLE, "bob", True),
        (FaultKind.UNREACHABLE, "cat", False),
        (FaultKind.TIMEOUT, "bob", False),
        (FaultKind.INVALID, "bob", False),
    ],
)
def test_a_match_is_void_if_an_awaited_bot_is_unreachable(
    monkeypatch: pytest.MonkeyPatch, kind: FaultKind, awaited: str, void: bool
) -> None:
    bots = [played.Dice(name) for name in CUP.names]
    failure = Failure(kind, "No connection.", 0.001, Answer())
    monkeypatch.setattr(bots[1], "move", Mock(return_value=failure))
    pairing = Pairing.alone("m", CUP.names, "seed")
    match = Match(played.rules(CUP), pairing, Referee(), bots, awaited=frozenset({awaited}))
    if void:
        with pytest.raises(MatchVoid) as ended:
            match.play()
        assert (ended.value.record.bot, ended.value.record.why) == ("bob", "No connection.")
    else:
        assert {(fault.seat, fault.kind) for fault in match.play().faults} == {(1, kind)}


PLACE = place_of(replace(Pairing.alone("m", ("ann", "bob"), "seed"), block=3))
FACTS = PLACE | {"why": "Why.", "started": "2026", "ended": "2027"}


def void(bot: str) -> Outage:
    return Outage(**FACTS, bot=bot)


@contextmanager
def outages_of(cup: Cup, voids: Sequence[AnyVoid] = ()) -> Iterator[Outages]:
    """The outages in the first round of a cup after these void matches."""
    with closing(Outages(cup)) as outages:
        outages.begin_round(1, cup, voids)
        yield outages


def test_after_outage_s_the_faults_of_a_bot_count(clock: Clock) -> None:
    with outages_of(CUP) as outages:
        assert outages.wait_for(CUP.names) == {"ann", "bob", "cat"}
        outages.add(void("bob"))
        for now, away in ((299, ("bob",)), (300, ())):
            clock.now = now
            outages.update()
            assert outages.away == away
        outages.begin_round(2, CUP, [])
        assert outages.wait_for(CUP.names) == {"ann", "cat"}


def test_after_voids_matches_the_faults_of_a_bot_count() -> None:
    """Void matches before a stop count, too, except by decisions."""
    decided = Revocation(**FACTS, decision=1, record="")
    with outages_of(CUP, [decided, decided, void("ann"), void("ann"), void("bob")]) as outages:
        assert outages.wait_for(CUP.names) == {"bob", "cat"}
        outages.add(void("bob"))
        assert outages.wait_for(CUP.names) == {"cat"}


def test_an_author_has_ten_void_matches_in_a_thousand() -> None:
    """The limit holds across the epochs of a ladder, and across an author's bots."""
    bots = (*(replace(bot, author="Zoe") for bot in CUP.bots[:2]), CUP.bots[2])
    ladder = replace(played.cup(format="ladder"), bots=bots)
    voids = [void("ann")] * 4
    with closing(Outages(ladder)) as outages:
        for epoch in range(2, 8):
            outages.begin_round(epoch, ladder, voids)
            assert outages.wait_for(CUP.names) == {"ann", "bob", "cat"}
            voids.append(void("bob"))
            outages.add(voids[-1])
        match = next(iter(played.played(CUP)))
        for block in range(4, 1004):
            assert outages.wait_for(CUP.names) == {"cat"}
            outages.finished(replace(match, block=block, table=("ann", "cat")))
        assert outages.wait_for(CUP.names) == {"ann", "bob", "cat"}


@pytest.mark.parametrize("cup", [replace(CUP, voids=0), replace(CUP, outage_s=0)])
def test_a_cup_may_wait_for_nobody(cup: Cup) -> None:
    with outages_of(cup) as outages:
        assert not outages.wait_for(CUP.names)


@pytest.mark.parametrize(("cards", "seeds"), [("shared", 3), ("fresh", 6)])
def test_a_bot_that_hangs_up_never_gets_the_same_hand_again(
    cards: str, seeds: int, tmp_path: Path
) -> None:
    hands: list[tuple[str, str]] = []
    toy = hostile.toy("toy-2")

    def hang_up_twice(connection: socket.socket, request: dict[str, Any]) -> None:
        """Hang up at the third request of two matches. Each request is repeated once."""
        if request["turn"] == 3:
            hands.append((request["match"], str(request["view"]["hand"])))
        hangs_up = request["turn"] == 3 and len(hands) <= 4
        (hostile.reset if hangs_up else toy)(connection, request)

    with hostile.running(hang_up_twice) as rude, served_toys(2) as others:
        cup = write(tmp_path, {**others, "rude": rude}, f'[format] cards = "{cards}"', deals=2)
        seen = cups.json_lines("run", cup, "--out", tmp_path / "run")
    assert [e["bot"] for e in seen if e["event"] == "void"] == ["rude", "rude"]
    assert [e["bots"] for e in seen if e["event"] == "away"] == [["rude"], []] * 2
    assert len({*hands[:5]}) == 3, "each replay has other cards"
    assert len({match for match, _ in hands[:5]}) == 1
    assert "void because of rude" in cups.standings(tmp_path / "run")["incidents"][-1]
    succeed("verify", tmp_path / "run")
    with Store.open(tmp_path / "run") as store:
        assert [type(void) for void in store.voids()] == [Outage] * 2
        assert not any(match.faults for match in store.matches())
        assert len({match.seed for match in store.matches()}) == seeds


def test_a_runner_killed_while_a_bot_is_away_loses_nothing(tmp_path: Path) -> None:
    out = tmp_path / "run"
    with served_toys(3) as urls, closing(Link(int(urls["toy0"].rpartition(":")[2]))) as link:
        cup = write(tmp_path, {**urls, "toy0": f"http://127.0.0.1:{link.port}"}, deals=8)
        with cups.started("run", cup, "--out", out, "--json") as runner:
            seen = cups.events(runner)
            next(event for event in seen if event["event"] == "match")
            link.cut()
            next(event for event in seen if event["event"] == "away")
            runner.kill()
        with Store.open(out) as store:
            kept = {match.match: match for match in store.matches()}
            (void,) = store.voids()
        assert "toy0: what answers GET / at " in stich("run", cup, "--out", out).stderr
        link.up = True
        done = succeed("run", cup, "--out", out)
    assert f"24 matches, {len(kept)} of them done already" in done.stderr
    with Store.open(out) as store:
        matches = {match.match: match for match in store.matches()}
        assert store.voids() == [void]
        assert not any(match.faults for match in store.matches())
    assert len(matches) == 24
    assert matches.items() >= kept.items()
    assert void.match in matches
    succeed("verify", out)
