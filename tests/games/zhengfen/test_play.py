"""Zheng Fen as a game: dealing, tricks, going out, the Last, scores, state checks, views."""

from typing import Any

import pytest

from games import InvalidState
from games.zhengfen.state import GAME
from tests.support.playing import play, reason
from tests.support.zhengfen import cards, position, wire


class TestTricks:
    def test_who_played_last_takes_the_trick_by_passing(self) -> None:
        state = position(["3c 9c", "4c 8c", "5d 7c"])
        state = play(state, "play:3c", "play:4c", "play:5d", "pass", "pass")
        assert state.turn == 2
        assert state.moves().texts() == ["pass", "play:7c"]
        state = play(state, "pass")
        wire_form = state.to_dict()
        assert wire_form["taken"] == [[], [], ["3c", "4c", "5d"]]
        assert (wire_form["trick"], wire_form["table"], wire_form["turn"]) == ([], None, 2)
        assert reason(state, "pass") == "must-lead"


class TestGoingOut:
    def test_the_first_can_still_win_the_trick_and_its_right_neighbour_leads(self) -> None:
        """Falls der Erste den Stich gewinnt, spielt der rechts sitzende Spieler aus."""
        state = position(["Kc", "4c 8c", "5c 7c"])
        state = play(state, "play:Kc")
        assert state.to_dict()["out"] == [0]
        assert state.turn == 1
        state = play(state, "pass", "pass")
        assert state.to_dict()["taken"] == [["Kc"], [], []]
        assert state.turn == 1
        assert reason(state, "pass") == "must-lead"

    def test_the_next_seat_still_in_leads(self) -> None:
        state = position(["Kc", "", "5c 7c", "6c 7h"], taken=[[], ["3c"], [], []], first=1, out=[1])
        state = play(state, "play:Kc", "pass", "pass")
        assert state.turn == 2

    def test_the_last_is_asked_once_more(self) -> None:
        state = position(["Kc", "3c 4c", ""], out=[2])
        state = play(state, "play:Kc")
        assert state.turn == 1
        assert state.moves().texts() == ["pass"], "even if pass is all it can"
        assert state.to_dict()["results"] == []
        assert play(state, "pass").to_dict()["results"] != []


class TestEnd:
    def test_the_last_gives_hand_and_tricks_to_the_first(self) -> None:
        state = position(
            ["Kc", "5c 4c", ""],
            out=[2],
            taken=[cards("5h"), cards("Ts Td"), cards("5s")],
            options={"target": 500, "deals": 1},
        )
        end = play(state, "play:Kc", "pass").to_dict()
        # seat 0: its 5 and the trick with the king; seat 2: 5s, the tens and the 5 of seat 1
        assert end["results"] == [{"deal": 1, "scores": [15, 0, 30], "first": 2, "last": 1}]
        assert end["scores"] == [15, 0, 30]
        assert end["taken"] == [["5h", "Kc"], [], ["4c", "5c", "5s", "Td", "Ts"]]
        assert end["hands"] == [[], [], []]
        assert (end["phase"], end["turn"], end["table"]) == ("over", None, None)
        assert (end["trick"], end["passes"]) == ([], 0)
        assert end["out"] == [2, 0], "the Last never enters it"
        assert GAME.state(end).to_dict() == end
        assert reason(GAME.state(end), "pass") == "game-over"

    def test_it_stays_the_last_even_if_that_empties_its_hand(self) -> None:
        state = position(["Kc", "Ac", ""], out=[2], options={"target": 500, "deals": 1})
        end = play(state, "play:Kc", "play:Ac").to_dict()
        assert end["results"] == [{"deal": 1, "scores": [0, 0, 10], "first": 2, "last": 1}]
        assert end["out"] == [2, 0]

    @pytest.mark.parametrize(
        ("options", "over"),
        [
            ({"target": 100, "deals": None}, True),
            ({"target": 101, "deals": None}, False),
            ({"target": 101, "deals": 1}, True),
            ({"target": 101, "deals": 2}, False),
        ],
    )
    def test_the_target_or_the_limit_ends_the_game(
        self, options: dict[str, object], over: bool
    ) -> None:
        state = position(["Kc", "4c", ""], out=[2], scores=[90, 0, 0], options=options)
        assert (play(state, "play:Kc", "pass").phase == "over") is over


def broken(**change: Any) -> tuple[str, ...]:
    """What is wrong with a trick of four seats after a change."""
    data = wire(
        ["3c9c", "4c8c", "5c7c", ""],
        "Qd",
        by=2,
        passes=0,
        turn=0,
        taken=[[], [], [], ["As"]],
    )
    data["turn"] = 0
    data["table"]["seat"] = 2
    return refused({**data, **change})


