"""The facts of a position that a person sees besides hands and scores."""

from collections.abc import Mapping
from typing import Any

import pytest

import games
from games import Fact
from tests.support.golden import files, load


@pytest.mark.parametrize("name", files())
def test_a_view_tells_nothing_that_the_state_hides(name: str) -> None:
    """The facts of a view are those of the state, except cards that the seat may not see."""
    for step in load(name)["steps"]:
        if "state" not in step:
            continue
        game = games.get(step["state"]["game"])
        whole = game.facts(step["state"])
        for view in step["views"]:
            seen = game.facts(view)
            assert [(fact.label, fact.seat) for fact in seen] == [
                (fact.label, fact.seat) for fact in whole
            ]
            hidden = [fact for fact, known in zip(seen, whole, strict=True) if fact != known]
            assert all("??" in fact.cards for fact in hidden)


@pytest.mark.parametrize("name", files())
def test_the_words_of_a_view_are_those_of_its_facts_and_moves(name: str) -> None:
    """Hands, facts and legal moves are in the words; equal words mean equal facts and moves."""
    told: dict[str, object] = {}
    for step in load(name)["steps"]:
        for data in step.get("views", ()):
            view = games.get(data["game"]).view(data)
            moves = view.moves()
            words = games.describe(view, moves)
            facts = (view.game.facts(data), data["hand"], len(moves), [*moves][:8])
            assert told.setdefault(words, facts) == facts
            assert games.describe(view) in words
            assert all(card in words for card in data["hand"])


def roles(game: games.Game, data: Mapping[str, Any], seat: int) -> list[str]:
    return [str(role) for role in game.roles(data, seat)]


def test_a_long_list_of_moves_is_shortened() -> None:
    state = games.get("zhengfen").start(3, "0", {})
    view = state.view(state.turn)
    words = games.describe(view, view.moves())
    single = next(line for line in words.splitlines() if line.startswith("- single"))
    assert single.count("play:") == 8
    assert "and " in single
    assert single.endswith(" more")


def test_dou_dizhu() -> None:
    game = games.get("doudizhu")
    state = game.start(3, "facts", {})
    declarer = state.turn
    assert declarer is not None
    state = state.advance("bid:3")
    other = (declarer + 1) % 3
    assert Fact("talon", cards=("??",) * 3) in game.facts(state.view(other).to_dict())
    assert roles(game, state.view(other).to_dict(), declarer) == ["landlord, bid 3"]
    assert roles(game, state.view(other).to_dict(), other) == []
    state = state.advance(state.moves()[0])
    beaten = game.facts(state.to_dict())[-1]
    assert (beaten.label, beaten.value, beaten.seat) == ("to beat", "solo", declarer)


def test_dasan_keeps_a_secret_partner() -> None:
    game = games.get("dasan")
    state = game.start(4, "facts", {})
    while state.phase == "auction":
        state = state.advance(state.moves()[-1])
    declarer = state.turn
    assert declarer is not None
    state = state.advance(state.moves()[0])
    whole = state.to_dict()
    (partner,) = (seat for seat in range(4) if "partner" in roles(game, whole, seat))
    assert Fact("called", cards=(whole["called"],)) in game.facts(whole)
    assert "partner" not in roles(game, state.view(declarer).to_dict(), partner)
    assert "The sides are not known yet." in games.describe(state.view(declarer))
    low, high = sorted([declarer, partner])
    assert f"Sides: seat {low}, {high} against" in games.describe(state.view(partner))


def test_zheng_fen_counts_points() -> None:
    game = games.get("zhengfen")
    data = game.start(3, "facts", {}).to_dict()
    data |= {"trick": ["5c", "Kd"], "taken": [["Tc", "3c"], [], []], "out": [2]}
    data["table"] = {"seat": 0, "move": "play:Kd", "category": "single"}
    assert game.facts(data) == [
        Fact("points in the trick", "15"),
        Fact("to beat", "single", ("Kd",), 0, on_table=True),
    ]
    assert roles(game, data, 0) == ["10 points taken"]
    assert roles(game, data, 2) == ["0 points taken", "out"]


def test_nine_five_two() -> None:
    game = games.get("ninefivetwo")
    state = game.start(3, "facts", {}).advance("trump:h")
    data = state.view(1).to_dict()
    assert Fact("trumps", "hearts ♥") in game.facts(data)
    assert roles(game, data, 0) == ["0 of 9 tricks"]
