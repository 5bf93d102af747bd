"""`stich bench`, as its user runs it."""

import json
import shlex
import sys
from inspect import cleandoc
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from stich.console.bench_table import badge, comparison_table, result_table
from tests.support.bench_records import record, result
from tests.support.cups import bot, stich
from tournament.bench.compare import compare
from tournament.bench.record import TableProblem, write_record

SMALL = ("--players", 3, "--rules", "usual", "--blocks", 10, "--no-sandbox")


def measured(file: Path, *words: object) -> dict[str, Any]:
    done = stich("bench", *words, *SMALL, "--json", file)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(file.read_text())
    return found


def test_sensible_is_at_par_and_a_bot_twice_has_the_same_digits(tmp_path: Path) -> None:
    par = measured(tmp_path / "par.json", "sensible", "--game", "ninefivetwo")
    assert [set(each["by_block"]) for each in par["results"]] == [{0.0}]
    again = [
        measured(tmp_path / f"{number}.json", "random", "--game", "dasan", "--concurrency", number)
        for number in (1, 2)
    ]
    digits = [[each | {"move_ms": 0} for each in one["results"]] for one in again]
    assert digits[0] == digits[1]
    assert again[0]["results"][0]["over_par"] < -0.5
    done = stich("bench", "compare", tmp_path / "1.json", tmp_path / "2.json")
    assert done.returncode == 0
    assert "the same in every block" in " ".join(done.stdout.split())


def test_against_a_better_result_exits_with_1(tmp_path: Path) -> None:
    best = tmp_path / "best.json"
    write_record(record(result([90] * 10)), best)
    words = ("bench", "greedy", "--game", "doudizhu", *SMALL)
    done = stich(*words, "--against", best, "--markdown", "--badge", tmp_path / "b.svg")
    assert done.returncode == 1
    assert "| worse |" in done.stdout
    assert "stich bench-2" in (tmp_path / "b.svg").read_text()


def test_other_deals_have_their_own_par(tmp_path: Path) -> None:
    words = ("sensible", "--game", "dasan", "--seed", "sesame", "--at-least", "0.5")
    done = stich("bench", *words, *SMALL, "--json", tmp_path / "a.json")
    assert done.returncode == 1  # it is at par
    found = json.loads((tmp_path / "a.json").read_text())
    assert found["seed"].startswith("sha256:")
    assert set(found["results"][0]["by_block"]) == {0.0}


def test_a_bot_is_measured_with_the_only_options_it_plays(tmp_path: Path) -> None:
    """A bot behind an adapter needs open talons and auctions of one round."""
    program = """
        from bots import kit
        supports = {"doudizhu": {"players": [3], "options": {"single_round": [True]}}}
        kit.run(lambda view, moves: moves[0], name="x", version="1", games=["doudizhu"],
                supports=supports)
    """
    (tmp_path / "bot.py").write_text(cleandoc(program))
    words = (f"python {tmp_path}/bot.py", "--blocks", 6, "--no-sandbox", "--json", tmp_path / "a")
    assert stich("bench", *words).returncode == 0
    (found,) = json.loads((tmp_path / "a").read_text())["results"]
    assert (found["game"], found["rules"], found["blocks"]) == ("doudizhu", "botzone", 6)


def test_a_result_of_an_earlier_suite_is_refused_with_its_fix(tmp_path: Path) -> None:
    (tmp_path / "best.json").write_text('{"suite": "bench-1", "results": [{"opponents": "x"}]}')
    done = stich("bench", "greedy", "--against", tmp_path / "best.json")
    assert done.returncode == 2
    fix = "is a result of bench-1; this version plays bench-2. Measure that bot again: stich bench"
    assert fix in " ".join(done.stderr.split())


def test_a_bot_that_does_not_start() -> None:
    done = stich("bench", shlex.join([sys.executable, "-c", "raise SystemExit('no')"]), *SMALL)
    assert done.returncode == 1
    assert "ended" in done.stderr


def test_a_game_that_the_bot_does_not_play() -> None:
    done = stich("bench", bot("toy-1"), "--game", "zhengfen", *SMALL)
    assert done.returncode == 2
    assert "plays no table of bench-2: it does not play zhengfen; it says" in done.stderr


def test_a_bot_that_is_struck_out_is_told_by_game(tmp_path: Path) -> None:
    done = stich("bench", bot("not-json"), *SMALL, "--json", tmp_path / "a.json")
    assert done.returncode == 1
    problems = json.loads((tmp_path / "a.json").read_text())["problems"]
    assert problems
    assert all("It was struck out in" in each["why"] for each in problems)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("compare", "a.json"), "Missing argument"),
        (("python", "bot.py"), "needs quotes"),
        (("nothing-of-the-kind",), "no program"),
        (("greedy", "--json", "none/a.json"), "existing folder"),
        (("greedy", "--against", "none.json"), "none.json: cannot be read"),
        (("compare", "none.json", "none.json"), "none.json: cannot be read"),
        (("greedy", "--game", "dasan", "--players", "6"), "has no such table"),
        (("greedy", "--quick", "--blocks", "3"), "exclude each other"),
        (("greedy", "--seed", ""), "seed"),
        (("greedy", "--at-least", "nan"), "not a number"),
    ],
)
def test_a_wrong_call_is_refused(words: tuple[str, ...], why: str) -> None:
    done = stich("bench", *words)
    assert done.returncode == (1 if words[0] == "nothing-of-the-kind" else 2)
    assert why in " ".join((done.stdout + done.stderr).split())


def test_a_badge_is_svg_whatever_happened() -> None:
    problem = TableProblem("dasan", 3, "usual", "It does not start.")
    for results in ((), (result([3, 6]),), (result([3, 6]), result([-9, -9], 1))):
        good = record(*results)
        for shown in (good, replace(good, problems=(problem,))):
            texts = ElementTree.fromstring(badge(shown)).itertext()
            assert ("with problems" in " ".join(texts)) == bool(shown.problems)


def test_markdown_of_a_hostile_name_is_text() -> None:
    good = record(result([3, 6]))
    name = "[x](javascript:1)<b>|`"
    hostile = replace(good, bot=replace(good.bot, name=name), seed="other")
    for text in (
        result_table(hostile, ()),
        comparison_table(good, hostile, compare(good, hostile)),
    ):
        assert "\\[x\\](javascript:1)\\<b\\>\\|\\`" in text
