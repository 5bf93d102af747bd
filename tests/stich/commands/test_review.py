"""`stich review`: planted blunders are on top, other bots are asked, refusals are sentences."""

import re
import signal
import socket
from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from itertools import count, cycle
from pathlib import Path
from typing import Any

import pytest

from bots import sensible
from tests.support.pages import blocks, run_script
from tests.support.tournament import played
from tests.support.tournament.cups import code_and_text, json_lines, started, stich
from tools import hostile
from tournament.bot.url_bot import InProcessBot
from tournament.formats.scores import Scores


def blunder(view: dict[str, Any], moves: Sequence[str], hands: set[str], done: list[str]) -> str:
    """The sensible move; but once in a match, not the last play, which would win the deal."""
    hand = "".join(view["hand"])
    others = [move for move in moves if move != f"play:{hand}"]
    if len(others) == len(moves) or not others or done:
        return sensible.move(view, moves)
    hands.add(hand)
    done.append(hand)
    return others[0]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, set[str]]:
    """A finished run in which `mine` did not play out these hands, one in a match."""
    folder, hands = tmp_path_factory.mktemp("review") / "run", set[str]()

    def player(name: str, _faulty: int) -> InProcessBot:
        mine = partial(blunder, hands=hands, done=[])
        return InProcessBot(mine if name == "mine" else sensible.move)

    cup = played.cup(("mine", "ann", "bob"), deals=6)
    with played.unfinished(folder, cup, played.played(cup, player=player)) as store:
        store.finish(played.plan(cup).places(store.run(), Scores(store)))
    return folder, hands


def test_planted_blunders_are_at_the_top(run: tuple[Path, set[str]]) -> None:
    folder, planted = run
    assert len(planted) == 3
    listed = json_lines("review", folder, "mine", "--top", 8, "--worlds", 10)
    hands = ["".join(finding["view"]["hand"]) for finding in listed]
    assert planted.issuperset(hands[:2])
    assert planted <= set(hands[:6])  # among real mistakes in a deal of many doublings
    assert planted <= {finding["instead"].removeprefix("play:") for finding in listed}
    assert all(finding["points"] > 1.96 * finding["error"] for finding in listed)


def test_another_bot_and_a_later_version_are_asked(run: tuple[Path, set[str]]) -> None:
    folder, planted = run
    assert json_lines("review", folder, "ann", "--with", "sensible", "--matches", 3) == []
    others = json_lines("review", folder, "mine", "--with", "sensible")
    assert {"".join(finding["view"]["hand"]) for finding in others} == planted
    assert {finding["points"] for finding in others} == {None}
    better = json_lines("review", folder, "mine", "--as", "sensible")
    assert [finding["points"] > 0 for finding in better] == [True] * 3
    assert better == sorted(better, key=lambda finding: finding["points"])


def test_no_time_and_no_legal_move_are_told_apart(run: tuple[Path, set[str]]) -> None:
    for asked in ((), ("--with", "greedy")):
        done = stich("review", run[0], "mine", "--minutes", 0, "--no-sandbox", *asked)
        late = r"0 of 0 decisions of mine .*\n\d+ decisions more had no time; add --minutes\.\n"
        assert re.fullmatch(late, done.stdout)
        assert re.search(r" judges \d+ decisions of mine, for at most 0 min\.\n", done.stderr)
    turns = cycle([hostile.says('{"move": "bid:9"}'), hostile.first])
    with hostile.running(lambda *call: next(turns)(*call)) as url:
        done = stich("review", run[0], "mine", "--with", url)
    count, failed = re.findall(r" of (\d+) decisions|For (\d+) decisions more, .*", done.stdout)
    assert int(count[0]) <= int(failed[1]) <= int(count[0]) + 1
    assert "no time" not in done.stdout


def test_each_seat_of_a_bot_is_judged_as_one_match(tmp_path: Path) -> None:
    duel = ("greedy", "random", "--game", "doudizhu", "--players", 4, "--deals", 1)
    stich("duel", *duel, "--out", tmp_path / "duel")
    turns: dict[str, list[int]] = defaultdict(list)

    def first(connection: socket.socket, request: dict[str, Any]) -> None:
        turns[request["match"]].append(request["turn"])
        hostile.first(connection, request)

    with hostile.running(first) as url:
        stich("review", tmp_path / "duel", "greedy", "--with", url, "--matches", 4)
    assert len(turns) == len({match.rpartition("-")[0] for match in turns}) > 4


def test_ctrl_c_lists_what_was_found_so_far(run: tuple[Path, set[str]]) -> None:
    asked = count(1)

    def first(connection: socket.socket, request: dict[str, Any]) -> None:
        if next(asked) == 9:
            process.send_signal(signal.SIGINT)
        hostile.first(connection, request)

    with hostile.running(first) as url:
        process = started("review", run[0], "mine", "--with", url, "--top", 1)
        text, _ = process.communicate()
    assert process.returncode == 130
    listed = r"1\. Match [^\0]*\n\d of \d+ decisions of mine are different\.\n"
    assert re.fullmatch(rf"{listed}\d+ decisions more were not judged\.\n", text)


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        ("min", 1, 'There is no bot min; did you mean "mine"?'),
        ("mine --with greedy --as greedy", 2, "exclude each other; choose one."),
        ("mine --with no-such-program", 1, "no-such-program"),
        ("mine --with http://127.0.0.1:9", 1, "start it, or fix its url."),
        ("mine --as {nonsense}", 1, "finds out more"),
    ],
)
def test_a_review_that_cannot_be_made(
    run: tuple[Path, set[str]], words: str, code: int, sentence: str
) -> None:
    with hostile.running(hostile.says("nonsense")) as url:
        done = stich("review", run[0], *words.format(nonsense=url).split(), "--no-sandbox")
    assert (done.returncode, sentence in done.stderr) == (code, True), done.stderr


def test_a_run_without_decisions_of_the_bot(tmp_path: Path) -> None:
    played.unfinished(tmp_path, played.cup()).close()
    code, text = code_and_text("review", tmp_path, "ann")
    says = "ann has made no decision in a block that is over (0 faults)."
    assert (code, text.startswith(says)) == (1, True)


@pytest.mark.slow
def test_every_command_of_the_page_runs(tmp_path: Path) -> None:
    shown = [run_script(script, tmp_path) for script in blocks("docs/review.md", "sh")]
    assert "3. Match " in shown[0]
    assert re.search(r"points?\.\n", shown[0])
    assert "are different" in shown[1]
    assert re.search(r"^0 of \d+ decisions of .* are different", shown[2], re.MULTILINE)
