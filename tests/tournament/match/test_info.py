"""What a bot says beside its move: its info, which is never a fault, and why it fell back."""

import io
import json
from array import array
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from tests.support.bots.misbehaving import REQUEST, moves
from tests.support.tournament import played
from tests.support.tournament.played import Dice
from tools import hostile
from tournament.bot.protocol import Choice, Info, read_info
from tournament.match.match import INFO_LIMIT, REASON_DROPPED
from tournament.records import FaultKind, MatchRecord
from tournament.results.files.export import export
from tournament.results.files.match_file import MatchFile
from tournament.store import rows


def choice_with(name: str, value: str) -> Choice:
    """The choice of a bot that says this beside its move."""
    with hostile.connected(hostile.says(f'{{"move": "pass", "{name}": {value}}}')) as bot:
        choice = bot.move(REQUEST, 60)
    assert isinstance(choice, Choice)
    return choice


def match(talks: Dice, deals: int = 1, fallback: str = "play") -> MatchRecord:
    bots = [talks, Dice("ann"), Dice("bob")]
    return played.match(bots, options={"deals": deals}, fallback=fallback)


def test_a_comment_and_numbers_are_kept() -> None:
    info: dict[str, str | float] = {
        "comment": "the bomb ♠ waits",
        "nodes": 48000,
        "value": -1.7,
        "x_1": 0,
    }
    assert choice_with("info", json.dumps(info)).info == Info(info)


VALUES = ["NaN", "-Infinity", "1e999", "-2e15", "1" + "0" * 400, "1" + "0" * 5000, "true", '"1"']
NAMES = ["Nodes", "", "a\\n", "a" * 33, "\\ud800"]


@pytest.mark.parametrize(
    "text",
    ["3", "[NaN]", '{"comment": 3}']
    + [f'{{"a": {value}}}' for value in VALUES]
    + [f'{{"{name}": 3}}' for name in NAMES],
)
def test_what_does_not_fit_is_dropped_and_no_fault(text: str) -> None:
    info = choice_with("info", text).info
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


def test_too_much_of_a_match_is_dropped_and_the_record_says_so() -> None:
    record = match(Dice("talks", info=read_info({"value": 1})))
    assert len(record.info) == len(record.times[0])
    assert not set(record.info) & set(record.forced)
    assert set(map(str, record.info.values())) == {"{'value': 1.0}"}
    assert record.info_full == ()
    record = match(Dice("talks", info=read_info({"comment": "é" * 2000})), 20)
    assert record.info_full == (0,)
    size = len(json.dumps({"comment": "é" * 2000}, ensure_ascii=False).encode())
    assert len(record.info) == INFO_LIMIT // size
    assert len(record.times[0]) > len(record.info)
    assert not record.faults


WHY = "the program ended"


def test_what_is_read_of_a_fallback() -> None:
    for value, fallback, warnings in (
        ('"late\\n\\ud800"', "late", 0),
        (f'"{"x" * 900}"', "x" * 200, 0),
        ('""', None, 0),
        ("null", None, 0),
        ("true", None, 1),
        ('["late"]', None, 1),
    ):
        choice = choice_with("fallback", value)
        assert (choice.fallback, len(choice.info.dropped)) == (fallback, warnings)


def test_a_cup_may_count_each_fallback_as_a_fault() -> None:
    record = match(Dice("falls", fallback=WHY), fallback="strike")
    assert (record.struck, record.fallbacks) == ((0,), ())
    assert {fault.kind for fault in record.faults} == {FaultKind.INVALID}
    assert f"a fault in this cup: {WHY}" in record.faults[0].detail


def test_of_too_many_reasons_the_count_is_kept() -> None:
    record = match(Dice("falls", fallback="漢" * 2000), 6)
    reasons = [fallback.why for fallback in record.fallbacks]
    assert len(reasons) == len(record.times[0])
    assert len(reasons) - reasons.count(REASON_DROPPED) == INFO_LIMIT // 6000


def test_fallbacks_are_kept_in_a_store_and_a_file_of_matches(tmp_path: Path) -> None:
    record = match(Dice("falls", fallback=WHY))
    kept = [(fallback.seat, fallback.why) for fallback in record.fallbacks]
    assert kept == [(0, WHY)] * len(record.times[0])
    assert (record.summary().fallbacks, record.faults) == ((len(kept), 0, 0), ())
    with played.unfinished(tmp_path / "run", played.cup(), [record]) as store:
        store.finish()
        (stored,) = store.matches()
        assert stored.fallbacks == record.fallbacks
        file = io.BytesIO()
        export(store, "matches", file)
    read = MatchFile(file.getvalue().splitlines(), "file.jsonl")
    assert [match.fallbacks for match in read.matches()] == [record.fallbacks]
    # a summary from before they were counted
    summary = record.summary()
    old = msgspec.msgpack.encode(tuple(summary)[:-1], enc_hook=array.tobytes)
    row: Any = SimpleNamespace(summary=old, block=summary.block, seatings=summary.seatings)
    assert rows.to_summary(row) == summary._replace(fallbacks=())
