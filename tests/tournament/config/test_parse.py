"""CUP.toml: what it may contain, and every error as one line with its key and its fix."""

import contextlib
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

import games
from stich.cli import cli
from tests.support.cup_files import GOOD, WRONG
from tournament.config.cup import Cup, JoinRules
from tournament.config.parse import CupError, parse_cup, read_cup
from tournament.formats.ladder import Ladder
from tournament.formats.round_robin import RoundRobin

ROOT = Path(__file__).parents[3]


def errors(text: str) -> list[str]:
    with pytest.raises(CupError) as error:
        parse_cup(text.encode(), "cup.toml")
    return list(error.value.errors)


def test_bots_that_may_remember_cards_get_fresh_cards_by_default() -> None:
    started = GOOD.replace('url = "http://127.0.0.1:9000"', 'command = "./second"')
    cards = [
        parse_cup(text.encode(), "cup.toml").format.cards
        for text in (
            GOOD,
            GOOD.replace('url = "http://127.0.0.1:9000"', "connect = true"),
            started,
            GOOD.replace('seating = "rotations"', 'seating = "fixed"'),
            GOOD.replace("deals = 40", 'deals = 40\ncards = "shared"'),
            started.replace("deals = 40", 'deals = 40\ncards = "fresh"'),
        )
    ]
    assert cards == ["fresh", "fresh", "shared", "shared", "shared", "fresh"]


def test_the_example_of_the_page() -> None:
    cup = parse_cup(GOOD.encode(), "cup.toml")
    assert cup.names == ("greedy", "mine", "third")
    assert cup.options == {
        option.name: option.default for option in games.get("doudizhu").options
    } | {"deals": 1}
    assert (cup.format, cup.strikes) == (RoundRobin(deals=40, cards="fresh"), 3)
    assert Cup.from_dict(cup.to_dict()) == cup


def test_defaults() -> None:
    cup = parse_cup(
        b'name = "x"\ngame = "dasan"\nfill = "greedy"\n[[bots]]\nname = "a"\ncommand = "./a"\n', "c"
    )
    assert cup.players == 3
    assert cup.names == ("a", "greedy (house)", "greedy (house 2)")
    assert [bot.house for bot in cup.bots] == [False, True, True]
    assert cup.seed is None


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.toml")), ids=lambda p: p.name)
def test_the_examples_can_be_read(path: Path) -> None:
    read_cup(path)


def test_tokens_are_neither_stored_nor_shown() -> None:
    secret = "S3cret.token"
    text = GOOD.replace(':9000"', f':9000"\ntoken = "{secret}"')
    cup = parse_cup(text.encode(), "cup.toml")
    assert cup.bot("mine").token == secret
    assert secret not in f"{cup} {cup.to_dict()}"
    wrong = errors(text.replace(secret, f"{secret} with spaces"))
    assert secret not in "".join(wrong)


LADDER = """\
name = "Autumn ladder"
game = "doudizhu"
[format]
type = "ladder"
ends = 2026-12-20T19:00:00+01:00
[join]
code = "S3cret"
most = 20
[[bots]]
name = "greedy"
command = "python -m bots.greedy"
"""


def test_a_ladder_needs_no_full_table_and_does_not_tell_its_code() -> None:
    cup = parse_cup(LADDER.encode(), "cup.toml")
    assert cup.is_ladder
    assert cup.format == Ladder(ends="2026-12-20T18:00:00+00:00", cards="fresh")
    assert cup.join == JoinRules(open=False, code="S3cret", per_author=3, most=20)
    assert cup.outage_s == 60
    assert "S3cret" not in f"{cup} {cup.to_dict()}"
    assert Cup.from_dict(cup.to_dict()) == replace(cup, join=replace(cup.join, code=None))


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (('code = "S3cret"', 'code = "x"\nopen = true'), "7: join.code: is not needed where"),
        (("+01:00", ""), "5: format.ends: has no time zone; write one like 2026-12-20T18:00:00Z"),
        (("T19:00:00+01:00", ""), "5: format.ends: must be a date with a time, not a date or time"),
        (("ends =", "deals = 7\nends ="), '5: format.deals: is not for type = "ladder"'),
        (("most = 20", "most = 0"), "8: join.most: must be from 1 to 5000, not 0"),
        (("most = 20", "most = 5001"), "8: join.most: must be from 1 to 5000, not 5001"),
    ],
)
def test_an_error_in_a_ladder(change: tuple[str, str], line: str) -> None:
    (error,) = errors(LADDER.replace(*change))
    assert error.startswith(f"cup.toml:{line}")


def test_ends_and_join_are_for_a_ladder() -> None:
    found = errors(LADDER.replace('"ladder"\n', '"swiss"\n'))
    assert [error.split(": ")[1] for error in found][:2] == ["format.ends", "join"]


