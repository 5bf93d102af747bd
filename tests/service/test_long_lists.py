"""Lists of moves that are long, and one that nobody could read."""

from __future__ import annotations

from service.app import create_app
from service.problems import KINDS
from service.schemas.list_fields import MOST_LISTED
from tests.games.zhengfen.positions import wire
from tests.service.support import ROOT, operation

QUADS = "".join(rank + suit for rank in "3456" for suit in "cdhs")


def test_the_longest_list_of_a_dealt_hand() -> None:
    state = wire([QUADS + "BjRj", "7c", "7d"])
    answer = create_app().test_client().post("/v1/moves", json={"state": state})
    assert answer.status_code == 200
    assert len(answer.get_json()["moves"]) == 31_122


def test_a_set_up_hand_with_billions_of_plays_is_refused() -> None:
    cards = "".join(rank + suit for rank in "456789TJQKA2" for suit in "cdhs")
    state = wire([cards + "BjRj", "3c", "3d"])
    client = create_app().test_client()
    answer = client.post("/v1/moves", json={"state": state})
    assert answer.status_code == 422
    body = answer.get_json()
    assert body["code"] == "invalid-state"
    assert str(MOST_LISTED) in body["problems"][0]
    assert "/v1/validate and /v1/advance still" in body["detail"]
    one = client.post("/v1/validate", json={"state": state, "move": "play:4c5c6c7c8c"})
    assert one.get_json()["legal"] is True, "one move can still be asked about"
    moves = ["play:4c5c6c7c8c"]
    assert client.post("/v1/advance", json={"state": state, "moves": moves}).status_code == 200


def test_the_limit_is_told_wherever_it_is_met() -> None:
    told = f"{MOST_LISTED:,}"
    assert told in operation("post", "/v1/moves")["description"]
    assert told in KINDS["invalid-state"].when
    assert told in (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
