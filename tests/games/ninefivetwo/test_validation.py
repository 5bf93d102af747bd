from typing import Any

import pytest

from tests.support.games.ninefivetwo import GAME, exchanged, pairing, trick, wire
from tests.support.games.playing import assert_refused, cards

Wire = dict[str, Any]
TALON = cards("2d 3d 4d 5d")
POSITIONS = {
    "exchange": wire(
        "exchange",
        ("2c 3c", "4c 5c 6c", "7c 8c 9c"),
        talon=TALON,
        owed=[pairing(0, 1, 2, "Ah"), pairing(0, 2, 1)],
        exchanged=[exchanged(2, 1, "As", "Ks")],
    ),
    "trump": wire("trump", ("2c 3c 4c", "5c 6c 7c", "8c 9c Tc"), talon=TALON),
    "discard": wire(
        "discard", ("2c 3c 4c 2h 3h 4h", "5c 6c 7c", "8c 9c Tc"), discards=["As"], tricks=[12, 1, 0]
    ),
    "play": wire(
        "play", ("2c 3c 4c", "5c 6c", "8c 9c"), trick=trick((1, "7c"), (2, "Tc")), discards=TALON
    ),
    "over": wire("over", ("", "", ""), turn=None, tricks=[16, 0, 0], discards=TALON),
}


@pytest.mark.parametrize("phase", POSITIONS)
def test_a_set_up_position_may_lack_cards_and_plays_on(phase: str) -> None:
    state = GAME.state(POSITIONS[phase])
    while not state.results:
        for position, read in ((state, GAME.state), (state.view(0), GAME.view)):
            assert read(position.to_dict()).to_dict() == position.to_dict()
        if state.turn is None:
            break
        state = state.advance(state.moves()[-1])


def hand(phase: str, seat: int, names: str) -> tuple[str, Wire]:
    """A phase, and its position with another hand at one seat."""
    hands = list(POSITIONS[phase]["hands"])
    hands[seat] = cards(names)
    return phase, {"hands": hands}


def put(**fields: Any) -> Wire:
    return fields


CLAUSES: list[tuple[str, Wire, str]] = [
    # phase, what is broken, a piece of the sentence
    ("trump", put(targets=[9, 5, 2, 2]), "targets has 4 entries"),
    (
        "trump",
        put(options={"target": 15, "deals": 1}, results=[{"deal": 1}]),
        "1 deals would be over",
    ),
    ("play", put(targets=[9, 9, 2]), "targets is [9, 9, 2]"),
    ("play", put(dealer=1), "dealer is 1, but the dealer is the seat with target 9"),
    ("play", put(tricks=[12, 0, 0]), "together that must make 16"),
    ("play", put(tricks=[16, 0, 0]), "tricks adds up to 16, but in play it is at most 15"),
    ("over", put(tricks=[17, 0, 0]), "tricks adds up to 17, but in over it is at most 16"),
    ("play", put(tricks=[14, -1, 0]), "a negative number"),
    (*hand("play", 0, "2c 3c"), "Seat 0 has 2 cards to play"),
    ("trump", put(talon=TALON[:3]), "Seat 0 has 2 cards to play"),
    (*hand("exchange", 0, "2c 3c As"), "Seat 0 has 4 cards to play"),
    ("discard", put(discards=[]), "Seat 0 has 2 cards to play"),
    ("play", put(trick=trick((2, "Tc"), (1, "7c"))), "does not follow the seat before"),
    ("play", put(turn=1), "turn is 1, but seat 0 comes next"),
    ("play", put(trick=trick((1, "7c"), (2, "Tc"), (0, "As"))), "trick has 3 cards"),
    ("play", put(trick=trick((1, "7c"), (5, "Tc"))), "trick[1].seat is 5, but the seats are"),
    ("trump", put(trick=trick((0, "Ah"))), "trick must be empty in trump"),
    ("play", put(trick=trick((1, "7c"), (2, "TcAh"))), "is not a play of one card"),
    ("play", put(trick=[{"seat": 2, "move": "rubbish"}]), "trick[0].move: 'rubbish' is not a move"),
    ("exchange", put(turn=1), "the first giver in owed is seat 0"),
    ("exchange", put(owed=[]), "owed is empty, but in exchange it has"),
    ("trump", put(owed=[pairing(0, 1, 1)]), "owed must be empty in trump"),
    ("exchange", put(owed=[pairing(0, 4, 2, "Ah")]), "owed[0].debtor is 4"),
    ("exchange", put(owed=[pairing(0, 0, 2, "Ah")]), "owed[0]: giver and debtor are the same seat"),
    ("exchange", put(owed=[pairing(0, 1, 1, "Ah")]), "all its cards have been given"),
    ("exchange", put(owed=[pairing(0, 1, 9, "Ah")]), "needs more cards than seat 0 has"),
    (
        "exchange",
        put(owed=[pairing(0, 1, 2, "Ah"), pairing(2, 1, 4)]),
        "owed[1] needs more cards than seat 2 has",
    ),
    ("exchange", put(exchanged=[exchanged(2, 1, "As", "Ks")] * 99), "have 101 pairings together"),
    ("trump", put(exchanged=[exchanged(0, 3, "Ah", "Kh")]), "exchanged[0].debtor is 3"),
    ("trump", put(exchanged=[exchanged(0, 1, "Ah Ah", "Kh Qh")]), "exchanged[0].given: Ah "),
    ("trump", put(exchanged=[exchanged(0, 1, "Ah", "Rj")]), "exchanged[0].returned: Rj is no"),
    ("trump", put(turn=1), "turn is 1, whose target is 5; in trump it must be 9"),
    ("trump", put(trump="h"), 'trump is "h", but in trump it has not been named'),
    ("discard", put(trump=None), "trump is null, but in discard it has been named"),
    ("play", put(trump="x"), 'trump is "x", but the suits are'),
    ("play", put(discards=cards("2d 3d 4d 5d 6d")), "discards has 5 cards"),
    (
        "discard",
        put(discards=TALON, hands=[cards("2c 3c 4c"), cards("5c 6c 7c"), cards("8c 9c Tc")]),
        "the phase discard would be over",
    ),
    (*hand("trump", 0, "2c 3c 5c"), "5c occurs 2 times"),
    ("play", put(discards=["Tc"]), "Tc occurs 2 times"),
    ("exchange", put(owed=[pairing(0, 1, 2, "2c")]), "2c occurs 2 times"),
    (*hand("trump", 0, "2c 3c Bj"), "Bj is not a card of this game"),
    ("trump", put(talon=["??"] * 4), "?? is not a card of this game"),
]
VIEW_CLAUSES: list[tuple[str, Wire, str]] = [
    ("trump", put(counts=[3, 4, 3]), "Seat 1 has 4 cards to play"),
    ("trump", put(counts=[3, 30, 30]), "but the deck has 52"),
    ("trump", put(hand=cards("2c 3c 2c")), "2c occurs 2 times"),
    ("trump", put(talon=cards("?? ?? ?? 2c")), "2c occurs 2 times"),
    ("play", put(talon=["??"] * 40), "counts and the cards outside hands make 53"),
    ("exchange", put(owed=[pairing(0, 1, 2, "?? ??")]), "all its cards have been given"),
]
VIEWS = {phase: GAME.state(state).view(0).to_dict() for phase, state in POSITIONS.items()}
EVERY_CLAUSE = [(POSITIONS, *clause) for clause in CLAUSES]
EVERY_CLAUSE += [(VIEWS, *clause) for clause in VIEW_CLAUSES]


