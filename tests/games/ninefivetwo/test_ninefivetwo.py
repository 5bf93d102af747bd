"""9-5-2 by the examples of its source and by the clauses of the rules."""

from __future__ import annotations

from typing import Any

import pytest

import games
from games import IllegalMove
from games.ninefivetwo.exchange import pairings
from games.ninefivetwo.state import NinefivetwoState
from tests.games.ninefivetwo.positions import GAME, advance, cards, exchanged, pairing, setup, trick

A, B, C = 0, 1, 2
"""The source's players; C sits to the left of B, and A to the left of C."""


def reason(state: Any, move: str) -> str:
    with pytest.raises(IllegalMove) as error:
        state.check(move)
    assert error.value.detail.endswith(".")
    return str(error.value.reason)


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


def test_source_jeder_hat_16_karten_und_4_liegen_auf_dem_stapel() -> None:
    wire = GAME.start(None, "deal", {}).to_dict()
    assert [len(hand) for hand in wire["hands"]] == [16, 16, 16]
    assert len(wire["talon"]) == 4
    assert sorted(sum(wire["hands"], wire["talon"])) == sorted(GAME.deck(3).names)


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


# Kartentausch


@pytest.mark.parametrize(
    ("targets", "tricks", "expected"),
    [
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
    ],
)
def test_pairings_in_their_order(
    targets: tuple[int, ...], tricks: tuple[int, ...], expected: list[tuple[int, int, int]]
) -> None:
    found = [(pair.giver, pair.debtor, pair.count) for pair in pairings(targets, tricks)]
    assert found == expected


def test_without_debts_the_next_deal_begins_with_trump() -> None:
    state = setup("play", ("Ac", "2c", "3c"), turn=A, tricks=[8, 5, 2])
    state = advance(state, "play:Ac", "play:2c", "play:3c")
    assert (state.phase, state.turn, state.owed) == ("trump", B, ())


def exchange(hands: tuple[str, str, str], count: int, **fields: Any) -> NinefivetwoState:
    """A owes nothing and gives `count` cards to B; C is the 9-player."""
    fields = {"talon": cards("2d 3d 4d 5d"), "owed": [pairing(A, B, count)]} | fields
    return setup("exchange", hands, deal=2, turn=A, dealer=C, targets=[5, 2, 9], **fields)


def test_the_highest_of_the_suit_goes_back() -> None:
    state = advance(exchange(("3h 2c", "9h 4s", "3c 4c"), 1), "give:3h")
    assert state.to_dict()["exchanged"] == [exchanged(A, B, "3h", "9h")]


def test_a_debtor_without_a_higher_card_returns_the_given_card_itself() -> None:
    state = advance(exchange(("3h 2c", "2h 4s", "3c 4c"), 1), "give:3h")
    wire = state.to_dict()
    assert wire["exchanged"] == [exchanged(A, B, "3h", "3h")]
    assert wire["hands"] == [cards("2c 3h"), cards("2h 4s"), cards("3c 4c")]


def test_a_debtor_without_the_suit_returns_the_given_cards() -> None:
    state = advance(exchange(("3h 5h", "2s 4s", "3c 4c"), 2), "give:3h", "give:5h")
    # All join its hand first: the best heart for 3h is 5h, and then 3h is left for 5h.
    assert state.to_dict()["exchanged"] == [exchanged(A, B, "3h 5h", "5h 3h")]


