"""The progress that a run shows."""

import io
import json
import re

from rich.console import Console

from stich.console.progress import JsonLines, Lines, watch
from tests.support.store_records import fault, record
from tournament.records import Outage, place_of


def test_json_lines_say_the_match_and_how_far_it_is() -> None:
    out = io.StringIO()
    progress = JsonLines(out)
    progress.begin(3, 10)
    progress.match(record(faults=(fault(),)))
    begin, match = map(json.loads, out.getvalue().splitlines())
    assert begin == {"event": "begin", "done": 3, "total": 10}
    assert (match["event"], match["done"], match["total"]) == ("match", 4, 10)
    assert match["seating"] == ["cat", "böb", "ann"]
    assert match["scores"] == [2, -1, -1]
    assert match["faults"] == [{"bot": "böb", "kind": "timeout"}]
    assert match["rate"] > 0
    assert match["left_s"] >= 0


def test_losses_and_notices_are_said_everywhere() -> None:
    lines, json_lines, bar = io.StringIO(), io.StringIO(), io.StringIO()
    console = Console(file=bar, force_terminal=True, width=120)
    with watch(console, "cup") as on_terminal:
        for observer in (Lines(Console(file=lines)), JsonLines(json_lines), on_terminal):
            observer.begin(0, 2)
            observer.notice("Worker w has joined.")
            observer.lost(7, "worker w has left")
    said = "Block 7 is played again, because worker w has left."
    assert lines.getvalue().splitlines()[1:] == ["Worker w has joined.", said]
    assert said in bar.getvalue()
    _, notice, lost = map(json.loads, json_lines.getvalue().splitlines())
    assert notice == {"event": "notice", "text": "Worker w has joined."}
    assert lost == {"event": "lost", "block": 7, "why": "worker w has left"}


def test_a_bot_that_is_away_is_named_with_what_follows() -> None:
    out = io.StringIO()
    progress = Lines(Console(file=out, width=200))
    times = {"started": "", "ended": ""}
    progress.void(Outage(**place_of(record()), **times, bot="ann", why="No connection."))
    progress.away(["ann", "bob"])
    progress.away([])
    assert out.getvalue().splitlines() == [
        "ann is unreachable; match 0000000100000000 will be replayed. No connection.",
        "ann and bob are unreachable; their tables wait.",
        "All bots can be reached again.",
    ]


def test_a_terminal_gets_a_bar() -> None:
    out = io.StringIO()
    console = Console(file=out, force_terminal=True, width=120)
    with watch(console, "Spring [cup]") as bar:
        bar.begin(1, 4)
        bar.match(record(faults=(fault(),)))
    shown = re.sub(r"\x1b\[[\d;?]*\w", "", out.getvalue())
    assert re.search(r"Spring \[cup\] .* 2/4 .* 1 fault\b", shown)
    assert re.search(r"\d:\d\d:\d\d +[-\d]:[-\d]{2}:[-\d]{2} +left", shown)  # elapsed before it


def test_a_ladder_has_no_total() -> None:
    lines, json_lines = io.StringIO(), io.StringIO()
    for observer in (Lines(Console(file=lines), every_s=0), JsonLines(json_lines)):
        observer.begin(3, None)
        observer.match(record())
    assert re.fullmatch(r"3 matches\n4 matches, [\d.]+ a second\n", lines.getvalue())
    _, match = map(json.loads, json_lines.getvalue().splitlines())
    assert (match["done"], match["total"], match["left_s"]) == (4, None, None)
