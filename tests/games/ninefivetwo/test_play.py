import pytest

from tests.support.games.ninefivetwo import A, B, C, exchange, exchanged, pairing, setup, trick
from tests.support.games.playing import cards, play, reason


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


PHASES = {
    "exchange": exchange(("2c 3c 4c 5c", "6c 7c 8c 9c", "2h 3h 4h 5h"), 3),
    "trump": setup("trump", ("2c 3c", "4c 5c", "6c 7c"), talon=cards("2d 3d 4d 5d")),
    "discard": setup("discard", ("2c 3c 4c 5c 6c", "7c", "8c"), tricks=[15, 0, 0]),
    "play": setup("play", ("2c 3c 2d", "4c 5c 6c", "7c 8c"), trick=trick((C, "9d"))),
}


@pytest.mark.parametrize("phase", PHASES)
def test_a_phase_has_its_own_moves_only(phase: str) -> None:
    kinds = {"exchange": "give:Ah", "trump": "trump:h", "discard": "discard:Ah", "play": "play:Ah"}
    for move in {*kinds.values(), "pass", "bid:1", "call:7h"} - {kinds[phase]}:
        assert reason(PHASES[phase], move) == "wrong-phase"


@pytest.mark.parametrize(
    ("phase", "before", "move", "expected"),
    [
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
    ],
)
def test_reasons_in_their_order(phase: str, before: str, move: str, expected: str) -> None:
    assert reason(play(PHASES[phase], *before.split()), move) == expected
