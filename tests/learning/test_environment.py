"""Self-play: PettingZoo's own tests, what observations and rows hold, and mistakes of users."""

import random
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import games
from games import View
from stich import env as stich_env
from stich.env import DESCRIPTION, ROLES, Encoding, Environment
from tests.support.games.climbing import dasan, doudizhu
from tests.support.games.ninefivetwo import setup
from tests.support.games.random_games import TABLES, permuted
from tests.support.games.zhengfen import lead


def steps(environment: Environment, seed: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Play a random game, in which rewards are deal points; the seat and info before each step."""
    rng = random.Random(seed)
    environment.reset(seed=seed)
    rewards = dict.fromkeys(environment.possible_agents, 0.0)
    for agent in environment.agent_iter():
        _, reward, over, cut_off, info = environment.last()
        rewards[agent] += reward
        assert not cut_off
        if not over:
            yield int(agent[-1]), info
        environment.step(None if over else rng.randrange(len(environment.moves)))
    assert [*rewards.values()] == [*environment.position.scores]


def observed(game: str, players: int, view: View) -> dict[str, list[int]]:
    encoding = Encoding(game, players)
    array = encoding.observation(encoding.encode(view))
    assert array.shape == (encoding.size,)
    assert array.dtype == np.int16
    return {name: array[part].tolist() for name, part in encoding.parts.items()}


@pytest.mark.parametrize(("game", "players"), TABLES)
def test_pettingzoo_finds_no_fault(game: str, players: int) -> None:
    pettingzoo = pytest.importorskip("pettingzoo.test", reason="pip install 'stich[learn]'")
    with warnings.catch_warnings(action="error"):
        pettingzoo.api_test(stich_env.aec_env(game, players, {"deals": 2}))
        pettingzoo.seed_test(lambda: stich_env.aec_env(game, players, {"deals": 2}), num_cycles=99)


@pytest.mark.parametrize(("game", "players"), TABLES)
def test_arrays_hold_what_a_seat_may_know_and_its_moves(game: str, players: int) -> None:
    environment = Environment(game, players, {"deals": 2})
    rules, rng = games.get(game), random.Random(3)
    deck = rules.deck(players)
    categories = [category.name for category in rules.categories]
    for seat, info in steps(environment, 3):
        state = environment.position
        view = state.view(seat)
        parts = observed(game, players, view)
        wire = view.to_dict()
        assert parts == observed(game, players, rules.view(wire))
        assert sum(parts["hand"]) == len(wire["hand"])
        for name in ("counts", "scores"):
            assert parts[name] == wire[name][seat:] + wire[name][:seat]
        assert parts == observed(game, players, permuted(state, seat, rng).view(seat))
        moves, rows = list(environment.moves), info["moves"]
        assert rows.shape == (len(moves), environment.encoding.row_size)
        illegal = environment.actions - len(moves)
        assert info["action_mask"].tolist() == [1] * len(moves) + [0] * illegal
        assert moves == list(view.moves())
        for move, row in zip(moves, rows, strict=True):
            numbers = [n % 64 for n in np.flatnonzero(row[:-64])]
            assert sorted(numbers) == deck.numbers(move.cards)
            cells = {name: np.flatnonzero(row[-64:][part]) for name, part in DESCRIPTION.items()}
            if move.kind == "play":
                assert [deck.ranks[n] for n in cells["rank"]] == [move.rank]
                assert [n + 1 for n in cells["length"]] == [move.length]
                assert [categories[n] for n in cells["category"]] == (
                    [move.category] if move.category in categories else []
                )
            assert len(cells["kind"]) == 1


def test_roles_are_counted_from_the_seat_that_sees_them() -> None:
    state = games.get("doudizhu").start(3, "roles", {})
    first = state.turn
    assert first is not None
    for move in ("bid:1", "pass", "bid:2", "pass", "pass"):
        state = state.advance(move)
    declarer = (first + 2) % 3
    state = state.advance(state.moves()[0])
    for seat in range(3):
        roles = np.array(observed("doudizhu", 3, state.view(seat))["roles"]).reshape(8, 8)
        marks = {name: np.flatnonzero(row).tolist() for name, row in zip(ROLES, roles, strict=True)}
        seats = {"table": declarer, "declarer": declarer, "first": first, "dealer": 0}
        assert marks == {"phase": [1], "bid": [2], "trump": [], "partner": []} | {
            name: [(place - seat) % 3] for name, place in seats.items()
        }


def test_the_longest_list_has_a_row_for_each_move() -> None:
    state = lead("3c3d3h3s4c4d4h4s5c5d5h5s6c6d6h6sBjRj")
    encoding = Encoding("zhengfen", 3)
    rows = encoding.rows(encoding.encode_moves(state.moves()))
    assert rows.shape == (31_122, 128)
    assert state.game.most_moves(3) >= 31_122


@pytest.mark.parametrize(
    ("history", "unseen"),
    [
        ([], 52),
        ([{"seat": 7, "move": "play:3c"}, {"seat": 1, "move": "play:4c4c4c4c"}], 52),
        ([{"seat": 1, "move": "play:9d"}, {"seat": 2, "move": "pass"}] * 20, 51),
        ([{"seat": 1, "move": "play:zz"}, {"seat": 2, "move": ""}], 52),
    ],
)
def test_any_view_that_is_valid_is_encoded(history: list[dict[str, Any]], unseen: int) -> None:
    """Only the shape of a posted history is checked."""
    view = games.get("doudizhu").start(3, "set up", {}).view(0).to_dict()
    view |= {"phase": "play", "turn": 1, "bid": 3, "declarer": 2, "talon": ["??"] * 3}
    view |= {"hand": ["3h"], "counts": [1, 5, 5], "scores": [10**30, -(10**30), 0]}
    view |= {"history": history, "table": {"seat": 0, "move": "play:8s"}}
    parts = observed("doudizhu", 3, stich_env.read_view(view))
    assert sum(parts["unseen"]) == unseen
    assert parts["scores"] == [32767, -32767, 0]


FIVE_CARDS = doudizhu(["3c 3d 3h 4c 4s", "9c", "9d"], declarer=1)
SEVENS = dasan(["7c 7d 7h", "9c", "9d", "9s"], declarer=1, called="7h", partner=0)
DISCARD = setup("discard", ("2c 3c 4c 5c 6c", "7c", "8c"), tricks=[15, 0, 0])


@pytest.mark.parametrize(
    ("state", "move", "listed"),
    [
        (FIVE_CARDS, "play:3h3d", "play:3c3d"),
        (FIVE_CARDS, "play:3c3d3h4s", "play:3c3d3h4c"),
        (SEVENS, "play:7d", "play:7c"),
        (SEVENS, "play:7h7d", "play:7c7h"),
        (DISCARD, "discard:4c", "discard:4c"),
        (DISCARD, "discard:2c3c4c5c", None),  # several cards at once
    ],
)
def test_a_move_not_listed_is_the_listed_one_in_other_suits(
    state: games.State, move: str, listed: str | None
) -> None:
    index = None if listed is None else state.moves().texts().index(listed)
    assert stich_env.action_of(state, move) == index


@pytest.mark.parametrize("action", [-1, 999, None, 1.5, "0"])
def test_an_action_that_is_not_in_the_list_is_refused(action: Any) -> None:
    environment = Environment("doudizhu")
    environment.reset(seed=1)
    with pytest.raises(
        ValueError, match=r"has the actions 0 to 3, and not (-1|999|None|1.5|'0')\."
    ):
        environment.step(action)


def test_mistakes_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(games.IllegalMove):
        stich_env.action_of(FIVE_CARDS, "play:3h3d4s")
    with pytest.raises(games.UnknownGame, match="the games are: doudizhu"):
        Environment("skat")
    with pytest.raises(games.OptionError, match="is played by 3 to 4, not 5"):
        Encoding("doudizhu", 5)
    with pytest.raises(games.OptionError, match="has only these"):
        Environment("dasan", options={"rounds": 3})
    monkeypatch.delitem(sys.modules, "learning.aec", raising=False)
    monkeypatch.setitem(sys.modules, "pettingzoo", None)
    monkeypatch.setitem(sys.modules, "gymnasium.spaces", None)
    with pytest.raises(ModuleNotFoundError, match=r"`pip install 'stich\[learn\]'` brings"):
        stich_env.aec_env("dasan")


def test_a_seed_names_a_series_of_games_which_are_shown() -> None:
    environment = Environment("dasan", 4, {"deals": 3})
    environment.reset(seed=11)
    for game in ("11/0", "11/1"):
        assert environment.position.hands == games.get("dasan").start(4, game, {}).hands
        assert "bid:1" in environment.render()
        environment.reset()
    environment.close()
