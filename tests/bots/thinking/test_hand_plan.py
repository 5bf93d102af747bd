"""Plans: they divide the hand into legal plays, with runs and kickers where these help."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import games
from bots.cards import rank_of
from bots.thinking.hand_plan import DASAN, DOUDIZHU_3, DOUDIZHU_4, ZHENGFEN, ComboRules, plan
from tests.bots.support import position


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
    state: Any = position(game, ["".join(hand), *rest])
    combos = plan(rules, counts).combos
    for combo in combos:
        text = "play:" + "".join(by_rank[rank].pop() for rank in combo.ranks)
        legal = state.check(text)
        assert (legal.category, legal.length) == (combo.kind, combo.length)
        assert legal.rank == games.get(game).deck(players).ranks[combo.top]
    assert not any(by_rank)


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
