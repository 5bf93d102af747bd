"""9-5-2 by the examples of its source: tricks, scores, the end, options, and reasons."""

from __future__ import annotations

import pytest

from games.ninefivetwo.state import NinefivetwoState
from tests.games.ninefivetwo.positions import (
    GAME,
    A,
    B,
    C,
    advance,
    cards,
    exchange,
    exchanged,
    pairing,
    reason,
    setup,
    trick,
)

# Spielregeln


def test_source_runden_1_bis_3_die_ziele_wandern_nach_links() -> None:
    state = GAME.start(None, "rounds", {"target": 100_000, "deals": 4})
    seen = {}
    while state.turn is not None:
        wire = state.to_dict()
        seen[wire["deal"]] = (wire["targets"], wire["dealer"])
        state = state.advance(state.moves()[0])
    assert seen == {
        1: ([9, 5, 2], A),
        2: ([2, 9, 5], B),
        3: ([5, 2, 9], C),
        4: ([9, 5, 2], A),
    }


def test_source_der_9er_nennt_trumpf_nimmt_den_stapel_und_legt_4_karten_ab() -> None:
    state = GAME.start(None, "deal", {})
    assert (state.phase, state.turn) == ("trump", A)
    assert state.moves().texts() == ["trump:c", "trump:d", "trump:h", "trump:s"]
    talon = state.to_dict()["talon"]
    state = state.advance("trump:c")
    wire = state.to_dict()
    assert (wire["phase"], wire["turn"], wire["trump"], wire["talon"]) == ("discard", A, "c", [])
    assert len(wire["hands"][A]) == 20
    assert set(talon) <= set(wire["hands"][A])
    laid = wire["hands"][A][:4]
    state = state.advance("discard:" + "".join(reversed(laid)))
    wire = state.to_dict()
    assert wire["history"][-1] == {"seat": A, "move": "discard:" + "".join(laid)}
    assert wire["discards"] == laid
    assert len(wire["hands"][A]) == 16
    # The 5-player leads.
    assert (wire["phase"], wire["turn"]) == ("play", B)


def test_source_bild_4_bis_7_die_ersten_stiche_der_ersten_runde() -> None:
    state = setup(
        "play",
        ("4d 5d 2c As", "Ad Kd Qd 8s", "3d 6d 7d 9s"),
        turn=B,
        tricks=[6, 3, 3],
    )
    # Picture 4: B leads the ace of diamonds; C and A have diamonds and must follow.
    state = advance(state, "play:Ad")
    assert reason(state, "play:9s") == "must-follow"
    state = advance(state, "play:3d")
    assert reason(state, "play:2c") == "must-follow"
    state = advance(state, "play:4d")
    assert (state.turn, state.tricks) == (B, (6, 4, 3))
    # Picture 5: the king wins too.
    state = advance(state, "play:Kd", "play:6d", "play:5d")
    assert (state.turn, state.tricks) == (B, (6, 5, 3))
    # Picture 6: A has no diamond left and trumps the queen with the 2 of clubs.
    state = advance(state, "play:Qd", "play:7d", "play:2c")
    assert (state.turn, state.tricks) == (A, (7, 5, 3))
    # Picture 7: A leads the ace of spades and wins.
    over = advance(state, "play:As", "play:8s", "play:9s")
    assert over.results[-1]["tricks"] == [8, 5, 3]


def test_source_eine_andere_farbe_abwerfen_gewinnt_nicht() -> None:
    state = setup("play", ("2d 4h", "3d 4c", "As Ks"), trump="h", turn=A)
    state = advance(state, "play:2d", "play:3d", "play:As")
    assert (state.turn, state.tricks) == (B, (14, 1, 0))


def test_the_highest_trump_wins_over_lower_trumps() -> None:
    state = setup("play", ("2d 4h", "Ah 4c", "Kh Ks"), trump="h", turn=A)
    state = advance(state, "play:2d", "play:Ah", "play:Kh")
    assert state.turn == B


# Wertung


@pytest.mark.parametrize(
    ("target", "won", "score"),
    [(5, 5, 0), (5, 8, 3), (5, 3, 0)],
    ids=["passende Anzahl", "zu viele Stiche", "zu wenige Stiche"],
)
def test_source_wertung(target: int, won: int, score: int) -> None:
    # B has target 5; the last trick goes to A.
    assert target == 5
    state = setup("play", ("Ac", "2c", "3c"), turn=A, tricks=[15 - won, won, 0])
    assert advance(state, "play:Ac", "play:2c", "play:3c").results[-1]["scores"][B] == score


def deal_one() -> NinefivetwoState:
    """Deal 1 of the source's example, before the last trick: A wins it."""
    return setup("play", ("Ac", "2c", "3c"), turn=A, tricks=[9, 3, 3])


def test_source_runde_1_wertung_1_0_1() -> None:
    state = advance(deal_one(), "play:Ac", "play:2c", "play:3c")
    assert state.results == (
        {"deal": 1, "scores": [1, 0, 1], "tricks": [10, 3, 3], "targets": [9, 5, 2]},
    )
    assert state.scores == (1, 0, 1)