def test_the_cards_of_a_pairing_are_given_together() -> None:
    state = exchange(("2c 4s 9s Th", "8s Qh 2s 3h", "3c 4c 5c 6c"), 3)
    state = advance(state, "give:Th")
    wire = state.to_dict()
    # Chosen cards leave the hand at once and lie in `given`; nothing goes back yet.
    assert wire["owed"] == [pairing(A, B, 3, "Th")]
    assert wire["hands"][A] == cards("2c 4s 9s")
    assert wire["hands"][B] == cards("2s 3h 8s Qh")
    state = advance(state, "give:9s")
    assert state.to_dict()["owed"] == [pairing(A, B, 3, "9s Th")]
    state = advance(state, "give:4s")
    wire = state.to_dict()
    # For 4s the given 9s is the best spade, for 9s then the debtor's own 8s.
    assert wire["exchanged"] == [exchanged(A, B, "4s 9s Th", "9s 8s Qh")]
    assert wire["hands"][A] == cards("2c 8s 9s Qh")
    assert wire["hands"][B] == cards("2s 3h 4s Th")


def test_all_cards_of_a_pairing_may_be_given_at_once() -> None:
    state = exchange(("2c 4s 9s Th", "8s Qh 2s 3h", "3c 4c 5c 6c"), 3)
    at_once = advance(state, "give:Th9s4s")
    assert at_once.to_dict()["history"] == [{"seat": A, "move": "give:4s9sTh"}]
    one_by_one = advance(state, "give:4s", "give:Th9s")
    assert at_once.to_dict()["exchanged"] == one_by_one.to_dict()["exchanged"]
    assert at_once.hands == one_by_one.hands


def test_a_card_that_came_back_may_be_given_to_the_other_debtor() -> None:
    state = exchange(("3h 2c", "2s 4s", "9h 4c"), 1, owed=[pairing(A, B, 1), pairing(A, C, 1)])
    state = advance(state, "give:3h", "give:3h")
    assert state.to_dict()["exchanged"] == [
        exchanged(A, B, "3h", "3h"),
        exchanged(A, C, "3h", "9h"),
    ]


def test_gives_are_listed_one_at_a_time_in_deck_order() -> None:
    state = exchange(("Th 2c 9s 2s", "8s Qh 2h 3h", "3c 4c 5c 6c"), 3)
    assert state.moves().texts() == ["give:2c", "give:2s", "give:9s", "give:Th"]
    assert "give:2c" in state.moves()
    assert "give:2c2s9s" not in state.moves()
    assert state.is_legal("give:2c2s9s")


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


# Views


def test_a_view_hides_seed_hands_talon_and_others_discards() -> None:
    state = GAME.start(None, "deal", {})
    wire = state.view(B).to_dict()
    assert "seed" not in wire
    assert "hands" not in wire
    assert (wire["talon"], wire["counts"], wire["seat"]) == (["??"] * 4, [16, 16, 16], B)
    assert wire["hand"] == state.to_dict()["hands"][B]
    # Not even the 9-player sees the talon before it has named trump.
    assert state.view(A).to_dict()["talon"] == ["??"] * 4
    first = state.advance("trump:h").to_dict()["hands"][A][0]
    state = state.advance("trump:h").advance(f"discard:{first}")
    rest = "".join(state.to_dict()["hands"][A][:3])
    state = state.advance(f"discard:{rest}")
    own, other = state.view(A).to_dict(), state.view(C).to_dict()
    assert own["discards"] == state.to_dict()["discards"]
    assert own["history"] == state.to_dict()["history"]
    assert other["discards"] == ["??"] * 4
    assert [entry["move"] for entry in other["history"]] == [
        "trump:h",
        "discard:??",
        "discard:??????",
    ]


def views(state: NinefivetwoState) -> list[dict[str, Any]]:
    return [state.view(seat).to_dict() for seat in (A, B, C)]


