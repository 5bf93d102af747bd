"""Records: written, read again, refused when damaged, compared."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from stich.console.bench_table import comparison_table
from tests.support import make_schemas
from tests.support.tournament.bench_records import record, result
from tournament.bench.record import Record, RecordError, compare, read_record, write_record


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
    for text in (b"", b"[]", b"{}", b"\xff", b"{" * 100_000, b'{"suite": NaN}', deep):
        file.write_bytes(text)
        with pytest.raises(RecordError, match="is not what `stich bench --json` writes"):
            read_record(file)


@pytest.mark.parametrize("blocks", [1, 5, 6])
def test_equal_bots_are_the_same_so_far(blocks: int) -> None:
    same = record(result([3, -6, 9, 0, 0, 12][:blocks]))
    comparison = compare(same, same)
    assert [table.verdict for table in comparison.differences] == ["same"]
    verdict = "the same in every block" + " so far; more blocks are needed" * (blocks < 6)
    assert f"| {verdict} |" in comparison_table(same, same, comparison)


def test_the_same_deals_show_a_difference_that_others_do_not() -> None:
    rng = random.Random(1)
    luck = [rng.randrange(-60, 60) for _ in range(30)]
    old = record(result(luck))
    better = record(result([points + rng.choice([3, 6, 9]) for points in luck]))
    paired = compare(old, better)
    assert (paired.paired, paired.worse) == (True, False)
    assert [table.verdict for table in paired.differences] == ["better"]
    assert compare(better, old).worse
    elsewhere = record(better.results[0], seed="sha256:1")
    apart = compare(old, elsewhere)
    assert not apart.paired
    assert [table.verdict for table in apart.differences] == ["unknown"]
    assert apart.differences[0].mean == pytest.approx(paired.differences[0].mean)


def test_fewer_than_six_blocks_that_differ_have_no_interval() -> None:
    old = [3, -6, 9, 0, 12] * 4
    for changed, seed, known in ((5, "bench-2", False), (6, "bench-2", True), (5, "other", True)):
        new = [points + (i < changed) for i, points in enumerate(old)]
        table = compare(record(result(old)), record(result(new), seed=seed)).differences[0]
        assert (table.arm is not None) == known
    short = compare(record(result(old[:5])), record(result(new[:5]), seed="other"))
    assert short.differences[0].arm is None


def test_a_quick_result_is_compared_with_the_same_blocks() -> None:
    whole, start = record(result([3, 6, 9, 60, -90])), record(result([3, 6, 9]))
    table = compare(whole, start).differences[0]
    assert (table.blocks, table.verdict) == (3, "same")


def test_tables_of_only_one_bot_are_left_out_by_name() -> None:
    three, four = result([3, 3]), result([3, 3], 1)
    assert compare(record(three, four), record(three)).left_out == ("doudizhu, 4 players",)
    with pytest.raises(RecordError, match="first has doudizhu, 3 players, the second doudizhu, 4"):
        compare(record(three), record(four))


def test_no_table_of_many_is_called_worse_by_luck() -> None:
    """At most 5 of 100 comparisons of equal bots may say so. The limit allows for the number."""
    rng = random.Random(5)

    def bot() -> Record:
        points = ([rng.choice([-12, -6, 6, 12]) for _ in range(20)] for _ in range(9))
        return record(*(result(blocks, at) for at, blocks in enumerate(points)))

    assert sum(compare(bot(), bot()).worse for _ in range(100)) <= 8
