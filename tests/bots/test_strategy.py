"""The decisions of the sensible bot, by example."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import games
from bots import greedy, sensible
from bots.doudizhu import strategy as doudizhu
from bots.ninefivetwo import tricks
from bots.thinking.hand_plan import DASAN, DOUDIZHU_3, DOUDIZHU_4, ZHENGFEN, ComboRules, plan
from bots.thinking.shedding import opponents_of
from bots.zhengfen import strategy as zhengfen

SUITS = "cdhs"


def position(game: str, hands: list[str], **fields: Any) -> Any:
    """A set-up position; hands as ranks and suits written together."""
    start = games.get(game).start(len(hands), "s", {}).to_dict()
    dealt = [[hand[i : i + 2] for i in range(0, len(hand), 2)] for hand in hands]
    cleared: dict[str, Any] = {"hands": dealt, "phase": "play", "turn": 0}
    if game in ("doudizhu", "dasan"):
        cleared |= {"talon": [], "declarer": 0, "bid": 1, "first": 0}
    if game == "doudizhu":
        cleared["exposed"] = None
    if game == "zhengfen":
        cleared["first"] = 0
    return games.get(game).state(start | cleared | fields)


def choice(state: Any, bot: Any = sensible) -> str:
    view = state.view(state.turn).to_dict()
    move: str = bot.move(view, state.moves().texts())
    state.advance(move)
    return move


def table(seat: int, move: str) -> dict[str, Any]:
    return {"seat": seat, "move": move}


@pytest.mark.parametrize(
    ("rules", "game", "players"),
    [(DOUDIZHU_3, "doudizhu", 3), (DOUDIZHU_4, "doudizhu", 4), (DASAN, "dasan", 3)],
)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_a_plan_is_the_hand_in_legal_plays(
    rules: ComboRules, game: str, players: int, data: st.DataObject
) -> None:
    deck = list(games.get(game).deck(players).cards)
    hand = data.draw(st.permutations(deck))[: data.draw(st.integers(1, 26))]
    by_rank: list[list[str]] = [[] for _ in range(rules.rank_count)]
    for card in hand:
        by_rank[list(games.get(game).deck(players).ranks).index(_rank(card))].append(card)
    counts = tuple(len(cards) for cards in by_rank)
    others = [card for card in deck if card not in hand]
    rest = [others[i] if i < len(others) else "??" for i in range(1, players)]
    if "??" in rest:
        return
    state: Any = position(game, ["".join(hand), *rest])
    combos = plan(rules, counts).combos
    for combo in combos:
        text = "play:" + "".join(by_rank[rank].pop() for rank in combo.ranks)
        legal = state.check(text)
        assert (legal.category, legal.length) == (combo.kind, combo.length)
        assert legal.rank == games.get(game).deck(players).ranks[combo.top]
    assert not any(by_rank)


def _rank(card: str) -> str:
    return card if card[1] == "j" else card[0]


def test_plans() -> None:
    def kinds(rules: ComboRules, **counts: int) -> list[str]:
        ranks = list(games.get(rules.game).deck(3).ranks)
        hand = tuple(counts.get(f"r{rank}", 0) for rank in ranks)
        return sorted(combo.kind for combo in plan(rules, hand).combos)

    assert kinds(DOUDIZHU_3, r3=1, r4=1, r5=1, r6=1, r7=1) == ["run"]
    assert kinds(DOUDIZHU_3, r3=3, r4=3, r5=1, r9=1) == ["triple-run+solos"]
    assert kinds(DOUDIZHU_3, r3=3, r5=1, rA=1) == ["solo", "triple+solo"]
    assert kinds(DOUDIZHU_3, r3=4, rBj=1, rRj=1) == ["bomb", "rocket"]
    assert kinds(DASAN, r4=2, r5=2, r6=2, r3=1) == ["pair-run", "single"]
    assert kinds(ZHENGFEN, r3=2, rK=2, rA=2, r2=2) == ["pair", "pair-run"]


@pytest.mark.parametrize("game", ["doudizhu", "dasan", "zhengfen"])
def test_goes_out_when_it_can(game: str) -> None:
    state = position(game, ["8c8d", "4c5c6c", "4d5d6d"])
    assert choice(state) == "play:8c8d"
    state = position(
        game, ["8c", "4c5c6c", "4d5d6d"], table=table(2, "play:7s"), **_trick(game, "7s")
    )
    assert choice(state) == "play:8c"


def _trick(game: str, *cards: str) -> dict[str, Any]:
    return {"trick": list(cards)} if game == "zhengfen" else {}


def test_wins_by_force() -> None:
    """The joker first, which nothing beats, then the 3."""
    state = position("doudizhu", ["3cRj", "4c5c", "4d5d"])
    assert choice(state) == "play:Rj"


def test_keeps_its_bomb() -> None:
    hands = ["5c5d5h5s7c9dJhQs", "3c4c6c8c9cTcJcQcKcAc2c", "3d4d6d8dTdJdKdAd2d"]
    state = position("doudizhu", hands, table=table(2, "play:Ks"))
    assert choice(state) == "pass"
    assert choice(state, greedy) == "play:5c5d5h5s"


def test_does_not_overtake_a_teammate_about_to_win() -> None:
    # Seat 1 is the declarer; seat 2, a teammate of seat 0, has one card left.
    hands = ["9cTdAc2h", "3c4c6c8c9dTc", "7d"]
    state = position("doudizhu", hands, declarer=1, table=table(2, "play:Jd"))
    assert choice(state) == "pass"
    assert choice(state, greedy) == "play:Ac"


def test_stops_a_declarer_about_to_win() -> None:
    hands = ["9c9dAcAd", "3c", "7d8hTdKc"]
    state = position("doudizhu", hands, declarer=1, table=table(1, "play:Kd"), passes=1)
    # Splitting the aces is the only way to beat the king.
    assert choice(state) == "play:Ac"


def test_does_not_lead_what_an_opponent_may_go_out_with() -> None:
    hands = ["4c5d5h", "9c", "7d8hTdKc"]
    state = position("doudizhu", hands, declarer=1)
    assert choice(state) == "play:5d5h"


def test_leads_low_to_a_teammate_with_one_card() -> None:
    hands = ["4cAdAhQsQd", "9c", "7d8hTdKcJsJc"]
    state = position("doudizhu", hands, declarer=2)
    assert choice(state) == "play:4c"


def test_bids_by_strength() -> None:
    strong = "3c3d3h4c5c6c7cAcAdAh2c2d2hBjRj8d8h"
    weak = "3c4c4d5h6s6d7c8c9d9hTcJdJhQcQsKdKc"
    for hand, bid in ((strong, "bid:3"), (weak, "pass")):
        state = position("doudizhu", [hand, "3s", "4s"], phase="auction", declarer=None, bid=0)
        assert choice(state) == bid


def test_dasan_calls_a_card_to_the_rank_it_holds_most_of() -> None:
    hands = ["4c4d5c7c7d7hKcKd", "7s8c", "4h8d", "4s8h"]
    state = position("dasan", hands, phase="call")
    assert choice(state) == "call:7s"


def test_dasan_opponents_while_the_partner_is_secret() -> None:
    hands = ["9cTdAc3h", "5c6c8c9dTc", "7d", "5d6d8d"]
    state = position("dasan", hands, declarer=1, called="7d", partner=2, table=table(3, "play:Jd"))
    known = [
        opponents_of(seat, 4, view["declarer"], view["partner"])
        for seat, view in enumerate(state.view(seat).to_dict() for seat in range(4))
    ]
    # Seats 0 and 3 know the declarer only; seat 2 knows that it is the partner.
    assert known == [{1}, {0, 2, 3}, {0, 3}, {1}]


def test_zhengfen_wins_rich_tricks_and_leaves_poor_ones() -> None:
    hands = ["2h3h6d6s8d9cJcQc", "4c5c6c7cTdJd", "4d5d6h7d8hJs"]
    rich = position("zhengfen", hands, table=table(2, "play:Kc"), trick=["Tc", "Kc", "5s", "Ks"])
    assert choice(rich) == "play:2h"


def test_zhengfen_takes_its_own_trick() -> None:
    hands = ["2h3h6d6s8d9c", "4c5c6c7cTdJd", "4d5d6h7d8hJs"]
    own = position(
        "zhengfen", hands, table=table(0, "play:Ac"), trick=["Kc", "Ac"], passes=2, turn=0
    )
    assert choice(own) == "pass"


@pytest.mark.parametrize(
    ("text", "table_kind", "kind"),
    [
        ("play:7s", None, "single"),
        ("play:BjRj", None, "pair"),
        ("play:5cTdKh", None, "510k"),
        ("play:5cTcKc", "single", "510k-suited"),
        ("play:2c2d2h2s", "pair", "2222"),
        ("play:2c2d2hBj", None, "quad"),
        ("play:JcQcKcAc2c", None, "flush"),
        ("play:5c5d6c6dBj", None, "fullhouse"),
        ("play:5s6s7sBjRj=flush", None, "flush"),
        ("play:4c4d5c5d6c6d", None, "pair-run"),
        ("play:4c4d4h5c5d5h6c6d6h", None, "triple-run"),
    ],
)
def test_zhengfen_reads_plays(text: str, table_kind: str | None, kind: str) -> None:
    assert zhengfen.parse_play(text, table_kind).kind == kind


def test_doudizhu_reads_every_play_as_the_rules_do() -> None:
    chance = random.Random(3)
    for players in (3, 4):
        state: Any = games.get("doudizhu").start(players, "read", {"deals": 2})
        while state.turn is not None:
            moves = state.moves()
            lying = None if state.table is None else doudizhu.on_table(state.table.to_dict())
            if state.phase == "play":
                for move in moves:
                    if move.text != "pass":
                        combo = doudizhu.parse_play(move.text, lying)
                        same = (combo.kind, DOUDIZHU_3_RANKS[combo.top]) == (
                            move.category,
                            move.rank,
                        )
                        assert same, (move.text, combo, move.category, move.rank)
            state = state.advance(moves[chance.randrange(len(moves))])


DOUDIZHU_3_RANKS = games.get("doudizhu").deck(3).ranks


def cards(text: str) -> int:
    return tricks.cards([text[i : i + 2] for i in range(0, len(text), 2)])


def trick_card(hand: str, trick: str, trump: str, unseen: str, voids: int = 0) -> str:
    played = [tricks.number(trick[i : i + 2]) for i in range(0, len(trick), 2)]
    card = tricks.choose_card(cards(hand), played, SUITS.index(trump), cards(unseen), voids)
    return tricks.name(card)


def test_ninefivetwo_tricks() -> None:
    # Last to play: the cheapest card that wins, the lowest if none does.
    assert trick_card("3hTh", "7h9h", "s", "2hAh") == "Th"
    assert trick_card("3h8h", "7h9h", "s", "2hAh") == "3h"
    # No card of the suit: the lowest trump that wins, else what is of least use.
    assert trick_card("3s4sAdKc", "7h9h", "s", "2hAh") == "3s"
    assert trick_card("2c3dAd", "7h9h", "s", "2hAh") == "2c"
    # Second: a high card only where it is likely to stand.
    assert trick_card("3hAh", "7h", "s", "8hKh") == "Ah"
    assert trick_card("3hTh", "7h", "s", "8hJhKh") == "3h"
    assert trick_card("3hAh", "7h", "s", "8dKd2s", voids=1 << SUITS.index("h")) == "3h"
    # Leading: cards that nothing beats while they are not ruffed.
    assert trick_card("AhTd2c", "", "s", "2h3h4h5h6hJdQdAc3s") == "Ah"


def test_ninefivetwo_names_its_strong_long_suit() -> None:
    hand = "AcKcQc5c4c2c3d5d3h4h5h6h7h8h2s3s"
    state = games.get("ninefivetwo").start(3, "t", {}).to_dict()
    dealt = [hand[i : i + 2] for i in range(0, len(hand), 2)]
    view: dict[str, Any] = games.get("ninefivetwo").start(3, "t", {}).view(0).to_dict()
    assert state["turn"] == 0
    view["hand"] = dealt
    choice = sensible.move(view, ["trump:c", "trump:d", "trump:h", "trump:s"])
    assert choice == "trump:c"
