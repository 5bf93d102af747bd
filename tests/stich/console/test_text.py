"""Text printed for people."""

import io

import pytest

from stich.console.tables import make_console


def test_what_is_piped_is_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", io.StringIO())
    monkeypatch.delenv("COLUMNS", raising=False)
    assert make_console().width == 120
    monkeypatch.setenv("COLUMNS", "90")
    assert make_console().width == 90
