"""Text printed for people."""

import io

import pytest

from stich.console.terminal import make_console
from tournament.text import plural


def test_a_number_and_its_noun() -> None:
    assert [plural(count, "block") for count in (0, 1, 2)] == ["0 blocks", "1 block", "2 blocks"]
    assert [plural(count, "match", "matches") for count in (1, 2)] == ["1 match", "2 matches"]


def test_what_is_piped_is_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", io.StringIO())
    monkeypatch.delenv("COLUMNS", raising=False)
    assert make_console().width == 120
    monkeypatch.setenv("COLUMNS", "90")
    assert make_console().width == 90
