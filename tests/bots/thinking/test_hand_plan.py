import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import games
from bots.cards import rank_of
from bots.thinking.hand_plan import DASAN, DOUDIZHU_3, DOUDIZHU_4, ComboRules, plan
from tests.support.games.climbing import dasan, doudizhu


@pytest.mark.parametrize(
    ("rules", "game", "players"),
    [(DOUDIZHU_3, "doudizhu", 3), (DOUDIZHU_4, "doudizhu", 4), (DASAN, "dasan", 3)],
)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_a_plan_is_the_hand_in_legal_plays(
    rules: ComboRules, game: str, players: int, data: st.DataObject
) -> None:
    deck = games.get(game).deck(players)
    cards = data.draw(st.permutations(deck.cards))
    hand = cards[: data.draw(st.integers(1, 26))]
    by_rank = [[card for card in hand if rank_of(card) == rank] for rank in deck.ranks]
    set_up = dasan if game == "dasan" else doudizhu
    state = set_up([" ".join(hand), *cards[-players + 1 :]])
    for combo in plan(rules, tuple(len(held) for held in by_rank)).combos:
        legal = state.check("play:" + "".join(by_rank[rank].pop() for rank in combo.ranks))
        assert (legal.category, legal.length) == (combo.kind, combo.length)
        assert legal.rank == deck.ranks[combo.top]
    assert not any(by_rank)
