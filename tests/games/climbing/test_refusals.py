import random

import pytest

import games
from games.errors import IllegalMove, Reason


@pytest.mark.parametrize(
    ("game", "players"), [("doudizhu", 3), ("doudizhu", 4), ("dasan", 3), ("zhengfen", 4)]
)
def test_a_refusal_names_every_kind_of_play_that_is_legal(game: str, players: int) -> None:
    dice = random.Random(1)
    refusals: list[tuple[str, set[str]]] = []
    for seed in range(8):
        state = games.get(game).start(players, str(seed), {"deals": 1})
        while state.turn is not None:
            moves = list(state.moves())
            for card in state.to_dict()["hands"][state.turn] if state.to_beat else ():
                try:
                    state.check(f"play:{card}")
                except IllegalMove as error:
                    if error.reason == Reason.WRONG_CATEGORY:
                        kinds = {move.category for move in moves if move.category}
                        refusals.append((error.detail, kinds))
            state = state.advance(dice.choice(moves))
    assert len(refusals) > 100
    for detail, kinds in refusals:
        assert all(kind in detail for kind in {"cannot beat", *kinds}), detail