def test_a_position_that_breaks_a_clause_is_refused() -> None:
    for positions, phase, changes, sentence in EVERY_CLAUSE:
        assert_refused(positions[phase], changes, sentence)


def test_closed_pairings_and_history_come_back() -> None:
    history = [{"seat": 9, "move": "give:4s3h"}, {"seat": 0, "move": "whatever"}]
    closed = {"exchanged": [exchanged(0, 1, "5c 8c", "2c 9c")], "history": history}
    state = GAME.state(POSITIONS["trump"] | closed)
    assert state.to_dict() == POSITIONS["trump"] | closed
    assert state.view(0).to_dict()["history"][1] == history[1]
    _, hands = hand("exchange", 0, "2c")
    lists = {"owed": [pairing(0, 1, 3, "Ah 3c")], "exchanged": [exchanged(2, 1, "As 4s", "5s Ks")]}
    back = GAME.state(POSITIONS["exchange"] | hands | lists).to_dict()
    assert back["owed"] == [pairing(0, 1, 3, "3c Ah")]
    # The card returned for a card stays next to it.
    assert back["exchanged"] == [exchanged(2, 1, "4s As", "Ks 5s")]


@pytest.mark.parametrize("phase", ["trump", "exchange"])
def test_a_set_up_position_may_leave_the_talon_out(phase: str) -> None:
    state = GAME.state(POSITIONS[phase] | {"talon": []})
    assert GAME.view(state.view(1).to_dict()).to_dict() == state.view(1).to_dict()
    while state.phase != "trump":
        state = state.advance(state.moves()[0])
    # No talon to take up, no cards to discard.
    state = state.advance("trump:h")
    assert (state.phase, state.turn) == ("play", 1)
    assert GAME.state(state.to_dict()).to_dict() == state.to_dict()


def test_a_view_with_cards_its_seat_need_not_know_is_not_refused() -> None:
    data = GAME.state(POSITIONS["discard"]).view(0).to_dict() | {"discards": ["??"]}
    assert GAME.view(data).moves().texts() == [f"discard:{card}" for card in data["hand"]]
