"""A move that is not the bot's own is kept with its reason, or costs a strike."""

import io
from array import array
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec

from tests.support.bots.misbehaving import REQUEST
from tests.support.tournament import played
from tests.support.tournament.played import Dice
from tools import hostile
from tournament.bot.protocol import Choice
from tournament.match.match import INFO_LIMIT, REASON_DROPPED
from tournament.records import FaultKind, MatchRecord
from tournament.results.files.export import export
from tournament.results.files.match_file import MatchFile
from tournament.store import rows

WHY = "the program ended"


def match(fallback: str = "play", why: str = WHY, deals: int = 1) -> MatchRecord:
    bots = [Dice("falls", fallback=why), Dice("ann"), Dice("bob")]
    return played.match(bots, options={"deals": deals}, fallback=fallback)


def test_what_is_read_of_it() -> None:
    for value, fallback, warnings in (
        ('"late\\n\\ud800"', "late", 0),
        (f'"{"x" * 900}"', "x" * 200, 0),
        ('""', None, 0),
        ("null", None, 0),
        ("true", None, 1),
        ('["late"]', None, 1),
    ):
        with hostile.connected(hostile.says(f'{{"move": "pass", "fallback": {value}}}')) as bot:
            choice = bot.move(REQUEST, 60)
        assert isinstance(choice, Choice)
        assert (choice.fallback, len(choice.info.dropped)) == (fallback, warnings)


def test_a_cup_may_count_each_as_a_fault() -> None:
    record = match("strike")
    assert (record.struck, record.fallbacks) == ((0,), ())
    assert {fault.kind for fault in record.faults} == {FaultKind.INVALID}
    assert f"a fault in this cup: {WHY}" in record.faults[0].detail


def test_of_too_many_reasons_the_count_is_kept() -> None:
    record = match(why="漢" * 2000, deals=6)
    reasons = [fallback.why for fallback in record.fallbacks]
    assert len(reasons) == len(record.times[0])
    assert len(reasons) - reasons.count(REASON_DROPPED) == INFO_LIMIT // 6000


def test_each_is_kept_also_in_a_store_and_a_file_of_matches(tmp_path: Path) -> None:
    record = match()
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


def test_a_summary_from_before_they_were_counted_is_read() -> None:
    summary = match().summary()
    old = msgspec.msgpack.encode(tuple(summary)[:-1], enc_hook=array.tobytes)
    row: Any = SimpleNamespace(summary=old, block=summary.block, seatings=summary.seatings)
    assert rows.to_summary(row) == summary._replace(fallbacks=())