def test_an_exchange_is_known_to_its_giver_and_debtor_alone() -> None:
    state = exchange(
        ("3h 2c 5s", "9h 4s 6s", "4c 5c 9d"), 2, owed=[pairing(A, B, 2), pairing(A, C, 1)]
    )
    state = advance(state, "give:3h")
    giver, debtor, third = views(state)
    assert giver["owed"] == debtor["owed"] == [pairing(A, B, 2, "3h"), pairing(A, C, 1)]
    assert third["owed"] == [pairing(A, B, 2, "??"), pairing(A, C, 1)]
    assert giver["history"] == debtor["history"] == [{"seat": A, "move": "give:3h"}]
    assert third["history"] == [{"seat": A, "move": "give:??"}]
    assert giver["counts"] == [2, 3, 3]
    state = advance(state, "give:5s", "give:2c")
    giver, debtor, third = views(state)
    first, second = exchanged(A, B, "3h 5s", "9h 6s"), exchanged(A, C, "2c", "5c")
    assert giver["exchanged"] == [first, second]
    assert debtor["exchanged"] == [first, exchanged(A, C, "??", "??")]
    assert third["exchanged"] == [exchanged(A, B, "?? ??", "?? ??"), second]
    assert [entry["move"] for entry in debtor["history"]] == ["give:3h", "give:5s", "give:??"]
    assert [entry["move"] for entry in third["history"]] == ["give:??", "give:??", "give:2c"]


def test_the_same_card_given_twice_is_masked_by_its_pairing() -> None:
    state = exchange(("3h 2c", "2s 4s", "9h 4c"), 1, owed=[pairing(A, B, 1), pairing(A, C, 1)])
    state = advance(state, "give:3h", "give:3h")
    _, first, second = views(state)
    assert [entry["move"] for entry in first["history"]] == ["give:3h", "give:??"]
    assert [entry["move"] for entry in second["history"]] == ["give:??", "give:3h"]


def test_a_give_that_fits_no_pairing_is_open_to_its_giver_alone() -> None:
    history = [{"seat": A, "move": "give:3h5s"}, {"seat": B, "move": "give:9c"}]
    state = exchange(
        ("3h 2c", "2s 4s", "9h 4c"),
        1,
        exchanged=[exchanged(A, B, "3h", "Ah"), exchanged(C, B, "9c", "Tc")],
        history=history,
    )
    own, other, third = views(state)
    assert [entry["move"] for entry in own["history"]] == ["give:3h5s", "give:??"]
    assert [entry["move"] for entry in other["history"]] == ["give:????", "give:9c"]
    assert [entry["move"] for entry in third["history"]] == ["give:????", "give:??"]


def test_a_set_up_position_may_have_lost_the_beginning_of_its_history() -> None:
    # 3h came back from B and goes to C now: the one entry is the later pairing's.
    state = exchange(
        ("3h 2c", "2s 4s", "9h 4c"),
        1,
        owed=[pairing(A, C, 1)],
        exchanged=[exchanged(A, B, "3h", "3h")],
    )
    _, first, second = views(advance(state, "give:3h"))
    assert first["history"] == [{"seat": A, "move": "give:??"}]
    assert second["history"] == [{"seat": A, "move": "give:3h"}]


def test_hands_stay_hidden_when_over_and_views_know_whose_turn_it_is() -> None:
    state = setup("play", ("2c 3c", "4c 5c", "6c 7c"))
    assert state.view(A).moves().texts() == ["play:2c", "play:3c"]
    assert state.view(B).moves().texts() == []
    assert reason(state.view(B), "play:4c") == "not-your-turn"
    with pytest.raises(ValueError, match="no seat 3"):
        state.view(3)


# Options


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"target": 0}, "options.target"),
        ({"target": None}, "options.target"),
        ({"target": 100_001}, "options.target"),
        ({"deals": None}, "options.deals"),
        ({"deals": 0}, "options.deals"),
        ({"deals": True}, "options.deals"),
        ({"spring": True}, "options.spring"),
    ],
)
def test_options_out_of_range(options: dict[str, Any], field: str) -> None:
    with pytest.raises(games.OptionError) as error:
        GAME.start(None, "x", options)
    assert error.value.field == field


def test_defaults_and_players() -> None:
    assert GAME.start(3, "x", {}).options == {"target": 15, "deals": 100}
    for players in (2, 4):
        with pytest.raises(games.OptionError) as error:
            GAME.start(players, "x", {})
        assert error.value.field == "players"
