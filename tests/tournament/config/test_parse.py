"""CUP.toml: what it may contain, and every error as one line with its key and its fix."""

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
from tests.support.tournament.cup_files import BEYOND_SCHEMAS, GOOD, WRONG
from tournament.config.cup import Cup, JoinRules
from tournament.config.parse import CupError, parse_cup
from tournament.formats.ladder import Ladder
from tournament.formats.round_robin import RoundRobin


def errors(text: str | bytes) -> list[str]:
    with pytest.raises(CupError) as error:
        parse_cup(text.encode() if isinstance(text, str) else text, "cup.toml")
    return str(error.value).splitlines()


def parsed(text: str, *changes: tuple[str, str]) -> Cup:
    for change in changes:
        text = text.replace(*change)
    return parse_cup(text.encode(), "cup.toml")


URL = 'url = "http://127.0.0.1:9000"'


@pytest.mark.parametrize(
    ("changes", "cards"),
    [
        ([], "fresh"),
        ([(URL, "connect = true")], "fresh"),
        ([(URL, 'command = "./second"')], "shared"),
        ([('seating = "rotations"', 'seating = "fixed"')], "shared"),
        ([("deals = 40", 'deals = 40\ncards = "shared"')], "shared"),
        ([(URL, 'command = "./second"'), ("deals = 40", 'deals = 40\ncards = "fresh"')], "fresh"),
    ],
)
def test_bots_that_may_remember_cards_get_fresh_cards(
    changes: list[tuple[str, str]], cards: str
) -> None:
    cup = parsed(GOOD, *changes)
    assert cup.format.cards == cards
    assert Cup.from_dict(cup.to_dict()) == cup


def test_keys_that_are_left_out_have_defaults() -> None:
    cup = parsed(GOOD)
    assert cup.names == ("greedy", "mine", "third")
    defaults = {option.name: option.default for option in games.get("doudizhu").options}
    assert cup.options == defaults | {"deals": 1}
    assert (cup.format, cup.strikes) == (RoundRobin(deals=40, cards="fresh"), 3)
    assert parse_cup(b"\xef\xbb\xbf" + GOOD.encode(), "c") == cup, "a byte order mark is allowed"
    top = 'name = "x"\ngame = "dasan"\nfill = "greedy"\n'
    cup = parsed(top + '[[bots]]\nname = "a"\ncommand = "./a"\n')
    assert cup.names == ("a", "greedy (house)", "greedy (house 2)")
    assert [bot.house for bot in cup.bots] == [False, True, True]
    assert (cup.players, cup.seed) == (3, None)


def test_tokens_are_neither_stored_nor_shown() -> None:
    secret = "S3cret.token"
    text = GOOD.replace(':9000"', f':9000"\ntoken = "{secret}"')
    cup = parsed(text)
    assert cup.bot("mine").token == secret
    wrong = errors(text.replace(secret, f"{secret} with spaces"))
    assert secret not in f"{cup} {cup.to_dict()} {wrong}"


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
    cup = parsed(LADDER)
    assert cup.format == Ladder(ends="2026-12-20T18:00:00+00:00", cards="fresh")
    assert cup.join == JoinRules(open=False, code="S3cret", per_author=3, most=20)
    assert cup.outage_s == 60
    assert "S3cret" not in f"{cup} {cup.to_dict()}"
    assert Cup.from_dict(cup.to_dict()) == replace(cup, join=replace(cup.join, code=None))


def test_ends_and_join_are_for_a_ladder() -> None:
    keys = [error.split(": ")[1] for error in errors(LADDER.replace('"ladder"\n', '"swiss"\n'))]
    assert keys[:2] == ["format.ends", "join"]


