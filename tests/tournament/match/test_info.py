"""What a bot says beside its move is kept within limits, and is never a fault."""

import json
from typing import Any

import pytest

from tests.support.bots.misbehaving import REQUEST, moves
from tests.support.tournament import played
from tests.support.tournament.played import Dice
from tools import hostile
from tournament.bot.protocol import Choice, Info, read_info
from tournament.match.match import INFO_LIMIT
from tournament.records import MatchRecord


def info_of(text: str) -> Info:
    with hostile.connected(hostile.says(f'{{"move": "pass", "info": {text}}}')) as bot:
        choice = bot.move(REQUEST, 60)
    assert isinstance(choice, Choice)
    return choice.info


def test_a_comment_and_numbers_are_kept() -> None:
    info: dict[str, str | float] = {
        "comment": "the bomb ♠ waits",
        "nodes": 48000,
        "value": -1.7,
        "x_1": 0,
    }
    assert info_of(json.dumps(info)) == Info(info)


VALUES = ["NaN", "-Infinity", "1e999", "-2e15", "1" + "0" * 400, "1" + "0" * 5000, "true", '"1"']
NAMES = ["Nodes", "", "a\\n", "a" * 33, "\\ud800"]


@pytest.mark.parametrize(
    "text",
    ["3", "[NaN]", '{"comment": 3}']
    + [f'{{"a": {value}}}' for value in VALUES]
    + [f'{{"{name}": 3}}' for name in NAMES],
)
def test_what_does_not_fit_is_dropped_and_no_fault(text: str) -> None:
    info = info_of(text)
    assert (info.values, bool(info.dropped)) == ({}, True)


def test_only_constants_elsewhere_are_a_fault() -> None:
    for value, outcome in (("[NaN]", "NaN is not a"), ("1e999", "pass"), ("9" * 500, "pass")):
        (text,) = moves(hostile.says(f'{{"move": "pass", "info": {{}}, "x": {value}}}'))
        assert outcome in text


def test_a_long_comment_is_cut_and_sixteen_numbers_are_kept() -> None:
    exact = read_info({"comment": "x\0\x1b\n" * 2000})
    assert exact == Info({"comment": "x" * 2000})
    many = {f"n{i}": i for i in range(17)}
    cut = read_info({**many, "comment": "y" * 2001})
    assert list(cut.values) == ["comment", *list(many)[:16]]
    assert (cut.values["comment"], len(cut.dropped)) == ("y" * 1996 + " […]", 2)


def match(info: dict[str, Any], deals: int) -> MatchRecord:
    bots = [Dice("talks", info=read_info(info)), Dice("ann"), Dice("bob")]
    return played.match(bots, options={"deals": deals})


def test_too_much_of_a_match_is_dropped_and_the_record_says_so() -> None:
    record = match({"value": 1}, 1)
    assert len(record.info) == len(record.times[0])
    assert not set(record.info) & set(record.forced)
    assert set(map(str, record.info.values())) == {"{'value': 1.0}"}
    assert record.info_full == ()
    record = match({"comment": "é" * 2000}, 20)
    assert record.info_full == (0,)
    size = len(json.dumps({"comment": "é" * 2000}, ensure_ascii=False).encode())
    assert len(record.info) == INFO_LIMIT // size
    assert len(record.times[0]) > len(record.info)
    assert not record.faults
