"""Determinizations: states that the seat cannot distinguish from the true one."""

import random
from typing import Any

import pytest

import games
from bots import random as random_bot
from bots import sensible
from bots.thinking.determinization import MISSING, infer_constraints, sample_state, voids
from tests.support.games.random_games import TABLES

# A sample keeps neither later deals nor what is only history.
OMITTED = {"history", "options", "exchanged", "talon"}
VARIANTS = {
    "doudizhu": {"single_round": True, "spring": True, "reveal_talon": True},
    "dasan": {"open_higher": True, "reveal_talon": True},
}


@pytest.mark.parametrize(("game", "players"), TABLES)
@pytest.mark.parametrize("bot", [random_bot.move, sensible.move])
def test_a_sample_looks_the_same_from_the_seat(game: str, players: int, bot: Any) -> None:
    rng = random.Random(5)
    rules = games.get(game)
    options = {} if bot is sensible.move else VARIANTS.get(game, {})
    state = rules.start(players, "samples", {"deals": 3 if game == "ninefivetwo" else 1, **options})
    while state.turn is not None:
        seat = state.turn
        view = state.view(seat).to_dict()
        constraints = infer_constraints(view)
        assert constraints.capacity[MISSING] == 0
        sample = rules.state(sample_state(view, constraints, rng))
        seen = sample.view(seat).to_dict()
        assert {field for field in view if seen[field] != view[field]} <= OMITTED
        assert sample.moves().texts() == state.moves().texts()
        truth = state.to_dict()
        for card, locations in constraints.limited:
            known = any(at < 0 or card in truth["hands"][at] for at in locations)
            # 3 players, Dasan: the lowest heart may have been in the talon after all.
            assert known or (game == "dasan" and players == 3 and card[1] == "h")
        state = state.advance(bot(view, state.moves().texts()))


def test_a_history_without_its_beginning_shows_no_false_void() -> None:
    rng = random.Random(7)
    state = games.get("ninefivetwo").start(3, "voids", {"deals": 1})
    while state.turn is not None:
        view = state.view(state.turn).to_dict()
        shown = voids(view)
        for begun in range(len(view["history"])):
            part = voids({**view, "history": view["history"][begun:]})
            assert all(part[suit] <= seats for suit, seats in shown.items())
        state = state.advance(rng.choice(state.moves().texts()))
    assert sum(map(len, shown.values())) > 3


def test_limits_that_conflict_are_ignored() -> None:
    """Two cards of a talon that everybody saw, but the declarer has one card left."""
    state = games.get("doudizhu").start(3, "conflict", {"reveal_talon": True}).advance("bid:3")
    view = state.view(((state.turn or 0) + 1) % 3).to_dict()
    view["counts"][state.turn or 0] = 1
    sample = sample_state(view, infer_constraints(view), random.Random(1))
    assert [len(hand) for hand in sample["hands"]] == view["counts"]
