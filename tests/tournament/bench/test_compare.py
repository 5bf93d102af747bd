"""Two results compared."""

import random

import pytest

from stich.console.bench_table import comparison_table
from tests.support.tournament.bench_records import record, result
from tournament.bench.record import Record, RecordError, compare


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
