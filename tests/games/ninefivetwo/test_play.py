import pytest

from games.ninefivetwo.exchange import pairings
from tests.support.games.ninefivetwo import A, B, C, exchange, exchanged, pairing, setup, trick
from tests.support.games.playing import cards, play, reason

PHASES = {
    "exchange": exchange(("2c 3c 4c 5c", "6c 7c 8c 9c", "2h 3h 4h 5h"), 3),
    "trump": setup("trump", ("2c 3c", "4c 5c", "6c 7c"), talon=cards("2d 3d 4d 5d")),
    "discard": setup("discard", ("2c 3c 4c 5c 6c", "7c", "8c"), tricks=[15, 0, 0]),
    "play": setup("play", ("2c 3c 2d", "4c 5c 6c", "7c 8c"), trick=trick((C, "9d"))),
}
LONG = ("2c 4s 9s Th", "8s Qh 2s 3h", "3c 4c 5c 6c")
# For 4s the given 9s is the best spade, for 9s then the debtor's own 8s.
TOGETHER = exchanged(A, B, "4s 9s Th", "9s 8s Qh")


def test_source_bild_4_bis_7_die_ersten_stiche_der_ersten_runde() -> None:
    hands = ("4d 5d 2c As", "Ad Kd Qd 8s", "3d 6d 7d 9s")
    state = setup("play", hands, turn=B, tricks=[6, 3, 3])
    # Picture 4: C and A have diamonds and must follow.
    state = play(state, "play:Ad")
    assert reason(state, "play:9s") == "must-follow"
    state = play(state, "play:3d")
    assert reason(state, "play:2c") == "must-follow"
    state = play(state, "play:4d")
    assert (state.turn, state.tricks) == (B, (6, 4, 3))
    state = play(state, "play:Kd", "play:6d", "play:5d")
    assert (state.turn, state.tricks) == (B, (6, 5, 3))
    # Picture 6: A has no diamond left and trumps the queen with the 2 of clubs.
    state = play(state, "play:Qd", "play:7d", "play:2c")
    assert (state.turn, state.tricks) == (A, (7, 5, 3))
    over = play(state, "play:As", "play:8s", "play:9s")
    assert over.results[-1]["tricks"] == [8, 5, 3]


def test_source_eine_andere_farbe_abwerfen_gewinnt_nicht() -> None:
    state = setup("play", ("2d 4h", "3d 4c", "As Ks"), trump="h", turn=A)
    state = play(state, "play:2d", "play:3d", "play:As")
    assert (state.turn, state.tricks) == (B, (14, 1, 0))


def test_source_runde_2_pik_9_gegen_ass_dann_3_gegen_koenig() -> None:
    owed = [pairing(C, B, 1), pairing(A, B, 1)]
    fields = {"deal": 2, "turn": C, "dealer": B, "targets": [2, 9, 5], "owed": owed}
    hands = ("3s 2d", "As Ks", "9s 3d")
    state = setup("exchange", hands, talon=cards("2h 3h 4h 5h"), **fields)
    state = play(state, "give:9s")
    assert state.to_dict()["exchanged"] == [exchanged(C, B, "9s", "As")]
    assert (state.phase, state.turn) == ("exchange", A)
    state = play(state, "give:3s")
    wire = state.to_dict()
    assert wire["exchanged"][1] == exchanged(A, B, "3s", "Ks")
    assert wire["hands"] == [cards("2d Ks"), cards("3s 9s"), cards("3d As")]
    # Then B names trump, takes up the talon and discards four cards; C leads.
    assert (state.phase, state.turn) == ("trump", B)
    state = play(state, "trump:s", "discard:2h3h4h5h")
    assert (state.phase, state.turn) == ("play", C)


@pytest.mark.parametrize(("before", "over"), [(13, False), (14, True), (20, True)])
def test_source_spielende_sobald_einer_15_punkte_hat(before: int, over: bool) -> None:
    state = setup("play", ("Ac", "2c", "3c"), turn=A, tricks=[9, 3, 3], scores=[before, 0, 0])
    state = play(state, "play:Ac", "play:2c", "play:3c")
    assert (state.phase == "over") == over
    assert state.scores == (before + 1, 0, 1)


@pytest.mark.parametrize("phase", PHASES)
def test_a_phase_has_its_own_moves_only(phase: str) -> None:
    kinds = {"exchange": "give:Ah", "trump": "trump:h", "discard": "discard:Ah", "play": "play:Ah"}
    for move in {*kinds.values(), "pass", "bid:1", "call:7h"} - {kinds[phase]}:
        assert reason(PHASES[phase], move) == "wrong-phase"


