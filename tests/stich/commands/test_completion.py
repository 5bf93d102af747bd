"""Shell completion, called as the shell calls it."""

from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from stich.cli import cli
from tests.tournament import played
from tournament.store.store import Store


def offered(*words: str) -> list[str]:
    """The completions of the last of these words; a type if the shell completes it itself."""
    *before, last = words
    found = ShellComplete(cli, {}, "stich", "_STICH_COMPLETE").get_completions(before, last)
    return [f"<{item.type}>" if item.type != "plain" else item.value for item in found]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("completion")
    played.run(folder, played.cup(deals=1)).close()
    return folder


@pytest.mark.parametrize(
    ("words", "values"),
    [
        (("run", "ex"), ["<file>"]),
        (("run", "cup.toml", "--out", ""), ["<dir>"]),
        (("standings", ""), ["<file>"]),
        (("export", "runs/x", "-o", ""), ["<file>"]),
        (("report", "runs/x", "-o", ""), ["<file>"]),
        (("duel", "g"), ["greedy"]),
        (("duel", "greedy", "./my"), ["<file>"]),
        (("duel", "a", "b", "--game", "d"), ["doudizhu", "dasan"]),
        (("play", "z"), ["zhengfen"]),
        (("play", "zhengfen", "--with", "se"), ["sensible", "search"]),
        (("check", "--game", "nine"), ["ninefivetwo"]),
        (("new-bot", "pyt"), ["python"]),
        (("new-bot", "python", ""), ["<file>"]),
        (("replay", "nowhere", ""), []),
        (("replay", "sqlite:///x", ""), []),
    ],
)
def test_words_and_files(words: tuple[str, ...], values: list[str]) -> None:
    assert offered(*words) == values


def test_what_is_in_a_run(run: Path) -> None:
    with Store.open(run) as store:
        ids = [match.match for match in store.summaries()]
    assert offered("replay", str(run), "") == ids
    assert offered("replay", str(run), ids[1][:8]) == [ids[1]]
    assert offered("matches", str(run), "--bot", "c") == ["cat"]
