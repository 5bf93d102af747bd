"""What a view of 9-5-2 hides."""

from typing import Any

from games.ninefivetwo.state import NinefivetwoState
from tests.support.ninefivetwo import A, B, C, exchange, exchanged, pairing
from tests.support.playing import play


def views(state: NinefivetwoState) -> list[dict[str, Any]]:
    return [state.view(seat).to_dict() for seat in (A, B, C)]


def test_an_exchange_is_known_to_its_giver_and_debtor_alone() -> None:
    state = exchange(
        ("3h 2c 5s", "9h 4s 6s", "4c 5c 9d"), 2, owed=[pairing(A, B, 2), pairing(A, C, 1)]
    )
    state = play(state, "give:3h")
    giver, debtor, third = views(state)
    assert giver["owed"] == debtor["owed"] == [pairing(A, B, 2, "3h"), pairing(A, C, 1)]
    assert third["owed"] == [pairing(A, B, 2, "??"), pairing(A, C, 1)]
    assert giver["history"] == debtor["history"] == [{"seat": A, "move": "give:3h"}]
    assert third["history"] == [{"seat": A, "move": "give:??"}]
    assert giver["counts"] == [2, 3, 3]
    state = play(state, "give:5s", "give:2c")
    giver, debtor, third = views(state)
    first, second = exchanged(A, B, "3h 5s", "9h 6s"), exchanged(A, C, "2c", "5c")
    assert giver["exchanged"] == [first, second]
    assert debtor["exchanged"] == [first, exchanged(A, C, "??", "??")]
    assert third["exchanged"] == [exchanged(A, B, "?? ??", "?? ??"), second]
    assert [entry["move"] for entry in debtor["history"]] == ["give:3h", "give:5s", "give:??"]
    assert [entry["move"] for entry in third["history"]] == ["give:??", "give:??", "give:2c"]


def test_the_same_card_given_twice_is_masked_by_its_pairing() -> None:
    state = exchange(("3h 2c", "2s 4s", "9h 4c"), 1, owed=[pairing(A, B, 1), pairing(A, C, 1)])
    state = play(state, "give:3h", "give:3h")
    _, first, second = views(state)
    assert [entry["move"] for entry in first["history"]] == ["give:3h", "give:??"]
    assert [entry["move"] for entry in second["history"]] == ["give:??", "give:3h"]


def test_a_give_that_fits_no_pairing_is_open_to_its_giver_alone() -> None:
    history = [{"seat": A, "move": "give:3h5s"}, {"seat": B, "move": "give:9c"}]
    state = exchange(
        ("3h 2c", "2s 4s", "9h 4c"),
        1,
        exchanged=[exchanged(A, B, "3h", "Ah"), exchanged(C, B, "9c", "Tc")],
        history=history,
    )
    own, other, third = views(state)
    assert [entry["move"] for entry in own["history"]] == ["give:3h5s", "give:??"]
    assert [entry["move"] for entry in other["history"]] == ["give:????", "give:9c"]
    assert [entry["move"] for entry in third["history"]] == ["give:????", "give:??"]


def test_a_set_up_position_may_have_lost_the_beginning_of_its_history() -> None:
    # 3h came back from B and goes to C now: the one entry is the later pairing's.
    state = exchange(
        ("3h 2c", "2s 4s", "9h 4c"),
        1,
        owed=[pairing(A, C, 1)],
        exchanged=[exchanged(A, B, "3h", "3h")],
    )
    _, first, second = views(play(state, "give:3h"))
    assert first["history"] == [{"seat": A, "move": "give:??"}]
    assert second["history"] == [{"seat": A, "move": "give:3h"}]
