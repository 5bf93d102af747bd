from games.zhengfen.state import GAME
from tests.support.games.playing import assert_refused, cards, play, reason
from tests.support.games.zhengfen import position, wire

ONE_DEAL = {"target": 500, "deals": 1}
TRICK = wire(["3c9c", "4c8c", "5c7c", ""], "Qd", by=2, taken=[[], [], [], ["As"]])
VIEW = GAME.state(TRICK).view(0).to_dict() | {"counts": [2, 49, 1, 0]}  # as many as the deck has


def test_the_first_wins_the_trick_and_its_neighbour_leads() -> None:
    """Falls der Erste den Stich gewinnt, spielt der rechts sitzende Spieler aus."""
    state = play(position(["Kc", "4c 8c", "5c 7c"]), "play:Kc")
    assert (state.out, state.turn) == ((0,), 1)
    state = play(state, "pass", "pass")
    assert state.to_dict()["taken"] == [["Kc"], [], []]
    assert state.turn == 1
    assert reason(state, "pass") == "must-lead"
    # or the next seat that is still in
    state = position(["Kc", "", "5c 7c", "6c 7h"], taken=[[], ["3c"], [], []], first=1, out=[1])
    assert play(state, "play:Kc", "pass", "pass").turn == 2


def test_the_last_is_asked_and_gives_all_to_the_first() -> None:
    taken = [cards("5h"), cards("Ts Td"), cards("5s")]
    state = position(["Kc", "5c 4c", ""], out=[2], taken=taken, options=ONE_DEAL)
    state = play(state, "play:Kc")
    assert (state.turn, state.moves().texts(), state.results) == (1, ["pass"], ())
    end = play(state, "pass").to_dict()
    # seat 0: its 5 and the trick with the king; seat 2: 5s, the tens and the 5 of seat 1
    assert end["results"] == [{"deal": 1, "scores": [15, 0, 30], "first": 2, "last": 1}]
    assert end["taken"] == [["5h", "Kc"], [], ["4c", "5c", "5s", "Td", "Ts"]]
    assert end["hands"] == [[], [], []]
    assert end["out"] == [2, 0], "the Last never enters it"
    assert GAME.state(end).to_dict() == end
    state = position(["Kc", "Ac", ""], out=[2], options=ONE_DEAL)  # also with an empty hand
    end = play(state, "play:Kc", "play:Ac").to_dict()
    assert end["results"] == [{"deal": 1, "scores": [0, 0, 10], "first": 2, "last": 1}]
    assert end["out"] == [2, 0]


def test_a_position_that_breaks_a_clause_is_refused() -> None:
    for data, changes, sentence in (
        (TRICK, {"turn": 1}, "turn is 1"),
        (TRICK, {"taken": [[], []]}, "taken has 2 entries"),
        (TRICK, {"hands": [["3c", "4c"], ["4c"], ["5c"], []]}, "4c occurs 2 times"),
        (TRICK, {"hands": [["3c", "Qd"], ["4c"], ["5c"], []]}, "Qd occurs 2 times"),
        (TRICK, {"hands": [["3c", "As"], ["4c"], ["5c"], []]}, "As occurs 2 times"),
        (TRICK, {"hands": [["??"], ["4c"], ["5c"], []]}, "?? is not a card"),
        (TRICK, {"trick": []}, "trick does not have"),
        (TRICK, {"table": None}, "trick has cards"),
        (TRICK, {"table": None, "trick": [], "passes": 1}, "passes is 1"),
        (TRICK, {"table": None, "trick": [], "turn": 3}, "no cards to lead"),
        (TRICK, {"passes": 1}, "turn is 0"),
        (TRICK, {"passes": 3}, "passes is 3"),
        (TRICK, {"out": []}, "out is []"),
        (TRICK, {"out": [9] * 500_000}, "out has 500000 seats, but there are"),
        (TRICK, {"out": [3, 0]}, "out is [3, 0]"),
        (TRICK, {"out": [3, 3]}, "seat twice"),
        (TRICK, {"out": [4]}, "out is 4"),
        (TRICK, {"hands": [[], [], [], []], "out": [0, 1, 2, 3]}, "Nobody holds cards"),
        (TRICK, {"table": {"seat": 2, "move": "play:3c4d"}}, "not a combination"),
        (TRICK, {"table": {"seat": 2, "move": "play:Qd=flush"}}, "not a combination"),
        (TRICK, {"table": {"seat": 2, "move": "play:TcQcKcBjRj"}}, "add =flush or =fullhouse"),
        (TRICK, wire(["3c", "", ""]), "Only seat 0 holds cards"),
        (TRICK, wire(["3c", "", ""], "4d", by=0), "Only seat 0 holds cards"),
        (TRICK, wire(["3c", "", ""], "4d", by=1, passes=1), "passes is 1"),
        (VIEW, {"counts": [2, 50, 3, 0]}, "the deck has 54"),
        (VIEW, {"counts": [2, 49, 2, 0]}, "the deck has 54"),  # with the trick and what is taken
        (VIEW, {"counts": [2, 2, 0, 2]}, "out is"),
        (VIEW, {"hand": ["??", "3c"]}, "is not a card"),
    ):
        assert_refused(data, changes, sentence)


def test_the_table_comes_back_canonical() -> None:
    state = position(["3c", "4c", "5c"], "8d7d6d5d4d=flush")
    played = {"seat": 2, "move": "play:4d5d6d7d8d"}
    assert state.to_dict()["table"] == played | {"category": "flush", "rank": "8", "length": 5}
