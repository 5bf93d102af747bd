"""Programs for Botzone: what they are told, whole games, and programs that fail."""

import sys
from pathlib import Path
from textwrap import indent
from time import monotonic

import pytest

from bots.adapters import botzone
from bots.adapters.adapter import Adapter
from bots.lines import LineProgram
from tests.support.bots.foreign import (
    OPTIONS,
    assert_sensible_plays,
    command,
    documented,
    first_answers,
    play,
)
from tests.support.pages import blocks

PAGE = blocks("docs/adapters.md", "python")[0].replace("else 1", "else 3")
PAGE = PAGE.replace('["landlord"] == first["pos"]', '.get("landlord", 0) == first.get("pos")')
SAYS = 'print(json.dumps({"response": response}))'
COUNTS = """data = int(told["data"] or 0) + 1
assert data <= len(requests)
print(json.dumps({"response": response, "data": str(data), "debug": f"move {data}"}))
"""
ONCE = PAGE.replace(SAYS, COUNTS)
START, _, DECIDES = PAGE.partition("last = ")
RUNNING = f"""{START}
open("starts", "a").write("x")
while True:
{indent("last = " + DECIDES, "    ")}
    print(">>>BOTZONE_REQUEST_KEEP_RUNNING<<<", flush=True)
    responses.append(response)
    requests.append(json.loads(input()))
"""


def adapter(folder: Path, source: str, auction: bool = True) -> Adapter:
    program = command(folder, source)
    return Adapter(lambda: botzone.BotzoneMatch(program, folder, auction), auction=auction)


def test_the_documented_position_is_told() -> None:
    # 4d 5h 6dh 7s 8ds 9d Thsc Jhc Khs Ac 2d: as dealt, without 3d 7h Ad of the talon.
    dealt = [5, 8, 12, 13, 18, 21, 22, 25, 28, 30, 31, 32, 35, 40, 42, 47, 49]
    talon = [1, 16, 45]
    begin = {"history": [[], []], "own": dealt, "publiccard": talon}
    roles = {"landlord": 2, "pos": 2, "finalbid": 3}
    later = [{"history": [[], []]}, {"history": [[7], [53]]}, {"history": [[], [2, 4, 11, 14, 17]]}]
    plays = [[28, 30, 31, 47], [1], []]
    requests = [{"own": dealt, "bid": [1, 2]}, begin | roles, *later]
    assert botzone.conversation(documented(), True) == (requests, [3, *plays])
    requests = [begin | {"own": sorted(dealt + talon)}, *later]
    assert botzone.conversation(documented(), False) == (requests, plays)


@pytest.mark.parametrize("auction", [True, False])
@pytest.mark.parametrize("source", [ONCE, RUNNING], ids=["once", "running"])
def test_whole_games(tmp_path: Path, source: str, auction: bool) -> None:
    bot = adapter(tmp_path, source, auction)
    landlords, bids, dealt = set(), 0, 0
    for seat in range(3):
        state, sums = play(bot, "whole", seat, {**OPTIONS, "deals": 2})
        assert sums["fallback"] == 0, sums
        assert sums["asked"] > 3
        bids += sums["bid_by_sensible"]
        dealt += state.deal
        landlords.add(state.results[0]["declarer"] == seat)
    assert landlords == {True, False}
    assert (bids > 0) is not auction
    if source == RUNNING:
        assert len((tmp_path / "starts").read_text()) <= dealt


def test_with_other_options_some_positions_cannot_be_told(tmp_path: Path) -> None:
    _, sums = play(adapter(tmp_path, ONCE), "other", 0, {"deals": 3})
    assert 0 < sums["untold"] == sums["fallback"] < sums["asked"]


def test_the_debug_information_is_the_comment(tmp_path: Path) -> None:
    first, second = first_answers(adapter(tmp_path, ONCE))
    assert first == {"move": "bid:3", "why": None, "comment": "move 1"}
    assert second["why"] == "the program ended"  # its data says that it has moved already


def test_a_running_program_is_told_what_was_played_for_it(tmp_path: Path) -> None:
    wrong = "    if len(responses) == 2: response = [0, 53]\n    print("
    source = RUNNING.replace("    print(", wrong, 1)
    _, sums = play(adapter(tmp_path, source), "whole", 0)
    assert sums["illegal"] == sums["fallback"] == 1
    assert len((tmp_path / "starts").read_text()) == 2


@pytest.mark.parametrize(
    ("failure", "kind"),
    [
        ("print('what?', flush=True)", "unreadable"),
        ('print(\'{"response": {"play": 3}}\', flush=True)', "unreadable"),
        ("print('[' * 60_000, flush=True)", "unreadable"),
        ("sys.stdin.read(); time.sleep(600)", "late"),
    ],
)
def test_sensible_plays_for_a_program_that_fails(
    tmp_path: Path, failure: str, kind: str, capfd: pytest.CaptureFixture[str]
) -> None:
    source = f"import sys, time\nfor line in sys.stdin:\n    {failure}\n"
    assert_sensible_plays(adapter(tmp_path, source), kind)
    assert "sensible plays: the program" in capfd.readouterr().err


def test_output_after_a_line_does_not_make_it_too_long() -> None:
    source = "print('a\\nb', end='', flush=True); input(); print('\\n' + 'y' * 65_535, flush=True)"
    program = LineProgram([sys.executable, "-c", source])
    program.start()
    until = monotonic() + 60
    assert program.read(until) == "a"
    program.write("go", until)
    assert program.read(until) == "b"
    program.stop()
