from collections.abc import Mapping
from typing import Any

import pytest

import games
from games import Fact
from tests.support.games.climbing import dasan, doudizhu
from tests.support.games.golden import files, load


@pytest.mark.parametrize("name", files())
def test_facts_and_words_show_what_a_seat_may_know(name: str) -> None:
    """Facts are those of the state, but for hidden cards; equal words mean equal facts."""
    described: dict[str, object] = {}
    for step in load(name)["steps"]:
        for data in step.get("views", ()):
            view = games.get(data["game"]).view(data)
            facts, moves = view.game.facts(data), view.moves()
            for seen, known in zip(facts, view.game.facts(step["state"]), strict=True):
                assert (seen.label, seen.seat) == (known.label, known.seat)
                assert seen == known or "??" in seen.cards
            words = games.describe(view, moves)
            content = (facts, data["hand"], len(moves), [*moves][:8])
            assert described.setdefault(words, content) == content
            assert games.describe(view) in words
            assert all(card in words for card in data["hand"])


def test_a_long_list_of_moves_is_shortened() -> None:
    state = games.get("zhengfen").start(3, "0", {})
    view = state.view(state.turn)
    words = games.describe(view, view.moves())
    single = next(line for line in words.splitlines() if line.startswith("- single"))
    assert single.count("play:") == 8
    assert "and " in single
    assert single.endswith(" more")


def roles(data: Mapping[str, Any], *seats: int) -> list[list[str]]:
    game = games.get(data["game"])
    return [[str(role) for role in game.roles(data, seat)] for seat in seats]


def test_dou_dizhu_names_the_landlord_and_the_play_to_beat() -> None:
    state = doudizhu(["3c 4c", "5c", "6c"]).advance("play:3c")
    wire = state.view(1).to_dict() | {"talon": ["??"] * 3}
    assert state.game.facts(wire) == [
        Fact("talon", cards=("??",) * 3),
        Fact("to beat", "solo", ("3c",), 0, on_table=True),
    ]
    assert roles(wire, 0, 1, 2) == [["landlord, bid 1"], [], []]


def test_dasan_keeps_a_secret_partner() -> None:
    calling = dasan(["4c 5c", "7h", "8c", "9c"], phase="call", bid=2)
    assert "The sides are not known yet." in games.describe(calling.view(0))
    state = calling.advance("call:7h")
    whole = state.to_dict()
    assert Fact("called", cards=("7h",)) in state.game.facts(whole)
    assert roles(whole, 0, 1) == [["declarer, bid 2"], ["partner"]]
    assert roles(state.view(0).to_dict(), 1) == [[]]
    assert "The sides are not known yet." in games.describe(state.view(0))
    assert "Sides: seat 0, 1 against 2, 3." in games.describe(state.view(1))


def test_zheng_fen_counts_points() -> None:
    data = games.get("zhengfen").start(3, "facts", {}).to_dict()
    data |= {"trick": ["5c", "Kd"], "taken": [["Tc", "3c"], [], []], "out": [2]}
    data["table"] = {"seat": 0, "move": "play:Kd", "category": "single"}
    assert games.get("zhengfen").facts(data)[0] == Fact("points in the trick", "15")
    assert roles(data, 0, 2) == [["10 points taken"], ["0 points taken", "out"]]


def test_nine_five_two_names_trumps_and_tricks() -> None:
    state = games.get("ninefivetwo").start(3, "facts", {}).advance("trump:h")
    data = state.view(1).to_dict()
    assert Fact("trumps", "hearts ♥") in state.game.facts(data)
    assert roles(data, 0) == [["0 of 9 tricks"]]
