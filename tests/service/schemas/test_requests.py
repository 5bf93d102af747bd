import json
from typing import Any

import pytest

import games
from tests.support.service.contract import Service, states

GAMES = list(games.GAMES)


def changed(value: Any, path: str, to: Any) -> Any:
    first, _, rest = path.partition(".")
    key: Any = int(first) if first.isdigit() else first
    copied = value.copy()
    copied[key] = changed(value[key], rest, to) if rest else to
    return copied


def refused(service: Service, body: Any, path: str = "/v1/moves") -> Any:
    problem = service.post(path, body)
    assert problem["code"] == "invalid-request", problem
    return problem["errors"]


def test_missing_and_unknown_fields_are_named(service: Service) -> None:
    for name in GAMES:
        state = states(name)[-1]
        for field in state:
            without = {key: value for key, value in state.items() if key != field}
            assert f"state.{field}" in refused(service, {"state": without})
        assert refused(service, {"state": {**state, "tip": 1}}) == {"state.tip": ["Unknown field."]}
    entry = {"seat": 0, "move": "x", "tip": 1}
    inside = {"options": {**state["options"], "tip": 1}, "history": [entry]}
    errors = refused(service, {"state": {**state, **inside}, **dict.fromkeys("zyxwvut", 1)})
    assert list(errors) == ["state.options.tip", "state.history.0.tip", *"zyxwvut"]


@pytest.mark.parametrize("name", GAMES)
def test_an_option_left_out_of_a_saved_state_has_its_default(service: Service, name: str) -> None:
    state = service.start(name)
    listed = service.post("/v1/moves", {"state": state})
    for option in state["options"]:
        left = {key: value for key, value in state["options"].items() if key != option}
        for players in (state["players"], float(state["players"])):  # read by msgspec, marshmallow
            saved = {**state, "players": players, "options": left}
            assert service.post("/v1/moves", {"state": saved}) == listed
    seen = service.post("/v1/view", {"state": {**state, "options": {}}, "seat": 0})["view"]
    assert seen["options"] == state["options"]
    assert service.post("/v1/moves", {"view": {**seen, "options": {}}})["seat"] == state["turn"]


def test_a_wrong_type_is_named_by_its_path(service: Service) -> None:
    state = service.advance(service.start("doudizhu"), "bid:1")
    for path, value, message in (
        ("players", "3", "Must be a whole number."),
        ("turn", "0", "Must be a whole number or null."),
        ("dealer", None, "Must not be null."),
        ("deal", 0, "Must be a whole number from 1 to 9007199254740991."),
        ("scores", {}, "Must be a list."),
        ("hands.0.1", "1c", "Must be a card, such as 3c, Th or Rj."),
        ("options.deals", 0, "Must be a whole number from 1 to 1000."),
        ("options.spring", 1, "Must be true or false."),
        ("seed", "", "Must have 1 to 128 characters."),
        ("seed", "\ud800", "Must not have a lone surrogate, which UTF-8 cannot encode."),
        ("phase", 3, "Must be a string."),
        ("history.0", "pass", "Must be an object."),
        ("history.0.move", "\ud800", "Must not have a lone surrogate, which UTF-8 cannot encode."),
    ):
        errors = refused(service, {"state": changed(state, path, value)})
        assert errors == {f"state.{path}": [message]}


def test_a_whole_number_is_read_exactly_however_it_is_written(service: Service) -> None:
    body = json.dumps({"state": service.start("doudizhu"), "seat": 0})
    for score, number in (
        ("-0", 0),
        ("0e3", 0),
        ("9007199254740993.0", 2**53 + 1),
        ("1e+36", 10**36),
        ("-1E36", -(10**36)),
        ("1.5e16", 15 * 10**15),
        ("1e37", None),
        ("1.5", None),
        ("9007199254740993.5", None),
        ("1e400", None),
        ("9" * 50, None),
        ("-" + "9" * 5000, None),
        ("1e-400", 0),
    ):
        answer = service.send("/v1/view", body.replace('"scores": [0', f'"scores": [{score}'))
        if number is None:
            assert "state.scores.0" in answer["errors"]
        else:
            assert answer["view"]["scores"][0] == number


def test_the_history_is_checked_for_its_shape_only(service: Service) -> None:
    history = [{"seat": 99, "move": "nonsense ≠ ä"}, {"seat": -4, "move": "??"}]
    state = {**service.start("doudizhu"), "history": history}
    assert service.advance(state, "bid:1")["history"][:2] == history


def test_either_a_state_or_a_view(service: Service) -> None:
    state = service.start("dasan")
    view = service.post("/v1/view", {"state": state, "seat": 0})["view"]
    positions = {"state": state, "view": view, "sealed": "x", "key": "x"}
    for given, named in (
        ((), {"state", "view"}),
        (("state", "view"), {"state", "view"}),
        (("view", "sealed", "key"), {"sealed", "key"}),
        (("sealed",), {"state", "view"}),
    ):
        body = {name: positions[name] for name in given}
        assert set(refused(service, body)) == named
        assert set(refused(service, {**body, "move": "pass"}, "/v1/validate")) == named
    assert set(refused(service, {"state": state, "seat": 5}, "/v1/view")) == {"seat"}
    errors = refused(service, {"view": view, "moves": ["pass"]}, "/v1/advance")
    assert errors == {"state": ["This field is missing."], "view": ["Unknown field."]}


def test_null_and_an_empty_list_leave_an_optional_field_out(service: Service) -> None:
    start = {"game": "dasan", "seed": "test"}
    state = service.post("/v1/start", start)["state"]
    view = service.post("/v1/view", {"state": state, "seat": state["turn"]})["view"]
    for path, body, nulls in (
        ("start", start, ("players", "options")),
        ("start", {**start, "players": 3.0}, ("options",)),
        ("moves", {"state": state}, ("view", "details")),
        ("describe", {"view": view}, ("state", "list_moves")),
        ("validate", {"state": state, "move": "bid:1"}, ("view",)),
        ("advance", {"state": state, "moves": ["bid:1"]}, ("list_moves",)),
    ):
        answer = service.post(f"/v1/{path}", {**body, **dict.fromkeys(nulls)})
        assert answer == service.post(f"/v1/{path}", body)
    assert service.post("/v1/start", {"game": "dasan", "seed": None})["state"]["seed"]
    assert set(refused(service, {"state": state, "moves": []}, "/v1/advance")) == {"moves"}
    assert set(refused(service, {**start, "options": []}, "/v1/start")) == {"options"}


def test_a_start_that_cannot_be(service: Service) -> None:
    for field, fields in (
        ("game", {"game": "whist"}),
        ("game", {"game": ["dasan"]}),
        ("players", {"players": 5}),
        ("seed", {"seed": ""}),
        ("seed", {"seed": "\udfff"}),
        ("options.deals", {"options": {"deals": 0}}),
        ("options.spring", {"options": {"spring": True}}),
        ("table", {"table": 3}),
    ):
        assert set(refused(service, {"game": "dasan"} | fields, "/v1/start")) == {field}
    assert set(refused(service, {}, "/v1/start")) == {"game"}
