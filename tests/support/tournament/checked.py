import json
from typing import Any

from click.testing import CliRunner

from stich.commands.authors.check import check

PATIENT = ["--move-ms", "600000", "--bank-ms", "0", "--start-ms", "600000"]
"""No deadline that a slow machine could miss."""
FEW = ["--game", "dasan", "--positions", "26", *PATIENT]


def checked(*arguments: str) -> tuple[int, dict[str, Any]]:
    """The exit code of `stich check`, and what it prints as JSON."""
    result = CliRunner().invoke(check, [*arguments, "--no-sandbox", "--json"])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    return result.exit_code, json.loads(result.stdout)


def failures(report: dict[str, Any]) -> list[dict[str, Any]]:
    return [failure for check in report["checks"] for failure in check["failures"]]


def failed(report: dict[str, Any]) -> list[dict[str, Any]]:
    return [check for check in report["checks"] if check["result"] == "failed"]
