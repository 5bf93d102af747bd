"""`stich --version`."""

from __future__ import annotations

from importlib.metadata import version

import pytest
from click.testing import CliRunner

import games
from stich.cli import cli


@pytest.mark.parametrize(("compiled", "rules"), [(False, "pure Python"), (True, "compiled")])
def test_the_version_says_which_rules_run(
    monkeypatch: pytest.MonkeyPatch, compiled: bool, rules: str
) -> None:
    monkeypatch.setattr(games, "COMPILED", compiled)
    result = CliRunner().invoke(cli, ["--version"])
    assert result.exit_code == 0
    assert result.output == f"stich {version('stich')} (rules: {rules})\n"
