import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from stich.console.bench_table import badge, comparison_table, result_table
from tests.support.tournament.bench_records import record, result
from tests.support.tournament.cups import bot, code_and_text, stich
from tournament.bench.record import TableProblem, compare, write_record

SMALL = ("--players", 3, "--rules", "usual", "--blocks", 2, "--no-sandbox", "--concurrency", 1)


def measured(file: Path, *words: object, code: int = 0) -> dict[str, Any]:
    done = stich("bench", *words, "--json", file)
    assert done.returncode == code, done.stderr
    values: dict[str, Any] = json.loads(file.read_text())
    return values


def test_a_bot_measured_twice_has_the_same_digits(tmp_path: Path) -> None:
    files = [tmp_path / f"{number}.json" for number in (1, 2)]
    for number, file in enumerate(files, 1):
        words = ("random", "--game", "dasan", *SMALL, "--concurrency", number)
        (table,) = measured(file, *words)["results"]
        assert table["over_par"] < 0
    shown = stich("bench", "compare", *files).stdout
    assert "the same in every block" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("words", "seed"),
    [(("--game", "ninefivetwo"), "bench-2"), (("--game", "dasan", "--seed", "sesame"), "sha256:")],
    ids=["public deals", "other deals"],
)
def test_sensible_is_at_par(words: tuple[str, ...], seed: str, tmp_path: Path) -> None:
    words = ("sensible", *words, "--at-least", "0.5")
    values = measured(tmp_path / "a.json", *words, *SMALL, code=1)
    assert values["seed"].startswith(seed)
    assert [set(table["by_block"]) for table in values["results"]] == [{0.0}]


def test_against_a_better_result_exits_with_1(tmp_path: Path) -> None:
    best, file = tmp_path / "best.json", tmp_path / "b.svg"
    write_record(record(result([90] * 10)), best)
    words = ("bench", "greedy", "--game", "doudizhu", *SMALL, "--blocks", 6, "--markdown")
    done = stich(*words, "--against", best, "--badge", file)
    assert (done.returncode, "| worse |" in done.stdout) == (1, True)
    assert "stich bench-2" in file.read_text()


def test_a_bot_is_measured_with_the_only_options_it_plays(tmp_path: Path) -> None:
    """A bot behind an adapter needs open talons and auctions of one round."""
    supports = {"doudizhu": {"players": [3], "options": {"single_round": [True]}}}
    about = f"name='x', version='1', games=['doudizhu'], supports={supports}"
    program = f"from bots import kit\nkit.run(lambda view, moves: moves[0], {about})\n"
    (tmp_path / "bot.py").write_text(program)
    words = (f"python {tmp_path}/bot.py", "--blocks", 2, "--no-sandbox", "--concurrency", 1)
    (table,) = measured(tmp_path / "a.json", *words)["results"]
    assert (table["game"], table["rules"], table["blocks"]) == ("doudizhu", "botzone", 2)


def test_a_bot_that_is_struck_out_is_told_by_game(tmp_path: Path) -> None:
    problems = measured(tmp_path / "a.json", bot("not-json"), *SMALL, code=1)["problems"]
    assert problems
    assert all("It was struck out in" in problem["why"] for problem in problems)


def test_a_result_of_an_earlier_suite_is_refused_with_its_fix(tmp_path: Path) -> None:
    (tmp_path / "best.json").write_text('{"suite": "bench-1", "results": [{"opponents": "x"}]}')
    code, text = code_and_text("bench", "greedy", "--against", tmp_path / "best.json")
    fix = "is a result of bench-1; this version plays bench-2. Measure that bot again: stich bench"
    assert (code, fix in " ".join(text.split())) == (2, True), text


def test_a_badge_is_svg_whatever_happened() -> None:
    problem = TableProblem("dasan", 3, "usual", "It does not start.")
    for results in ((), (result([3, 6]),), (result([3, 6]), result([-9, -9], 1))):
        good = record(*results)
        for shown in (good, replace(good, problems=(problem,))):
            texts = ElementTree.fromstring(badge(shown)).itertext()
            assert ("with problems" in " ".join(texts)) == bool(shown.problems)


def test_markdown_of_a_hostile_name_is_text() -> None:
    good = record(result([3, 6]))
    hostile = replace(good, bot=replace(good.bot, name="[x](javascript:1)<b>|`"), seed="other")
    tables = result_table(hostile, ()), comparison_table(good, hostile, compare(good, hostile))
    assert all("\\[x\\](javascript:1)\\<b\\>\\|\\`" in table for table in tables)
