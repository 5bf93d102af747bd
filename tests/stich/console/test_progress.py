import io
import json
import re
from contextlib import ExitStack
from typing import Any

import pytest
from rich.console import Console

from stich.console.progress import JsonLines, Lines, watch
from tests.support.tournament.store_records import fault, record
from tournament.records import Outage, place_of


def shown(*calls: tuple[Any, ...]) -> tuple[list[str], list[dict[str, Any]], str]:
    """What a log, a program and a terminal show of what observers of a run are told."""
    log, lines, bar = io.StringIO(), io.StringIO(), io.StringIO()
    console = Console(file=bar, force_terminal=True, width=120)
    with ExitStack() as stack:
        patch = stack.enter_context(pytest.MonkeyPatch.context())
        patch.setattr("stich.console.progress.make_console", lambda stderr: console)
        on_terminal = stack.enter_context(watch("Spring [cup]"))
        for observer in (Lines(Console(file=log, width=200), 0), JsonLines(lines), on_terminal):
            for method, *values in calls:
                getattr(observer, method)(*values)
    events = [json.loads(line) for line in lines.getvalue().splitlines()]
    return log.getvalue().splitlines(), events, re.sub(r"\x1b\[[\d;?]*\w", "", bar.getvalue())


def test_a_match_is_shown_with_how_far_the_run_is() -> None:
    log, (begin, match), bar = shown(("begin", 3, 10), ("match", record(faults=(fault(),))))
    assert re.fullmatch(r"4 of 10 matches, [\d.]+ a second(, .* left)?", log[-1])
    assert begin == {"event": "begin", "done": 3, "total": 10}
    assert (match["event"], match["done"], match["total"]) == ("match", 4, 10)
    assert (match["seating"], match["scores"]) == (["cat", "böb", "ann"], [2, -1, -1])
    assert match["faults"] == [{"bot": "böb", "kind": "timeout"}]
    assert (match["rate"] > 0, match["left_s"] >= 0) == (True, True)
    assert re.search(r"Spring \[cup\] .* 4/10 .* 1 fault\b", bar)
    assert re.search(r"\d:\d\d:\d\d +[-\d]:[-\d]{2}:[-\d]{2} +left", bar)  # elapsed before it


def test_a_ladder_has_no_total() -> None:
    (begin, last), (_, match), _ = shown(("begin", 3, None), ("match", record()))
    assert begin == "3 matches"
    assert re.fullmatch(r"4 matches, [\d.]+ a second", last)
    assert (match["done"], match["total"], match["left_s"]) == (4, None, None)


def test_what_happens_to_matches_is_said_everywhere() -> None:
    ann: dict[str, Any] = {"bot": "ann", "why": "No connection.", "started": "", "ended": ""}
    (_, *log), (_, notice, lost, *_), bar = shown(
        ("begin", 0, 2),
        ("notice", "Worker w has joined."),
        ("lost", 7, "worker w has left"),
        ("void", Outage(**place_of(record()), **ann)),
        ("away", ["ann", "bob"]),
        ("away", []),
    )
    assert log == [
        "Worker w has joined.",
        "The rest of block 7 is played by another worker, because worker w has left.",
        "ann is unreachable; match 0000000100000000 will be replayed. No connection.",
        "ann and bob are unreachable; their tables wait.",
        "All bots can be reached again.",
    ]
    assert notice == {"event": "notice", "text": log[0]}
    assert lost == {"event": "lost", "block": 7, "why": "worker w has left"}
    assert log[1] in bar
