"""docs/learning.md: every program and command runs, and the bot that is trained beats greedy."""

import re
from pathlib import Path

import pytest

import games
from stich.env import Environment
from tests.support.pages import ROOT, blocks, run_script

PAGE = "docs/learning.md"
PROGRAMS = blocks(PAGE, "python")
FILES = {code.split()[1]: code for code in PROGRAMS if code.startswith("# ")}


@pytest.mark.parametrize("code", [code for code in PROGRAMS if code not in FILES.values()])
def test_the_loops_of_self_play_run(code: str, tmp_path: Path) -> None:
    if "aec_env" in code:
        pytest.importorskip("pettingzoo", reason="pip install 'stich[learn]'")
    (tmp_path / "loop.py").write_text(code, "utf-8")
    shown = run_script("python loop.py", tmp_path)
    assert "seat_2" in shown or shown == "(1097,) 32000\n"


def test_the_page_has_the_sizes_of_all_arrays() -> None:
    rows = re.findall(r"^\| `(\w+)`, ([\d to and]+) \| (.+) \|$", (ROOT / PAGE).read_text(), re.M)
    assert [name for name, *_ in rows] == ["doudizhu", *games.GAMES]
    for name, players, sizes in rows:
        counts = range(int(players[0]), int(players[-1]) + 1)
        environments = [Environment(name, count) for count in counts]
        cells = [
            ", ".join(str(environment.encoding.size) for environment in environments),
            *map(str, {environment.encoding.row_size for environment in environments}),
            *map(str, {environment.actions for environment in environments}),
        ]
        assert sizes.split(" | ") == cells


@pytest.mark.slow
def test_the_bot_that_the_page_trains_beats_greedy(tmp_path: Path) -> None:
    (cup,) = blocks(PAGE, "toml")
    for name, text in {**FILES, "teachers.toml": cup}.items():
        (tmp_path / name).write_text(text, "utf-8")
    teach, train = blocks(PAGE, "sh")
    run_script(teach, tmp_path)
    learnt, _, duel = train.partition("\nstich duel")
    first_line = run_script(learnt, tmp_path).splitlines()[0]
    right, positions, chance = map(int, re.findall(r"\d+", first_line))
    assert 1.5 * chance < right <= positions
    verdict = run_script("stich duel" + duel.rstrip() + " --seed learnt --concurrency 2", tmp_path)
    decided = r"Decided after .*: \S+ bot\.py is better than greedy"
    assert re.search(decided, " ".join(verdict.split()))