def test_reasons_in_their_order() -> None:
    for phase, before, move, expected in (
        ("exchange", "", "give:2c6c", "not-held"),
        ("exchange", "", "give:2c2c", "not-held"),
        ("exchange", "", "give:Rj", "not-held"),
        ("exchange", "", "give:2c3c", "wrong-number"),
        ("exchange", "", "give:2c3c4c5c", "wrong-number"),
        ("exchange", "give:2c", "give:2c", "not-held"),
        ("exchange", "give:2c", "give:3c4c", "legal"),
        ("exchange", "give:2c", "give:3c4c5c", "wrong-number"),
        ("discard", "", "discard:7c", "not-held"),
        ("discard", "", "discard:2c3c4c5c", "legal"),
        ("discard", "discard:2c", "discard:3c4c", "wrong-number"),
        ("discard", "discard:2c", "discard:3c4c5c", "legal"),
        ("discard", "discard:2c discard:3c4c5c", "discard:6c", "wrong-phase"),
        ("play", "", "play:Ah2c", "not-held"),
        ("play", "", "play:2c2c=flush", "not-held"),
        ("play", "", "play:2c3c=flush", "wrong-number"),
        ("play", "", "play:2c=flush", "not-a-combination"),
        ("play", "", "play:2d=fullhouse", "not-a-combination"),
        ("play", "", "play:2c", "must-follow"),
    ):
        assert reason(play(PHASES[phase], *before.split()), move) == expected


def test_pairings_in_their_order() -> None:
    for targets, tricks, expected in (
        ((9, 5, 2), (9, 5, 2), []),
        # One over, one under.
        ((9, 5, 2), (8, 6, 2), [(B, A, 1)]),
        ((9, 5, 2), (9, 7, 0), [(B, C, 2)]),
        # One over, two under: the giver's left neighbour first, as many as it was short.
        ((9, 5, 2), (12, 4, 0), [(A, B, 1), (A, C, 2)]),
        ((9, 5, 2), (6, 10, 0), [(B, C, 2), (B, A, 3)]),
        ((9, 5, 2), (5, 3, 8), [(C, A, 4), (C, B, 2)]),
        # Two over, one under: the debtor's left neighbour first, as many as it was over.
        ((9, 5, 2), (4, 6, 6), [(B, A, 1), (C, A, 4)]),
        ((9, 5, 2), (11, 2, 3), [(C, B, 1), (A, B, 2)]),
        ((9, 5, 2), (10, 6, 0), [(A, C, 1), (B, C, 1)]),
    ):
        found = [(pair.giver, pair.debtor, pair.count) for pair in pairings(targets, tricks)]
        assert found == expected


def test_without_debts_the_next_deal_begins_with_trump() -> None:
    state = setup("play", ("Ac", "2c", "3c"), turn=A, tricks=[8, 5, 2])
    state = play(state, "play:Ac", "play:2c", "play:3c")
    assert (state.phase, state.turn, state.owed) == ("trump", B, ())


def test_the_highest_card_of_the_suit_goes_back() -> None:
    for hands, gives, expected in (
        (("3h 2c", "9h 4s", "3c 4c"), ["give:3h"], exchanged(A, B, "3h", "9h")),
        # A debtor without a higher card returns the given card.
        (("3h 2c", "2h 4s", "3c 4c"), ["give:3h"], exchanged(A, B, "3h", "3h")),
        # All given cards join its hand first: 5h goes back for 3h, and then 3h is left for 5h.
        (("3h 5h", "2s 4s", "3c 4c"), ["give:3h", "give:5h"], exchanged(A, B, "3h 5h", "5h 3h")),
        (LONG, ["give:Th", "give:9s", "give:4s"], TOGETHER),
        (LONG, ["give:4s", "give:Th9s"], TOGETHER),
        (LONG, ["give:Th9s4s"], TOGETHER),
    ):
        state = play(exchange(hands, len(expected["given"])), *gives)
        assert state.to_dict()["exchanged"] == [expected]


def test_each_give_in_a_history_is_masked_by_its_pairing() -> None:
    for fields, gives, shown in (
        # The same card, which came back, given twice: each debtor sees the move of its own pairing.
        (
            {"owed": [pairing(A, B, 1), pairing(A, C, 1)]},
            ["give:3h", "give:3h"],
            [["give:3h", "give:3h"], ["give:3h", "give:??"], ["give:??", "give:3h"]],
        ),
        # A give that fits no pairing is known to its giver alone.
        (
            {
                "exchanged": [exchanged(A, B, "3h", "Ah"), exchanged(C, B, "9c", "Tc")],
                "history": [{"seat": A, "move": "give:3h5s"}, {"seat": B, "move": "give:9c"}],
            },
            [],
            [["give:3h5s", "give:??"], ["give:????", "give:9c"], ["give:????", "give:??"]],
        ),
        # The beginning of the history is missing. 3h came back from B and goes to C now.
        (
            {"owed": [pairing(A, C, 1)], "exchanged": [exchanged(A, B, "3h", "3h")]},
            ["give:3h"],
            [["give:3h"], ["give:??"], ["give:3h"]],
        ),
    ):
        state = play(exchange(("3h 2c", "2s 4s", "9h 4c"), 1, **fields), *gives)
        assert [[move for _, move in state.view(seat).history] for seat in (A, B, C)] == shown
