"""The `stich` program in this process: as fast as it can be, libraries loaded once."""

from __future__ import annotations

import json
from typing import Any

from click.testing import CliRunner, Result

from stich.cli import cli


def stich(*words: object, typed: str = "") -> Result:
    """The program, to its end. An exception that it should have reported is raised."""
    return CliRunner().invoke(cli, list(map(str, words)), input=typed, catch_exceptions=False)


def json_lines(*words: object) -> list[dict[str, Any]]:
    """The JSON lines that it prints with --json; it must succeed."""
    done = stich(*words, "--json")
    assert done.exit_code == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]
