"""What the bidding says of hands."""

from __future__ import annotations

import random
from typing import Any

import pytest

import games
from bots import search
from bots.thinking import worlds
from bots.thinking.bidding import TAKEN_UP, Bidding

LEVELS = (0.4, 0.5, 0.6)


def jokers(players: int, counts: tuple[int, ...]) -> float:
    """A bidder that looks at its jokers alone."""
    return 0.3 * (counts[-1] + counts[-2])


def bidding(moves: list[str], seat: int = 0) -> Bidding:
    state: Any = games.get("doudizhu").start(3, "bidding", {})
    while state.turn != 1:
        state = state.advance("pass")
    for move in moves:
        state = state.advance(move)
    return Bidding(state.view(seat).to_dict(), jokers, LEVELS)


def test_a_bid_speaks_for_strength_and_a_pass_against_it() -> None:
    said = bidding(["bid:2", "pass"])
    assert said
    nothing, one, both = ["3c"], ["3c", "Rj"], ["Bj", "Rj"]
    # Seat 1 must have seen 0.5 or more; seat 2 less than 0.6.
    assert said.misfit([[], both, nothing]) == 0
    assert said.misfit([[], one, nothing]) == pytest.approx(0.2)
    assert said.misfit([[], both, both]) == 0
    assert bidding(["bid:1", "pass"]).misfit([[], both, both]) == pytest.approx(0.1)


def test_the_talon_is_no_merit() -> None:
    said = bidding(["bid:3"])
    assert said.misfit([[], ["Bj", "Rj"], []]) == pytest.approx(0.6 - (0.6 - TAKEN_UP))


def test_what_was_played_counts() -> None:
    state: Any = games.get("doudizhu").start(3, "bidding", {})
    state = state.advance("bid:3")
    declarer = state.turn
    holders = [seat for seat in range(3) if state.hands[seat] & state.deck.hand(["Rj"])]
    if holders == [declarer]:
        state = state.advance("play:Rj")
    view = state.view((declarer + 1) % 3).to_dict()
    view["history"] = [
        {"seat": declarer, "move": "bid:3"},
        {"seat": declarer, "move": "play:Rj"},
    ]
    said = Bidding(view, jokers, LEVELS)
    hands: list[list[str]] = [[], [], []]
    without = Bidding({**view, "history": view["history"][:1]}, jokers, LEVELS)
    assert said.misfit(hands) == pytest.approx(without.misfit(hands) - 0.3)


def test_a_forced_bid_says_nothing() -> None:
    state: Any = games.get("dasan").start(3, "forced", {}).advance("bid:1")
    first = state.to_dict()["first"]
    view = state.view(state.turn).to_dict()
    assert not Bidding(view, lambda players, counts: 0.5, LEVELS)
    view = state.advance("pass").view(first).to_dict()
    assert Bidding(view, lambda players, counts: 0.5, LEVELS).misfit([[], [], []]) == 0
    assert Bidding(view, lambda players, counts: 0.7, LEVELS).misfit([[], [], []]) > 0


def test_no_auction_no_inference() -> None:
    state = games.get("doudizhu").start(3, "none", {}).advance("bid:3")
    view = {**state.view(0).to_dict(), "history": []}
    assert not Bidding(view, jokers, LEVELS)


def test_the_search_takes_the_world_that_fits_best(monkeypatch: pytest.MonkeyPatch) -> None:
    state: Any = games.get("doudizhu").start(3, "best", {}).advance("bid:3")
    seat = (state.turn + 1) % 3
    state = state.advance(state.moves()[0])
    view = state.view(seat).to_dict()
    misfits = iter([0.3, 0.1, 0.2, 0.4])
    monkeypatch.setattr(Bidding, "misfit", lambda self, hands: next(misfits))
    drawn: list[dict[str, Any]] = []
    sample = worlds.sample

    def draw(*given: Any) -> dict[str, Any]:
        drawn.append(sample(*given))
        return drawn[-1]

    monkeypatch.setattr(worlds, "sample", draw)
    decision = search._Search(view, state.moves().texts())
    world = decision._world(worlds.know(view), random.Random(1))
    assert world is drawn[1]
    assert len(drawn) == search.DRAWS
