"""`stich check` as a test runs it."""

import json
from typing import Any

from click.testing import CliRunner

from stich.commands.authors import check

PATIENT = ["--move-ms", "600000", "--bank-ms", "0", "--start-ms", "600000"]
"""No deadline that a slow machine could miss."""

FEW = ["--game", "dasan", "--positions", "26", *PATIENT]


def checked(*arguments: str) -> tuple[int, dict[str, Any]]:
    """Its exit code and what it prints for machines."""
    result = CliRunner().invoke(check, [*arguments, "--no-sandbox", "--json"])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    return result.exit_code, json.loads(result.stdout)


def failures(report: dict[str, Any]) -> list[dict[str, Any]]:
    """All failures of all its checks."""
    return [failure for one in report["checks"] for failure in one["failures"]]
