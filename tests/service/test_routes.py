from typing import Any

import pytest
from jsonschema import Draft202012Validator

import games
from games import Reason
from service.schemas.fields import MAX_LISTED_MOVES
from tests.support.games import golden, ninefivetwo
from tests.support.games.climbing import dasan_wire, doudizhu_wire
from tests.support.games.random_games import TABLES
from tests.support.games.zhengfen import wire
from tests.support.service.contract import Service, states

GAMES = list(games.GAMES)
OVER = golden.load("doudizhu-3-0")["final"]


def test_all_games_are_listed_and_described(service: Service) -> None:
    listed = service.get("/v1/games")["games"]
    assert service.client.get("/v1/games/").json == {"games": listed}, "a slash at the end"
    assert [(short["game"], short["title"], short["players"]) for short in listed] == [
        (game.name, game.title, [game.min_players, game.max_players])
        for game in games.GAMES.values()
    ]
    for short in listed:
        game, full = games.get(short["game"]), service.get(short["url"])
        assert full.items() >= short.items()
        assert full["phases"] == [*game.phases, "over"]
        assert len(full["deck"]) == (54 if game.name in ("doudizhu", "zhengfen") else 52)
        assert full["packs"] == {
            str(players): 2 if (game.name, players) == ("doudizhu", 4) else 1
            for players in range(game.min_players, game.max_players + 1)
        }
        named = [category["name"] for category in full["categories"]]
        assert named == [category.name for category in game.categories]
        schema = full["options"]
        Draft202012Validator.check_schema(schema)
        defaults = {option: about["default"] for option, about in schema["properties"].items()}
        assert service.start(game.name)["options"] == defaults
        assert Draft202012Validator(schema).is_valid(defaults)
        assert not Draft202012Validator(schema).is_valid({"deals": 0})


def test_a_game_starts_with_what_was_asked_for(service: Service) -> None:
    for name, players in TABLES:
        body = {"game": name, "players": players, "seed": "ä≠🂡", "options": {"deals": 7}}
        state = service.post("/v1/start", body)["state"]
        assert state["seed"] == "ä≠🂡"
        assert len(state["hands"]) == state["players"] == players
        assert state["options"]["deals"] == 7
        assert service.post("/v1/start", body)["state"] == state
    for name, game in games.GAMES.items():
        first, second = (service.post("/v1/start", {"game": name})["state"] for _ in range(2))
        assert (first["players"], first["seed"] == second["seed"]) == (game.min_players, False)


@pytest.mark.parametrize(("name", "players"), TABLES)
def test_answered_positions_are_accepted_and_moves_described(
    service: Service, name: str, players: int
) -> None:
    for state in states(name, 45, players=players)[::5]:
        listed = service.post("/v1/moves", {"state": state, "details": False})
        assert listed["seat"] == state["turn"]
        for seat in range(players):
            view = service.post("/v1/view", {"state": state, "seat": seat})["view"]
            own_moves = listed["moves"] if seat == state["turn"] else []
            assert service.post("/v1/moves", {"view": view}) == {**listed, "moves": own_moves}
        answer = service.post("/v1/moves", {"state": state, "details": True})
        details = answer.pop("details")
        assert answer == listed
        for move, detail in list(zip(answer["moves"], details, strict=True))[::5]:
            verdict = service.post("/v1/validate", {"state": state, "move": move})
            for field in ("category", "rank", "length"):
                assert detail[field] == verdict.get(field)
            kind, _, named = move.partition("=")[0].partition(":")
            is_cards = kind in ("play", "give", "discard", "call")
            assert "".join(detail["cards"] or []) == (named if is_cards else "")
            assert (detail["cards"] is None) is not is_cards


@pytest.mark.parametrize("name", GAMES)
def test_advance_lists_the_moves_of_the_new_state(service: Service, name: str) -> None:
    for before in states(name, 12):
        move = service.post("/v1/moves", {"state": before})["moves"][-1]
        body = {"state": before, "moves": [move]}
        answer = service.post("/v1/advance", {**body, "list_moves": True})
        after = answer.pop("state")
        assert service.post("/v1/advance", body) == {"state": after}
        assert answer == service.post("/v1/moves", {"state": after})


def test_a_state_is_described_from_the_seat_to_move_if_any(service: Service) -> None:
    for name in GAMES:
        state = service.start(name, deals=1)
        view = service.post("/v1/view", {"state": state, "seat": state["turn"]})["view"]
        for fields in ({}, {"list_moves": False}):
            described = service.post("/v1/describe", {"state": state, **fields})
            assert described == service.post("/v1/describe", {"view": view, **fields})
    start = {"state": service.start("doudizhu", redeals=0), "moves": ["pass"] * 3}
    over = service.post("/v1/advance", {**start, "list_moves": True})
    assert (over["seat"], over["moves"]) == (None, [])
    text = service.post("/v1/describe", {"state": over["state"]})["text"]
    assert ("over" in text, "Your hand" in text) == (True, False)