def refused(data: dict[str, Any]) -> tuple[str, ...]:
    """The problems of a state or view; none if it is valid."""
    try:
        if "seat" in data:
            GAME.view(data)
        else:
            GAME.state(data)
    except InvalidState as error:
        return error.problems
    return ()


class TestStateChecks:
    def test_welcome(self) -> None:
        assert broken() == ()
        assert broken(hands=[["9c", "3c"], ["8c", "4c"], ["7c"], []]) == ()
        assert broken(history=[{"seat": 9, "move": "rubbish"}]) == ()

    @pytest.mark.parametrize(
        ("change", "word"),
        [
            ({"turn": 1}, "turn is 1"),
            ({"taken": [[], []]}, "taken has 2 entries"),
            ({"hands": [["3c", "4c"], ["4c"], ["5c"], []]}, "4c occurs 2 times"),
            ({"hands": [["3c", "Qd"], ["4c"], ["5c"], []]}, "Qd occurs 2 times"),
            ({"hands": [["3c", "As"], ["4c"], ["5c"], []]}, "As occurs 2 times"),
            ({"hands": [["??"], ["4c"], ["5c"], []]}, "?? is not a card"),
            ({"taken": [["??"], [], [], []]}, "?? is not a card"),
            ({"trick": ["Qd", "??"]}, "?? is not a card"),
            ({"trick": ["Qd", "Qd"]}, "Qd occurs 2 times"),
            ({"trick": []}, "trick does not have"),
            ({"trick": ["Qc"]}, "trick does not have"),
            ({"table": None}, "trick has cards"),
            ({"table": None, "trick": [], "passes": 1}, "passes is 1"),
            ({"table": None, "trick": [], "turn": 3}, "no cards to lead"),
            ({"passes": 1}, "turn is 0"),
            ({"passes": 3}, "passes is 3"),
            ({"passes": -1}, "passes is -1"),
            ({"out": []}, "out is []"),
            ({"out": [9] * 500_000}, "out has 500000 seats, but there are"),
            ({"out": [3, 0]}, "out is [3, 0]"),
            ({"out": [3, 3]}, "seat twice"),
            ({"out": [4]}, "out is 4"),
            ({"hands": [["3c"], [], ["5c"], []]}, "out is [3]"),
            ({"hands": [[], [], [], []], "out": [0, 1, 2, 3]}, "Nobody holds cards"),
            ({"table": {"seat": 2, "move": "play:3c4d"}}, "not a combination"),
            ({"table": {"seat": 2, "move": "play:Qd=flush"}}, "not a combination"),
        ],
    )
    def test_refused(self, change: dict[str, Any], word: str) -> None:
        problems = broken(**change)
        assert any(word in problem for problem in problems), problems
        assert all(problem.endswith(".") for problem in problems)

    def test_one_seat_alone_only_answers(self) -> None:
        assert refused(wire(["3c", "", ""], "4d", by=1)) == ()
        for data in (wire(["3c", "", ""]), wire(["3c", "", ""], "4d", by=0)):
            assert any("Only seat 0 holds cards" in problem for problem in refused(data))
        asked_twice = wire(["3c", "", ""], "4d", by=1, passes=1)
        assert any("passes is 1" in problem for problem in refused(asked_twice))

    def test_a_table_with_two_readings_says_which(self) -> None:
        text = "TcQcKcBjRj"
        assert any("=flush" in problem for problem in refused(wire(["3c", "4c", "5c"], text)))
        state = position(["3c", "4c", "5c"], text + "=flush")
        assert state.to_dict()["table"]["rank"] == "A"
        state = position(["3c", "4c", "5c"], text + "=fullhouse")
        assert state.to_dict()["table"]["rank"] == "Q"

    def test_the_table_comes_back_canonical(self) -> None:
        state = position(["3c", "4c", "5c"], "8d7d6d5d4d=flush")
        assert state.to_dict()["table"] == {
            "seat": 2,
            "move": "play:4d5d6d7d8d",
            "category": "flush",
            "rank": "8",
            "length": 5,
        }

    def test_views(self) -> None:
        view = position(["3c9c", "4c8c", "5c7c", ""], "Qd", by=2).view(0).to_dict()
        assert refused(view) == ()
        assert any("54" in p for p in refused({**view, "counts": [2, 50, 3, 0]}))
        assert any("54" in p for p in refused({**view, "counts": [2, 50, 2, 0]})), "with the trick"
        assert refused({**view, "counts": [2, 50, 1, 0]}) == ()
        assert any("out is" in p for p in refused({**view, "counts": [2, 2, 0, 2]}))
        assert any("is not a card" in p for p in refused({**view, "hand": ["??", "3c"]}))
