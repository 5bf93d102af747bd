"""Programs of the student contest: what they are told, whole games, and unusable answers."""

from pathlib import Path
from time import monotonic

import pytest

from bots.adapters import doudizhuver
from bots.adapters.adapter import Adapter
from bots.lines import NoAnswer
from tests.support.bots.foreign import OPTIONS, assert_sensible_plays, command, documented, play
from tests.support.pages import blocks

CONTEST = blocks("docs/adapters.md", "python")[1].replace("{me}0", "{me}3")
CONTEST = CONTEST.replace("    verb, _,", '    open("log", "a").write(line)\n    verb, _,')


def adapter(folder: Path, source: str) -> Adapter:
    program = command(folder, source)
    return Adapter(lambda: doudizhuver.DoudizhuverMatch(program, folder), auction=True)


def test_a_program_is_told_the_documented_position() -> None:
    assert doudizhuver.script(documented()) == [
        ("DOUDIZHUVER 1.0", "NAME"),
        ("INFO 1,1,1,1,1,0,15", "OK INFO"),
        ("DEAL C5,8,12,13,18,21,22,25,28,30,31,32,35,40,42,47,49", "OK DEAL"),
        ("BID A1", "OK BID"),
        ("BID B2", "OK BID"),
        ("BID WHAT", "BID C3"),
        ("LEFTOVER C1,16,45", "OK LEFTOVER"),
        ("PLAY WHAT", "PLAY C28,30,31,47"),
        ("PLAY A-1", "OK PLAY"),
        ("PLAY B-1", "OK PLAY"),
        ("PLAY WHAT", "PLAY C1"),
        ("PLAY A7", "OK PLAY"),
        ("PLAY B53", "OK PLAY"),
        ("PLAY WHAT", "PLAY C-1"),
        ("PLAY A-1", "OK PLAY"),
        ("PLAY B2,4,11,14,17", "OK PLAY"),
        ("PLAY WHAT", ""),
    ]


@pytest.mark.parametrize(
    ("seat", "acknowledges"),
    # The one real program of the platform answers `OK BID` to `LEFTOVER`.
    [(0, 'f"OK {verb}"'), (1, 'f"OK {verb}"'), (2, 'f"OK {verb}"'), (0, '"OK BID"')],
)
def test_whole_games(tmp_path: Path, seat: int, acknowledges: str) -> None:
    source = CONTEST.replace('f"OK {verb}"', acknowledges)
    state, sums = play(adapter(tmp_path, source), "whole", seat, {**OPTIONS, "deals": 2})
    assert sums["fallback"] == 0, sums
    assert sums["asked"] > 3
    lines = (tmp_path / "log").read_text().splitlines()
    assert lines.count("DOUDIZHUVER 1.0") == 2
    over = [line for line in lines if line.startswith("GAMEOVER ")]
    landlords = [line[9] for line in lines if line.startswith("LEFTOVER ")]
    won = [result["out"] == result["declarer"] for result in state.results]
    assert [line[9] == landlord for line, landlord in zip(over, landlords, strict=True)] == won


def test_after_an_illegal_move_sensible_plays_the_deal(tmp_path: Path) -> None:
    wrong = "        move = move if len(hand) > 15 else [0, 53]\n        hand -= "
    source = CONTEST.replace("        hand -= ", wrong)
    _, sums = play(adapter(tmp_path, source), "whole", 0)
    assert sums["illegal"] == 1
    assert sums["untold"] == sums["fallback"] - 1 > 0


def test_the_comment_says_what_the_program_answered(tmp_path: Path) -> None:
    program = doudizhuver.DoudizhuverMatch(command(tmp_path, CONTEST), tmp_path)
    says = r"cannot be told that (BID C3|PLAY C28,30,31,47) was played for its (BID|PLAY) C\d+$"
    with pytest.raises(NoAnswer, match=says):
        program.answer(documented(), monotonic() + 600)
    program.stop()


@pytest.mark.parametrize("when", ["rest == 'WHAT'", "verb == 'PLAY' and rest != 'WHAT'"])
def test_a_program_that_died_is_told_the_deal_again(tmp_path: Path, when: str) -> None:
    first = f"0 < len(hand) < 17 and {when} and not os.path.exists('died')"
    dies = f"    if {first}:\n        open('died', 'w')\n        sys.exit()\n"
    source = CONTEST.replace("    answer = ", f"{dies}    answer = ", 1)
    _, sums = play(adapter(tmp_path, f"import os\n{source}"), "whole", 0)
    assert (tmp_path / "died").exists()
    lines = (tmp_path / "log").read_text().splitlines()
    assert lines.count("DOUDIZHUVER 1.0") == 2
    assert sums["fallback"] == 0, sums


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        ("BID A4", "illegal"),
        ("BID 1", "unreadable"),
        ("PLAY A3", "unreadable"),
        ("BID A" + "9" * 5000, "unreadable"),
    ],
)
def test_an_answer_in_the_wrong_phase_or_form(tmp_path: Path, answer: str, kind: str) -> None:
    source = CONTEST.replace('f"BID {me}3"', repr(answer))
    assert_sensible_plays(adapter(tmp_path, source), kind)
