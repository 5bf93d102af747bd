"""Auctions of Dou Dizhu by a second reading of the rules, which keeps nothing but the calls."""

from collections.abc import Iterator
from contextlib import nullcontext
from itertools import product

import pytest

import games
from games import InvalidState
from tests.support.games.climbing import doudizhu_wire, moves

GAME = games.get("doudizhu")
HANDS = ["3c 4c", "5c 6c", "7c 8c", "9c Tc"]
AUCTIONS = [(players, single) for players in (3, 4) for single in (False, True)]
Calls = tuple[int, ...]  # in order; 0 is a pass


def is_over(calls: Calls, players: int, single_round: bool) -> bool:
    all_called = len(calls) == players
    if 3 in calls or (all_called and (single_round or not any(calls))):
        return True
    return any(calls) and len(calls) >= players and not any(calls[1 - players :])


def open_auctions(players: int, single_round: bool, calls: Calls = ()) -> Iterator[Calls]:
    yield calls
    for call in (0, *range(max(calls, default=0) + 1, 4)):
        after = (*calls, call)
        if not is_over(after, players, single_round):
            yield from open_auctions(players, single_round, after)


def place(calls: Calls, players: int, first: int) -> tuple[int, int, int]:
    """The seat to call, the highest bid, and the number of passes since."""
    passes = next((n for n, call in enumerate(reversed(calls)) if call), len(calls))
    return (first + len(calls)) % players, max(calls, default=0), passes


def test_every_auction_takes_the_calls_and_ends_as_the_rules_say() -> None:
    for players, single_round in AUCTIONS:
        for calls in open_auctions(players, single_round):
            state = GAME.start(players, "auctions", {"single_round": single_round})
            first = state.turn
            assert first is not None
            for call in calls:
                state = state.advance(f"bid:{call}" if call else "pass")
            wire = state.to_dict()
            assert wire["phase"] == "auction"
            assert (wire["turn"], wire["bid"], wire["passes"]) == place(calls, players, first)
            higher = [f"bid:{bid}" for bid in range(max(calls, default=0) + 1, 4)]
            assert moves(state) == ["pass", *higher]
            for move in moves(state):
                last = (*calls, 0 if move == "pass" else int(move[-1]))
                after = state.advance(move).to_dict()
                if not is_over(last, players, single_round):
                    assert after["phase"] == "auction"
                elif any(last):
                    declarer = (first + last.index(max(last))) % players
                    assert (after["phase"], after["declarer"]) == ("play", declarer)
                    assert (after["bid"], after["passes"]) == (max(last), 0)
                else:
                    assert (after["phase"], after["deal"]) == ("auction", 2)


def test_a_posted_auction_is_valid_if_some_calls_lead_to_it() -> None:
    for players, single_round in AUCTIONS:
        possible = {
            (first, *place(calls, players, first))
            for calls in open_auctions(players, single_round)
            for first in range(players)
        }
        options = {"single_round": single_round}
        state = doudizhu_wire(HANDS[:players], phase="auction", declarer=None, options=options)
        view = state | {"seat": 0, "hand": HANDS[0].split(), "counts": [2] * players}
        del view["hands"], view["seed"]
        seats = range(players)
        for posted in product(seats, seats, range(-1, 5), range(-1, players + 1)):
            fields = dict(zip(("first", "turn", "bid", "passes"), posted, strict=True))
            for read, wire in ((GAME.state, state), (GAME.view, view)):
                with nullcontext() if posted in possible else pytest.raises(InvalidState):
                    read(wire | fields)