def test_a_bot_that_connects() -> None:
    text = GOOD.replace('url = "http://127.0.0.1:9000"', "connect = true")
    cup = parse_cup(text.encode(), "cup.toml")
    assert [bot.connect for bot in cup.bots] == [False, True, False]
    assert Cup.from_dict(cup.to_dict()) == cup


@pytest.fixture(autouse=True)
def usual_depth() -> Iterator[None]:
    """What other tests import may raise the limit by which too deep a file is found."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    yield
    sys.setrecursionlimit(before)


@pytest.mark.parametrize(("change", "line"), WRONG)
def test_an_error_is_one_line_with_its_key_and_fix(change: tuple[str, str], line: str) -> None:
    assert change[0] in GOOD
    found = errors(GOOD.replace(*change, 1))
    assert len(found) == 1
    assert found[0].startswith(f"cup.toml:{line}")
    assert found[0].endswith((".", "?"))
    assert len(found[0]) < 250


def test_all_errors_are_reported_together_in_file_order() -> None:
    text = GOOD
    wrong = {
        "doudizhu": "doudizuh",
        "[options]": "[optoins]",
        "move_ms": "move",
        "./third --fast": "",
    }
    for change in wrong.items():
        text = text.replace(*change, 1)
    found = errors(text)
    lines = [int(line.split(":")[1]) for line in found]
    assert lines == sorted(lines)
    assert len(found) >= 4


def test_fill_stands_at_the_top_or_in_the_format() -> None:
    both = 'fill = "random"\n' + GOOD.replace("[format]", '[format]\nfill = "greedy"')
    assert errors(both) == ["cup.toml:1: fill: is already set by format.fill; delete one of them."]


def test_a_byte_order_mark_is_allowed() -> None:
    assert parse_cup(b"\xef\xbb\xbf" + GOOD.encode(), "c") == parse_cup(GOOD.encode(), "c")


@pytest.mark.parametrize("format", ["swiss", "knockout", "gauntlet"])
def test_only_a_round_robin_or_a_halving_can_stop_early(format: str) -> None:
    text = GOOD.replace('"round-robin"', f'"{format}"', 1).replace(
        "[clock]", "[stop]\ntop = 1\n[clock]"
    )
    if format == "gauntlet":
        text = text.replace("deals = 40", 'challenger = "mine"', 1)
    (error,) = errors(text)
    says = f'stop: is for type = "round-robin" or "halving", not "{format}"; delete the section.'
    assert error == f"cup.toml:14: {says}"


def test_more_tables_than_can_be_played_are_refused() -> None:
    bots = "".join(f'[[bots]]\nname = "b{i}"\ncommand = "x"\n' for i in range(120))
    (line,) = errors(f'name = "x"\ngame = "doudizhu"\n{bots}')
    assert 'makes 280,840 tables of 120 bots, more than 200,000; write type = "swiss".' in line


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"name = 'x'\n# \xff\n", "2: file: is not UTF-8; save it as UTF-8."),
        (b"a = " + b"[" * 20_000, "1: a: has a number that is too long, or too many brackets"),
        (b"[" * 20_000, "1: TOML: is not valid TOML: "),
        (b"\0", "1: TOML: "),
        (b"a = 1\0" * 20_000, "1: a: "),
    ],
)
def test_what_is_not_toml_is_one_line_too(data: bytes, says: str) -> None:
    with pytest.raises(CupError) as error:
        parse_cup(data, "cup.toml")
    assert str(error.value).startswith(f"cup.toml:{says}")


def test_the_program_reports_errors_before_it_starts(tmp_path: Path) -> None:
    path = tmp_path / "cup.toml"
    there = GOOD.replace("./third --fast", "python third.py")
    path.write_text(there.replace("strikes = 3", "strikes = 0"))
    done = CliRunner().invoke(cli, ["run", str(path), "--out", str(tmp_path / "run")])
    assert done.exit_code == 2
    fix = "write a number in that range"
    assert done.stderr == f"{path}:20: faults.strikes: must be from 1 to 1000, not 0; {fix}.\n"
    assert not (tmp_path / "run").exists()
    done = CliRunner().invoke(cli, ["run", str(tmp_path / "none.toml")])
    assert done.exit_code == 2
    missing = "No such file or directory; name an existing CUP.toml."
    assert done.stderr == f"{tmp_path}/none.toml: {missing}\n"


@given(st.binary(max_size=200))
def test_no_bytes_break_it(data: bytes) -> None:
    with pytest.raises(CupError) as error:
        parse_cup(data, "f")
    assert all(re.match(r"f:\d+: [^:]+: .", line) for line in error.value.errors)


PIECES = ["", "[", "]", '"', "=", "\n", "1", "true", "[[bots]]", "\0"]


@given(st.integers(0, len(GOOD)), st.integers(0, 12), st.sampled_from(PIECES))
def test_no_changed_cup_breaks_it(at: int, size: int, piece: str) -> None:
    text = GOOD[:at] + piece + GOOD[at + size :]
    with contextlib.suppress(CupError):
        parse_cup(text.encode(), "f")
