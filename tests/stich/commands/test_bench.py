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

SMALL = ("--players", 3, "--rules", "usual", "--blocks", 6, "--no-sandbox")


def measured(file: Path, *words: object, code: int = 0) -> dict[str, Any]:
    """The result of a benchmark that exits with this code."""
    done = stich("bench", *words, *SMALL, "--json", file)
    assert done.returncode == code, done.stderr
    values: dict[str, Any] = json.loads(file.read_text())
    return values


def test_a_bot_measured_twice_has_the_same_digits(tmp_path: Path) -> None:
    first, second = (
        measured(tmp_path / f"{number}.json", "random", "--game", "dasan", "--concurrency", number)
        for number in (1, 2)
    )
    for values in (first, second):
        del values["results"][0]["move_ms"]
    assert first["results"] == second["results"]
    assert first["results"][0]["over_par"] < -0.5
    done = stich("bench", "compare", tmp_path / "1.json", tmp_path / "2.json")
    assert done.returncode == 0
    assert "the same in every block" in " ".join(done.stdout.split())


@pytest.mark.parametrize(
    ("words", "seed"),
    [(("--game", "ninefivetwo"), "bench-2"), (("--game", "dasan", "--seed", "sesame"), "sha256:")],
    ids=["public deals", "other deals"],
)
def test_sensible_is_at_par(words: tuple[str, ...], seed: str, tmp_path: Path) -> None:
    values = measured(tmp_path / "a.json", "sensible", *words, "--at-least", "0.5", code=1)
    assert values["seed"].startswith(seed)
    assert [set(table["by_block"]) for table in values["results"]] == [{0.0}]


def test_against_a_better_result_exits_with_1(tmp_path: Path) -> None:
    best = tmp_path / "best.json"
    write_record(record(result([90] * 10)), best)
    words = ("bench", "greedy", "--game", "doudizhu", *SMALL)
    done = stich(*words, "--against", best, "--markdown", "--badge", tmp_path / "b.svg")
    assert done.returncode == 1
    assert "| worse |" in done.stdout
    assert "stich bench-2" in (tmp_path / "b.svg").read_text()


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
    (table,) = json.loads((tmp_path / "a").read_text())["results"]
    assert (table["game"], table["rules"], table["blocks"]) == ("doudizhu", "botzone", 6)


def test_a_result_of_an_earlier_suite_is_refused_with_its_fix(tmp_path: Path) -> None:
    (tmp_path / "best.json").write_text('{"suite": "bench-1", "results": [{"opponents": "x"}]}')
    done = stich("bench", "greedy", "--against", tmp_path / "best.json")
    assert done.returncode == 2
    fix = "is a result of bench-1; this version plays bench-2. Measure that bot again: stich bench"
    assert fix in " ".join(done.stderr.split())


def test_a_bot_that_is_struck_out_is_told_by_game(tmp_path: Path) -> None:
    problems = measured(tmp_path / "a.json", bot("not-json"), code=1)["problems"]
    assert problems
    assert all("It was struck out in" in problem["why"] for problem in problems)


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("compare", "a.json"), 2, "Missing argument"),
        (("compare", "none.json", "none.json"), 2, "none.json: cannot be read"),
        (("python", "bot.py"), 2, "needs quotes"),
        (("nothing-of-the-kind",), 1, "no program"),
        ((shlex.join([sys.executable, "-c", "raise SystemExit('no')"]), *SMALL), 1, "ended"),
        ((bot("toy-1"), "--game", "zhengfen", *SMALL), 2, "bench-2: it does not play zhengfen; it"),
        (("greedy", "--json", "none/a.json"), 2, "existing folder"),
        (("greedy", "--against", "none.json"), 2, "none.json: cannot be read"),
        (("greedy", "--game", "dasan", "--players", "6"), 2, "has no such table"),
        (("greedy", "--quick", "--blocks", "3"), 2, "exclude each other"),
        (("greedy", "--seed", ""), 2, "seed"),
        (("greedy", "--at-least", "nan"), 2, "not a number"),
    ],
)
def test_a_wrong_call_is_refused(words: tuple[str, ...], code: int, why: str) -> None:
    done = stich("bench", *words)
    assert done.returncode == code
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
    tables = result_table(hostile, ()), comparison_table(good, hostile, compare(good, hostile))
    assert all("\\[x\\](javascript:1)\\<b\\>\\|\\`" in table for table in tables)
