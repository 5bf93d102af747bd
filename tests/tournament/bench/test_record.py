"""Records: written, read again, refused when damaged."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.support import make_schemas
from tests.support.tournament.bench_records import record, result
from tournament.bench.record import RecordError, read_record, write_record


@pytest.fixture
def data(tmp_path: Path) -> dict[str, Any]:
    """A record as JSON."""
    write_record(record(result([3, -6, 9]), result([1], 1)), tmp_path / "good.json")
    data: dict[str, Any] = json.loads((tmp_path / "good.json").read_text())
    return data


def test_points_are_per_deal_and_over_par() -> None:
    table = result([3, -6, 9] * 2, par=[0, 3, 3] * 2)
    assert table.points == pytest.approx(2 / 3)
    assert table.over_par == 0
    assert list(table.by_block) == [1, -3, 2] * 2
    # Student's distribution with 5 degrees of freedom: 2.571 standard errors of 0.966.
    assert (table.low, table.high) == pytest.approx((-2.48, 2.48), rel=0.02)


@pytest.mark.parametrize("points", [[3], [3, -6, 9, 3, 3], [3] * 5 + [0] * 90])
def test_fewer_than_six_differing_blocks_give_no_interval(points: list[int]) -> None:
    assert (result(points).low, result(points).high) == (None, None)


def test_a_record_is_read_as_it_was_written(tmp_path: Path) -> None:
    rng = random.Random(3)
    written = record(*(result([rng.randrange(-50, 50) for _ in range(20)], at) for at in range(9)))
    write_record(written, tmp_path / "a.json")
    assert read_record(tmp_path / "a.json") == written


def test_it_conforms_to_the_schema_that_is_checked_in(data: dict[str, Any]) -> None:
    checked_in = json.loads(make_schemas.BENCH.read_text())
    assert checked_in == make_schemas.schema(make_schemas.BENCH), (
        "run: python -m tests.support.make_schemas"
    )
    validator = Draft202012Validator(checked_in)
    validator.validate(data)
    del data["results"][0]["low"]
    assert not validator.is_valid(data)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("players", 7),
        ("by_block", []),
        ("by_block", [1e308, -1e308]),
        ("points", 1e308),
        ("more", 1),
    ],
)
def test_a_damaged_record_is_refused(
    tmp_path: Path, data: dict[str, Any], name: str, value: object
) -> None:
    data["results"][1][name] = value
    file = tmp_path / "damaged.json"
    file.write_text(json.dumps(data))
    with pytest.raises(RecordError, match="is not what") as refused:
        read_record(file)
    assert str(refused.value).startswith(str(file))


@pytest.mark.parametrize("text", [b"", b"[]", b"\xff", b"{" * 100_000, b'{"suite": NaN}'])
def test_another_file_is_refused(tmp_path: Path, text: bytes) -> None:
    file = tmp_path / "other.json"
    file.write_bytes(text)
    with pytest.raises(RecordError, match="is not what `stich bench --json` writes"):
        read_record(file)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match="cannot be read"):
        read_record(tmp_path / "none.json")
