"""The facts of a position that a person sees besides hands and scores."""

from collections.abc import Mapping
from typing import Any

import pytest

import games
from games import Fact
from tests.support.climbing import dasan, doudizhu
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


def test_dou_dizhu_names_the_landlord_and_the_play_to_beat() -> None:
    game = games.get("doudizhu")
    state = doudizhu(["3c 4c", "5c", "6c"]).advance("play:3c")
    wire = state.view(1).to_dict() | {"talon": ["??"] * 3}
    assert game.facts(wire) == [
        Fact("talon", cards=("??",) * 3),
        Fact("to beat", "solo", ("3c",), 0, on_table=True),
    ]
    assert [roles(game, wire, seat) for seat in range(3)] == [["landlord, bid 1"], [], []]


def test_dasan_keeps_a_secret_partner() -> None:
    game = games.get("dasan")
    hands = ["4c 5c", "7h", "8c", "9c"]
    state = dasan(hands, phase="call", bid=2).advance("call:7h")
    whole = state.to_dict()
    assert Fact("called", cards=("7h",)) in game.facts(whole)
    assert [roles(game, whole, seat) for seat in (0, 1)] == [["declarer, bid 2"], ["partner"]]
    assert roles(game, state.view(0).to_dict(), 1) == []
    assert "The sides are not known yet." in games.describe(state.view(0))
    assert "Sides: seat 0, 1 against 2, 3." in games.describe(state.view(1))


def test_zheng_fen_counts_points() -> None:
    game = games.get("zhengfen")
    data = game.start(3, "facts", {}).to_dict()
    data |= {"trick": ["5c", "Kd"], "taken": [["Tc", "3c"], [], []], "out": [2]}
    data["table"] = {"seat": 0, "move": "play:Kd", "category": "single"}
    assert game.facts(data)[0] == Fact("points in the trick", "15")
    assert [roles(game, data, seat) for seat in (0, 2)] == [
        ["10 points taken"],
        ["0 points taken", "out"],
    ]


def test_nine_five_two_names_trumps_and_tricks() -> None:
    game = games.get("ninefivetwo")
    data = game.start(3, "facts", {}).advance("trump:h").view(1).to_dict()
    assert Fact("trumps", "hearts ♥") in game.facts(data)
    assert roles(game, data, 0) == ["0 of 9 tricks"]