def test_scores_too_long_for_64_bits_are_told_exactly(service: Service) -> None:
    state = service.advance(service.start("doudizhu", deals=2), "bid:3")
    seat = state["declarer"]
    hands = [["3c"] if number == seat else [f"{4 + number}c"] for number in range(3)]
    vast = {**state, "hands": hands, "talon": [], "doublings": 100, "scores": [2**70 + 1] * 3}
    after = service.advance(vast, "play:3c")
    assert after["scores"][seat] == 2**70 + 1 + 6 * 2**100
    assert service.post("/v1/moves", {"state": after})["seat"] == after["turn"]


def test_a_set_up_hand_with_billions_of_plays_is_refused(service: Service) -> None:
    cards = "".join(rank + suit for rank in "456789TJQKA2" for suit in "cdhs")
    state = wire([cards + "BjRj", "3c", "3d"])
    problem = service.post("/v1/moves", {"state": state})
    assert problem["code"] == "invalid-state"
    assert str(MAX_LISTED_MOVES) in problem["problems"][0]
    assert "/v1/validate and /v1/advance still" in problem["detail"]
    move = "play:4c5c6c7c8c"
    assert service.post("/v1/validate", {"state": state, "move": move})["legal"]
    assert service.advance(state, move)["turn"] == 1


def test_a_history_does_not_grow_beyond_what_may_be_posted(service: Service) -> None:
    state = service.start("dasan")
    state["history"] = [{"seat": 0, "move": "pass"}] * 999
    grown = service.advance(state, "bid:1")
    assert len(grown["history"]) == 1000
    start = service.start("doudizhu", redeals=1000, deals=2)
    passed_out = {"declarer": None, "out": None, "bid": 0, "doublings": 0, "scores": [0, 0, 0]}
    last = {**start, "deal": 2**53 - 1, "results": [{"deal": 2**53 - 2, **passed_out}]}
    for before, moves in ((grown, ["pass"]), (last, ["pass"] * 3)):
        problem = service.post("/v1/advance", {"state": before, "moves": moves})
        assert problem["code"] == "invalid-state"


def auction(**fields: Any) -> Any:
    return dasan_wire(["4h 6c", "5c", "7c", "8c"], **{"bid": 0, "declarer": None, **fields})


def trick(table: str | None, hand: str) -> Any:
    return doudizhu_wire([hand, "Kc", "Kd"], table)


NINE = ninefivetwo.wire(
    "play", ("2c", "4c", "6c 7d"), turn=2, trick=ninefivetwo.trick((0, "8d"), (1, "9d"))
)
FLUSH = golden.load("positions")[6]["state"]

CASES: list[tuple[str, Any, str]] = [
    ("syntax", trick(None, "3c"), "play:3c "),
    ("syntax", OVER, "nothing"),
    ("syntax", OVER, "\ud800"),
    ("game-over", OVER, "pass"),
    ("wrong-phase", trick(None, "3c"), "bid:1"),
    ("must-bid", auction(phase="auction"), "pass"),
    ("bid-too-low", auction(phase="auction", bid=2, turn=1, passes=0), "bid:2"),
    ("must-lead", trick(None, "3c"), "pass"),
    ("not-callable", auction(phase="call", bid=1, declarer=0), "call:Jc"),
    ("not-held", trick(None, "3c 4c"), "play:5c"),
    ("wrong-number", NINE, "play:6c7d"),
    ("not-a-combination", trick(None, "3c 4c"), "play:3c4c"),
    ("wrong-category", trick("play:3c", "4c 4d 5d"), "play:4c4d"),
    ("not-higher", trick("play:5c", "4c 4d"), "play:4c"),
    ("ambiguous", FLUSH, "play:TcQcKcBjRj"),
    ("must-follow", NINE, "play:6c"),
]


def test_a_move_is_refused_with_each_reason_there_is(service: Service) -> None:
    for reason, state, move in CASES:
        verdict = service.post("/v1/validate", {"state": state, "move": move})
        assert (verdict["legal"], verdict.get("reason")) == (False, reason), verdict
        problem = service.post("/v1/advance", {"state": state, "moves": [move]})
        assert (problem["code"], problem["reason"]) == ("illegal-move", reason)
        assert (problem["index"], problem["detail"]) == (0, verdict["detail"])
    view = service.post("/v1/view", {"state": trick(None, "3c 4c"), "seat": 1})["view"]
    verdict = service.post("/v1/validate", {"view": view, "move": "play:3c"})
    assert (verdict["legal"], verdict["reason"]) == (False, "not-your-turn")
    assert {reason for reason, _, _ in CASES} | {"not-your-turn"} == {*Reason}, "none is left out"
    # and then none of the moves is made
    moves = {"state": service.start("doudizhu"), "moves": ["bid:2", "bid:1", "pass"]}
    problem = service.post("/v1/advance", moves)
    assert (problem["code"], problem["reason"]) == ("illegal-move", "bid-too-low")
    assert (problem["index"], "state" in problem) == (1, False)
