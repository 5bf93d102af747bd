"""Plans: they divide the hand into legal plays, with runs and kickers where these help."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import games
from bots.cards import rank_of
from bots.thinking.hand_plan import DASAN, DOUDIZHU_3, DOUDIZHU_4, ComboRules, plan
from tests.support.climbing import dasan, doudizhu


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
        by_rank[list(games.get(game).deck(players).ranks).index(rank_of(card))].append(card)
    counts = tuple(len(cards) for cards in by_rank)
    others = [card for card in deck if card not in hand]
    rest = [others[i] if i < len(others) else "??" for i in range(1, players)]
    if "??" in rest:
        return
    state: Any = (dasan if game == "dasan" else doudizhu)([" ".join(hand), *rest])
    combos = plan(rules, counts).combos
    for combo in combos:
        text = "play:" + "".join(by_rank[rank].pop() for rank in combo.ranks)
        legal = state.check(text)
        assert (legal.category, legal.length) == (combo.kind, combo.length)
        assert legal.rank == games.get(game).deck(players).ranks[combo.top]
    assert not any(by_rank)
