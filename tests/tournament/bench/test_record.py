"""Records: written, read again, refused when damaged."""

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.support import make_schemas
from tests.support.tournament.bench_records import record, result
from tournament.bench.record import RecordError, read_record, write_record


@pytest.fixture
def data(tmp_path: Path) -> dict[str, Any]:
    file, written = tmp_path / "good.json", record(result([3, -6, 9] * 2), result([1], 1))
    write_record(written, file)
    assert read_record(file) == written
    data: dict[str, Any] = json.loads(file.read_text())
    return data


def test_points_are_per_deal_and_over_par() -> None:
    table = result([3, -6, 9] * 2, par=[0, 3, 3] * 2)
    assert table.points == pytest.approx(2 / 3)
    assert table.over_par == 0
    assert list(table.by_block) == [1, -3, 2] * 2
    # Student's distribution with 5 degrees of freedom: 2.571 standard errors of 0.966.
    assert (table.low, table.high) == pytest.approx((-2.48, 2.48), rel=0.02)
    assert result([3] * 5 + [0] * 90).low is None, "only five blocks differ"


def test_it_conforms_to_the_schema_that_is_checked_in(data: dict[str, Any]) -> None:
    checked_in = json.loads(make_schemas.BENCH.read_text())
    assert checked_in == make_schemas.schema(make_schemas.BENCH), (
        "run: python -m tests.support.make_schemas"
    )
    validator = Draft202012Validator(checked_in)
    validator.validate(data)
    del data["results"][0]["low"]
    assert not validator.is_valid(data)


def test_a_damaged_record_is_refused(tmp_path: Path, data: dict[str, Any]) -> None:
    good, file = data["results"][1], tmp_path / "damaged.json"
    extreme: tuple[dict[str, object], ...] = ({"by_block": [1e308, -1e308]}, {"points": 1e308})
    for damage in (*extreme, {"players": 7}, {"game": "go"}, {"by_block": []}, {"x": 1}):
        data["results"][1] = good | damage
        file.write_text(json.dumps(data))
        with pytest.raises(RecordError, match=rf"^{file}: is not what"):
            read_record(file)


def test_another_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "other.json"
    with pytest.raises(RecordError, match="cannot be read"):
        read_record(file)
    deep = b'{"x": ' + b"[" * 100_000
    for text in (b"", b"[]", b"\xff", b"{" * 100_000, b'{"suite": NaN}', deep):
        file.write_bytes(text)
        with pytest.raises(RecordError, match="is not what `stich bench --json` writes"):
            read_record(file)
