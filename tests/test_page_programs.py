"""The programs of the README and of the pages about data and learning work as copied."""

import re
from pathlib import Path

import pytest

import games
from stich.env import Environment
from tests.support.pages import ROOT, blocks, run_program, run_script
from tests.support.service.running import Running

LEARNING = "docs/learning.md"
PROGRAMS = blocks(LEARNING, "python")
FILES = {code.split()[1]: code for code in PROGRAMS if code.startswith("# ")}


def test_the_cup_runs_as_copied(tmp_path: Path) -> None:
    (cup,) = blocks("README.md", "toml")
    (tmp_path / "CUP.toml").write_text(cup.replace("deals = 40", "deals = 1"))
    printed = run_script("stich run CUP.toml --out run 2>&1", tmp_path)
    assert printed.startswith("Starting 3 bots ...")
    assert "Spring cup: doudizhu, final" in printed


def test_the_python_example_plays_a_deal(tmp_path: Path) -> None:
    (code,) = blocks("README.md", "python")
    scores = [int(score) for score in re.findall(r"-?\d+", run_program(code, tmp_path))]
    assert (len(scores), sum(scores)) == (3, 0)
    assert any(scores), "a deal that all pass shows nothing"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the commands of both pages were run, in their order."""
    pytest.importorskip("pyarrow", reason="a page writes Parquet")
    folder = tmp_path_factory.mktemp("pages")
    cup = (ROOT / "examples" / "cup.toml").read_text("utf-8")
    (folder / "CUP.toml").write_text(cup.replace("deals = 40", "deals = 1"), "utf-8")
    for script in [*blocks("docs/data.md", "sh"), *blocks("docs/match-format.md", "sh")]:
        if "serve" not in script:
            run_script(script, folder)
    return folder


def test_a_match_is_replayed_with_http_calls_only(folder: Path) -> None:
    (code,) = blocks("docs/match-format.md", "python")
    with Running() as service:
        printed = run_program(code.replace("http://127.0.0.1:8080", service.url), folder)
    assert printed.splitlines()[-1].startswith("replayed: [")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_decisions_are_loaded(folder: Path, library: str) -> None:
    pytest.importorskip(library, reason=f"{library} is only needed here; pip install {library}")
    (code,) = (code for code in blocks("docs/data.md", "python") if f"import {library}" in code)
    printed = run_program(code, folder)
    assert all(bot in printed for bot in ("greedy", "random", "sensible"))


@pytest.mark.parametrize("code", [code for code in PROGRAMS if code not in FILES.values()])
def test_the_loops_of_self_play_run(code: str, tmp_path: Path) -> None:
    if "aec_env" in code:
        pytest.importorskip("pettingzoo", reason="pip install 'stich[learn]'")
    shown = run_program(code, tmp_path)
    assert "seat_2" in shown or shown == "(1097,) 32000\n"


def test_the_page_has_the_sizes_of_all_arrays() -> None:
    page = (ROOT / LEARNING).read_text()
    rows = re.findall(r"^\| `(\w+)`, ([\d to and]+) \| (.+) \|$", page, re.M)
    assert [name for name, *_ in rows] == ["doudizhu", *games.GAMES]
    for name, players, sizes in rows:
        counts = range(int(players[0]), int(players[-1]) + 1)
        environments = [Environment(name, count) for count in counts]
        views = ", ".join(str(environment.encoding.size) for environment in environments)
        (row,) = {environment.encoding.row_size for environment in environments}
        (actions,) = {environment.actions for environment in environments}
        assert sizes == f"{views} | {row} | {actions}"


@pytest.mark.slow
def test_the_bot_that_the_page_trains_beats_greedy(tmp_path: Path) -> None:
    (cup,) = blocks(LEARNING, "toml")
    for name, text in {**FILES, "teachers.toml": cup}.items():
        (tmp_path / name).write_text(text, "utf-8")
    teach, train = blocks(LEARNING, "sh")
    run_script(teach, tmp_path)
    learnt, _, duel = train.partition("\nstich duel")
    first_line = run_script(learnt, tmp_path).splitlines()[0]
    right, positions, chance = map(int, re.findall(r"\d+", first_line))
    assert 1.5 * chance < right <= positions
    verdict = run_script("stich duel" + duel.rstrip() + " --seed learnt --concurrency 2", tmp_path)
    decided = r"Decided after .*: \S+ bot\.py is better than greedy"
    assert re.search(decided, " ".join(verdict.split()))