def test_source_runde_2_c_tauscht_zuerst_dann_a() -> None:
    state = advance(deal_one(), "play:Ac", "play:2c", "play:3c")
    wire = state.to_dict()
    assert (wire["phase"], wire["turn"]) == ("exchange", C)
    assert wire["owed"] == [pairing(C, B, 1), pairing(A, B, 1)]
    assert (wire["targets"], wire["dealer"], wire["deal"]) == ([2, 9, 5], B, 2)
    assert (wire["trick"], wire["tricks"], wire["history"]) == ([], [0, 0, 0], [])


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
    state = advance(state, "give:9s")
    assert state.to_dict()["exchanged"] == [exchanged(C, B, "9s", "As")]
    assert (state.phase, state.turn) == ("exchange", A)
    state = advance(state, "give:3s")
    wire = state.to_dict()
    assert wire["exchanged"][1] == exchanged(A, B, "3s", "Ks")
    assert wire["hands"] == [cards("2d Ks"), cards("3s 9s"), cards("3d As")]
    # Then B names trump, takes up the talon and discards four cards; C leads.
    assert (state.phase, state.turn) == ("trump", B)
    state = advance(state, "trump:s", "discard:2h3h4h5h")
    assert (state.phase, state.turn) == ("play", C)


def test_source_runde_2_wertung_und_kartentausch_der_runde_3() -> None:
    state = setup(
        "play",
        ("2c", "3c", "Ac"),
        deal=2,
        turn=C,
        dealer=B,
        targets=[2, 9, 5],
        tricks=[5, 7, 3],
        scores=[1, 0, 1],
    )
    wire = advance(state, "play:Ac", "play:2c", "play:3c").to_dict()
    assert wire["results"][-1] == {
        "deal": 2,
        "scores": [3, 0, 0],
        "tricks": [5, 7, 4],
        "targets": [2, 9, 5],
    }
    assert wire["scores"] == [4, 0, 1]
    # A gives two cards to B, and then one to C.
    assert wire["owed"] == [pairing(A, B, 2), pairing(A, C, 1)]
    assert (wire["phase"], wire["turn"], wire["targets"]) == ("exchange", A, [5, 2, 9])


# Spielende


@pytest.mark.parametrize(("before", "over"), [(13, False), (14, True), (20, True)])
def test_source_spielende_sobald_einer_15_punkte_hat(before: int, over: bool) -> None:
    state = setup("play", ("Ac", "2c", "3c"), turn=A, tricks=[9, 3, 3], scores=[before, 0, 0])
    state = advance(state, "play:Ac", "play:2c", "play:3c")
    assert (state.phase == "over") == over
    assert state.scores == (before + 1, 0, 1)


def test_the_limit_of_deals_ends_the_game_too() -> None:
    state = setup(
        "play",
        ("Ac", "2c", "3c"),
        turn=A,
        tricks=[9, 3, 3],
        options={"target": 15, "deals": 1},
        discards=cards("2d 3d 4d 5d"),
    )
    over = advance(state, "play:Ac", "play:2c", "play:3c").to_dict()
    assert (over["phase"], over["turn"], over["trick"]) == ("over", None, [])
    # The rest is as the last move left it.
    assert over["tricks"] == [10, 3, 3]
    assert over["trump"] == "c"
    assert over["discards"] == cards("2d 3d 4d 5d")
    assert [entry["move"] for entry in over["history"]] == ["play:Ac", "play:2c", "play:3c"]
    assert reason(GAME.state(over), "play:Ac") == "game-over"
    assert GAME.state(over).moves().texts() == []


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
    state = advance(state, "give:2c")
    assert reason(state, "give:2c") == "not-held"
    assert state.is_legal("give:3c4c")
    assert reason(state, "give:3c4c5c") == "wrong-number"


def test_reasons_of_a_discard() -> None:
    state = setup("discard", ("2c 3c 4c 5c 6c", "7c", "8c"), tricks=[15, 0, 0])
    assert reason(state, "discard:7c") == "not-held"
    assert reason(state, "discard:2c3c") == "wrong-number"
    assert reason(state, "discard:2c3c4c5c6c") == "wrong-number"
    assert state.is_legal("discard:2c3c4c5c")
    state = advance(state, "discard:2c")
    assert reason(state, "discard:3c4c") == "wrong-number"
    assert state.is_legal("discard:3c4c5c")
    state = advance(state, "discard:3c", "discard:4c")
    assert state.moves().texts() == ["discard:5c", "discard:6c"]
    assert reason(state, "discard:5c6c") == "wrong-number"
    assert advance(state, "discard:6c").phase == "play"


def test_reasons_of_a_play_in_their_order() -> None:
    state = setup(
        "play", ("2c 3c 2d", "4c 5c", "6c 7c 8c"), trick=trick((B, "9d")), turn=C, tricks=[13, 0, 0]
    )
    assert state.is_legal("play:6c")
    state = advance(state, "play:6c")
    assert reason(state, "play:Ah") == "not-held"
    assert reason(state, "play:Ah2c") == "not-held"
    assert reason(state, "play:2c2c=flush") == "not-held"
    assert reason(state, "play:2c3c") == "wrong-number"
    assert reason(state, "play:2c3c=flush") == "wrong-number"
    assert reason(state, "play:2c=flush") == "not-a-combination"
    assert reason(state, "play:2d=fullhouse") == "not-a-combination"
    assert reason(state, "play:2c") == "must-follow"
    assert state.moves().texts() == ["play:2d"]


def test_a_play_has_its_category_rank_and_length() -> None:
    state = setup("play", ("Th 3c", "4c 5c", "6c 7c"))
    move = state.check("play:Th")
    assert (move.text, move.category, move.rank, move.length) == ("play:Th", "card", "T", 1)
    trump = setup("trump", ("Th", "4c", "6c"), talon=cards("2d 3d 4d 5d")).check("trump:h")
    assert (trump.category, trump.rank, trump.length) == (None, None, None)