@pytest.fixture(autouse=True)
def usual_depth() -> Iterator[None]:
    """What other tests import may raise the limit by which too deep a file is found."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1000)
    yield
    sys.setrecursionlimit(before)


WRONG_LADDER = [
    (('code = "S3cret"', 'code = "x"\nopen = true'), "7: join.code: is not needed where"),
    (("+01:00", ""), "5: format.ends: has no time zone; write one like 2026-12-20T18:00:00Z"),
    (("2026-12-20T19:00:00+01", "0001-01-01T00:00:00+14"), "5: format.ends: is too early or too"),
    (("T19:00:00+01:00", ""), "5: format.ends: must be a date with a time, not a date or time"),
    (("ends =", "deals = 7\nends ="), '5: format.deals: is not for type = "ladder"'),
    (("most = 20", "most = 5001"), "8: join.most: must be from 1 to 5000, not 5001"),
]
MANY = "".join(f'[[bots]]\nname = "b{i}"\ncommand = "x"\n' for i in range(120))
STOP = GOOD.replace("[clock]", "[stop]\ntop = 1\n[clock]")
TWICE = 'fill = "random"\n' + GOOD.replace("[format]", '[format]\nfill = "greedy"')
TOO_MANY = "1: format.type: makes 280,840 tables of 120 bots, more than 200,000"
STOPS = '11: stop: is for type = "round-robin" or "halving", not "swiss"'


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (b"name = 'x'\n# \xff\n", "2: file: is not UTF-8; save it as UTF-8."),
        (b"a = " + b"[" * 20_000, "1: a: has a number that is too long, or too many brackets"),
        (b"[" * 20_000, "1: TOML: is not valid TOML: "),
        (b"\0", "1: TOML: "),
        (b"a = 1\0" * 20_000, "1: a: "),
        *((GOOD.replace(*change, 1), line) for change, line in WRONG + BEYOND_SCHEMAS),
        *((LADDER.replace(*change), line) for change, line in WRONG_LADDER),
        (TWICE, "1: fill: is already set by format.fill; delete one of them."),
        (STOP.replace("round-robin", "swiss", 1), f"{STOPS}; delete the section."),
        (f'name = "x"\ngame = "doudizhu"\n{MANY}', f'{TOO_MANY}; write type = "swiss".'),
    ],
)
def test_an_error_is_one_line_with_its_key_and_fix(text: str | bytes, line: str) -> None:
    (error,) = errors(text)
    assert error.startswith(f"cup.toml:{line}")
    assert error.endswith((".", "?"))
    assert len(error) < 250


def test_all_errors_are_reported_together_in_file_order() -> None:
    text = GOOD.replace("./third --fast", "")
    for wrong in ("doudizhu", "doudizuh"), ("[options]", "[optoins]"), ("move_ms", "move"):
        text = text.replace(*wrong, 1)
    lines = [int(error.split(":")[1]) for error in errors(text)]
    assert lines == sorted(lines)
    assert len(lines) >= 4


def test_the_program_reports_errors_before_it_starts(tmp_path: Path) -> None:
    path = tmp_path / "cup.toml"
    path.write_text(GOOD.replace("strikes = 3", "strikes = 0"))
    fix = "must be from 1 to 1000, not 0; write a number in that range"
    missing = "No such file or directory; name an existing CUP.toml"
    for file, says in ((path, f":16: faults.strikes: {fix}"), (tmp_path / "none", f": {missing}")):
        done = CliRunner().invoke(cli, ["run", str(file), "--out", str(tmp_path / "run")])
        assert (done.exit_code, done.stderr) == (2, f"{file}{says}.\n")
    assert not (tmp_path / "run").exists()


CHANGED = st.builds(
    lambda at, size, piece: (GOOD[:at] + piece + GOOD[at + size :]).encode(),
    st.integers(0, len(GOOD)),
    st.integers(0, 12),
    st.sampled_from(["", "[", "]", '"', "=", "\n", "1", "true", "[[bots]]", "\0"]),
)


@given(st.binary(max_size=200) | CHANGED)
def test_no_bytes_break_it(data: bytes) -> None:
    lines = []
    try:
        parse_cup(data, "f")
    except CupError as error:
        lines = str(error).split("\n")
    assert all(re.match(r"f:\d+: [^:]+: .", line) for line in lines)
