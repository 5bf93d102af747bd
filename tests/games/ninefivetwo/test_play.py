"""9-5-2 by the examples of its source: tricks, scores, the end, options, and reasons."""

import pytest

from tests.support.ninefivetwo import (
    A,
    B,
    C,
    cards,
    exchange,
    exchanged,
    pairing,
    setup,
    trick,
)
from tests.support.playing import play, reason

# Spielregeln


def test_source_bild_4_bis_7_die_ersten_stiche_der_ersten_runde() -> None:
    state = setup(
        "play",
        ("4d 5d 2c As", "Ad Kd Qd 8s", "3d 6d 7d 9s"),
        turn=B,
        tricks=[6, 3, 3],
    )
    # Picture 4: B leads the ace of diamonds; C and A have diamonds and must follow.
    state = play(state, "play:Ad")
    assert reason(state, "play:9s") == "must-follow"
    state = play(state, "play:3d")
    assert reason(state, "play:2c") == "must-follow"
    state = play(state, "play:4d")
    assert (state.turn, state.tricks) == (B, (6, 4, 3))
    # Picture 5: the king wins too.
    state = play(state, "play:Kd", "play:6d", "play:5d")
    assert (state.turn, state.tricks) == (B, (6, 5, 3))
    # Picture 6: A has no diamond left and trumps the queen with the 2 of clubs.
    state = play(state, "play:Qd", "play:7d", "play:2c")
    assert (state.turn, state.tricks) == (A, (7, 5, 3))
    # Picture 7: A leads the ace of spades and wins.
    over = play(state, "play:As", "play:8s", "play:9s")
    assert over.results[-1]["tricks"] == [8, 5, 3]


def test_source_eine_andere_farbe_abwerfen_gewinnt_nicht() -> None:
    state = setup("play", ("2d 4h", "3d 4c", "As Ks"), trump="h", turn=A)
    state = play(state, "play:2d", "play:3d", "play:As")
    assert (state.turn, state.tricks) == (B, (14, 1, 0))


# Wertung


def test_source_runde_2_pik_9_gegen_pik_ass_dann_pik_3_gegen_pik_koenig() -> None:
    state = setup(
        "exchange",
        ("3s 2d", "As Ks", "9s 3d"),
        deal=2,
        turn=C,
        dealer=B,
        targets=[2, 9, 5],
        talon=cards("2h 3h 4h 5h"),
        owed=[pairing(C, B, 1), pairing(A, B, 1)],
    )
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


# Spielende


@pytest.mark.parametrize(("before", "over"), [(13, False), (14, True), (20, True)])
def test_source_spielende_sobald_einer_15_punkte_hat(before: int, over: bool) -> None:
    state = setup("play", ("Ac", "2c", "3c"), turn=A, tricks=[9, 3, 3], scores=[before, 0, 0])
    state = play(state, "play:Ac", "play:2c", "play:3c")
    assert (state.phase == "over") == over
    assert state.scores == (before + 1, 0, 1)


# Reasons


def test_a_phase_knows_its_own_moves_only() -> None:
    hands = ("2c 3c", "4c 5c", "6c 7c")
    talon = cards("2d 3d 4d 5d")
    phases = {
        "exchange": exchange(hands, 1),
        "trump": setup("trump", hands, talon=talon),
        "discard": setup("discard", ("2c 3c 2h 3h 4h 5h", *hands[1:]), tricks=[14, 0, 0]),
        "play": setup("play", hands),
    }
    moves = {
        "exchange": "give:Ah",
        "trump": "trump:h",
        "discard": "discard:Ah",
        "play": "play:Ah",
    }
    for phase, state in phases.items():
        assert state.phase == phase
        for other, move in moves.items():
            if other != phase:
                assert reason(state, move) == "wrong-phase"
        for move in ("pass", "bid:1", "call:7h"):
            assert reason(state, move) == "wrong-phase"
        for move in ("", "Pass", "trump:x", "give:", "discard:??", "play:1h", "play:2c=run"):
            assert reason(state, move) == "syntax"


def test_reasons_of_a_give() -> None:
    state = exchange(("2c 3c 4c 5c", "6c 7c 8c 9c", "2h 3h 4h 5h"), 3)
    assert reason(state, "give:6c") == "not-held"
    assert reason(state, "give:2c2c") == "not-held"
    assert reason(state, "give:Rj") == "not-held"
    assert reason(state, "give:2c6c") == "not-held"
    assert reason(state, "give:2c3c") == "wrong-number"
    assert reason(state, "give:2c3c4c5c") == "wrong-number"
    state = play(state, "give:2c")
    assert reason(state, "give:2c") == "not-held"
    assert state.is_legal("give:3c4c")
    assert reason(state, "give:3c4c5c") == "wrong-number"


def test_reasons_of_a_discard() -> None:
    state = setup("discard", ("2c 3c 4c 5c 6c", "7c", "8c"), tricks=[15, 0, 0])
    assert reason(state, "discard:7c") == "not-held"
    assert reason(state, "discard:2c3c") == "wrong-number"
    assert reason(state, "discard:2c3c4c5c6c") == "wrong-number"
    assert state.is_legal("discard:2c3c4c5c")
    state = play(state, "discard:2c")
    assert reason(state, "discard:3c4c") == "wrong-number"
    assert state.is_legal("discard:3c4c5c")
    state = play(state, "discard:3c", "discard:4c")
    assert state.moves().texts() == ["discard:5c", "discard:6c"]
    assert reason(state, "discard:5c6c") == "wrong-number"
    assert play(state, "discard:6c").phase == "play"


def test_reasons_of_a_play_in_their_order() -> None:
    state = setup(
        "play", ("2c 3c 2d", "4c 5c", "6c 7c 8c"), trick=trick((B, "9d")), turn=C, tricks=[13, 0, 0]
    )
    assert state.is_legal("play:6c")
    state = play(state, "play:6c")
    assert reason(state, "play:Ah") == "not-held"
    assert reason(state, "play:Ah2c") == "not-held"
    assert reason(state, "play:2c2c=flush") == "not-held"
    assert reason(state, "play:2c3c") == "wrong-number"
    assert reason(state, "play:2c3c=flush") == "wrong-number"
    assert reason(state, "play:2c=flush") == "not-a-combination"
    assert reason(state, "play:2d=fullhouse") == "not-a-combination"
    assert reason(state, "play:2c") == "must-follow"
    assert state.moves().texts() == ["play:2d"]
