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
from tournament.config.cup import Cup, Join
from tournament.config.parse import CupError, parse_cup, read_cup

ROOT = Path(__file__).parents[3]
GOOD = """\
name = "Spring cup"
game = "doudizhu"
players = 3
seed = "2026-spring"

[options]
deals = 1

[format]
type = "round-robin"
deals = 40
seating = "rotations"

[clock]
move_ms = 1000
bank_ms = 10000
start_ms = 10000

[faults]
strikes = 3

[run]
concurrency = 2

[[bots]]
name = "greedy"
command = "python -m bots.greedy"

[[bots]]
name = "mine"
url = "http://127.0.0.1:9000"

[[bots]]
name = "third"
command = "./third --fast"
"""


def errors(text: str) -> list[str]:
    with pytest.raises(CupError) as error:
        parse_cup(text.encode(), "cup.toml")
    return list(error.value.errors)


def test_bots_that_may_remember_cards_get_fresh_ones_unless_the_cup_says_otherwise() -> None:
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
    assert (cup.format.deals, cup.format.seating, cup.strikes) == (40, "rotations", 3)
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
    assert (cup.format.ends, cup.format.cards) == ("2026-12-20T18:00:00+00:00", "fresh")
    assert cup.join == Join(open=False, code="S3cret", per_author=3, most=20)
    assert cup.outage_s == 60
    assert "S3cret" not in f"{cup} {cup.to_dict()}"
    assert Cup.from_dict(cup.to_dict()) == replace(cup, join=replace(cup.join, code=None))


@pytest.mark.parametrize(
    ("change", "line"),
    [
        (('code = "S3cret"', 'code = "x"\nopen = true'), "7: join.code: is not needed where"),
        (("+01:00", ""), "5: format.ends: has no time zone; write one like 2026-12-20T18:00:00Z"),
        (("T19:00:00+01:00", ""), "5: format.ends: must be a date with a time, not a date or time"),
        (("ends =", "deals = 7\nends ="), "5: format.deals: has no meaning in a ladder"),
        (("most = 20", "most = 0"), "8: join.most: must be from 1 to 300, not 0"),
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


# a change of GOOD -> the one line of errors that results
WRONG = [
    (('name = "Spring cup"', ""), '1: name: is missing; write name = "…".'),
    (('game = "doudizhu"', 'game = "doudizuh"'), '2: game: unknown: "doudizuh"; did you mean "dou'),
    (
        ('game = "doudizhu"', "game = 7"),
        "2: game: must be a string, not an integer; put it",
    ),
    (("players = 3", "players = 5"), "3: players: Dou Dizhu is for 3 to 4, not 5; write 3."),
    (("players = 3", "players = 7"), "3: players: must be from 3 to 6, not 7; write a number in t"),
    (("players = 3", 'players = "3"'), "3: players: must be an integer, not a string; write a"),
    (("players = 3", "players = 4"), "25: bots: 3 are too few for tables of 4; add 1, or fill the"),
    (("players = 3", "plyers = 3"), '3: plyers: unknown key; did you mean "players"?'),
    (('seed = "2026-spring"', 'seed = ""'), "4: seed: must have 1 to 128 characters, not 0; write"),
    (('seed = "2026-spring"', "seed = 2026-01-01"), "4: seed: must be a string, not a date or tim"),
    (('seed = "2026-spring"', "move_ms = 3"), "4: move_ms: unknown key; it belongs in [clock];"),
    (
        ('seed = "2026-spring"', "memory_mb = 3"),
        "4: memory_mb: unknown key; it belongs in [run]",
    ),
    (('seed = "2026-spring"', "commit = yes"), "4: commit: is not valid TOML: "),
    (("[options]", "[optoins]"), '6: optoins: unknown key; did you mean "options"?'),
    (("deals = 1\n", "target = 1\n"), "7: options.target: Dou Dizhu has no such option; there"),
    (('"round-robin"', '"swis"'), '10: format.type: unknown: "swis"; did you mean "swiss"?'),
    (('"round-robin"', '"gauntlet"'), "9: format.challenger: is missing; write the name of one"),
    (('"round-robin"', '"gauntlet"\nchallenger = "grедy"'), "11: format.challenger: there is no"),
    (("deals = 40", "rounds = 4"), '11: format.rounds: is for type = "swiss", not "round-robin";'),
    (("move_ms = 1000", "move = 1000"), '15: clock.move: unknown key; did you mean "move_ms"?'),
    (("concurrency = 2", 'referee = "localhost"'), "23: run.referee: is not the URL of a server"),
    (('name = "mine"', 'name = "greedy"'), '30: bots[2].name: bot 1 is "greedy" too; rename one.'),
    (('name = "mine"', 'name = "a\\u001b"'), "30: bots[2].name: must not have control characters"),
    (('name = "mine"\n', ""), '29: bots[2].name: is missing; write name = "…".'),
    (('"http://127.0.0.1:9000"', '"http://x:99999"'), "31: bots[2].url: is not the URL of a serve"),
    (('"http://127.0.0.1:9000"', '"http://x/?a=b"'), "31: bots[2].url: is not the URL of a server"),
    (('command = "./third --fast"', ""), "33: bots[3].command: is missing; write a command or a"),
    (("./third --fast", "./third 'x"), "35: bots[3].command: cannot be split into words (No closi"),
    (("./third --fast", ""), "35: bots[3].command: must not be empty; write one like"),
    (("./third --fast", './third"\nurl = "http://x'), "36: bots[3].url: is given as well as"),
    (
        ('url = "http://127.0.0.1:9000"', "connect = false"),
        "29: bots[2].command: is missing; write",
    ),
    (('url = "http://127.0.0.1:9000"', "connect = 1"), "31: bots[2].connect: must be a boolean"),
    (("./third --fast", './third"\ntoken = "abc" #"'), "36: bots[3].token: is for a bot by url on"),
    ((":9000", ':9000"\ntoken = "a b'), "32: bots[2].token: must have 1 to 1000 letters, digits a"),
    (("./third --fast", './third"\nmax_matches = 2 #"'), "36: bots[3].max_matches: is for a bot"),
    (("./third --fast", './third"\ndir = "" #"'), "36: bots[3].dir: must be the path of a folder"),
    (("./third --fast", './third"\nenv = { A = 1 } #"'), "36: bots[3].env: A must be a string"),
    (("./third --fast", './third"\nenv = { PORT = "1" } #"'), "36: bots[3].env: must not set PORT"),
    (("./third --fast", './third"\nenv = { "A-B" = "" } #"'), '36: bots[3].env: has "A-B"; name'),
    (("concurrency = 2", "concurrency = "), "23: run.concurrency: is not valid TOML: "),
    (('name = "mine"', "name = mine"), "30: bots[2].name: is not valid TOML: "),
    (("[clock]", "[clock"), "14: clock: is not valid TOML: "),
    (("[run]", "[clock]"), "22: clock: is not valid TOML: Cannot declare"),
    (("bank_ms", "move_ms"), "16: clock.move_ms: is not valid TOML: "),
    (('"rotations"', '"rotations'), "12: format.seating: is not valid TOML: "),
    (('"rotations"', "rotations = 3"), "12: format.seating: is not valid TOML: "),
    (("deals = 40", "seeds = ["), "11: format.seeds: is not valid TOML: "),
    (("deals = 40", "deals: 40"), "11: TOML: is not valid TOML: "),
    (("[options]", "= 3"), "6: TOML: is not valid TOML: "),
    (("./third --fast", ".\\qhird"), "35: bots[3].command: is not valid TOML: "),
    (("seed = ", 'seed = "a\x01" #'), "4: seed: is not valid TOML: "),
    (("seed = ", "seed = 2026-02-30 #"), "4: seed: is not valid TOML: "),
    (("players = 3", "players = " + "9" * 5000), "3: players: has a number that is too long, or"),
    (("players = 3", ".".join(["players"] * 1500) + " = 3"), "3: players: must be an integer, not"),
    (
        ("deals = 1\n", "deals = " + "[" * 5000),
        "7: options.deals: has a number that is too long, or",
    ),
    (("strikes = 3", f"{'x' * 5000} = 1"), f"20: faults.{'x' * 59}…: unknown key; there"),
    (("[clock]", "[stop]\ntop = 3\n[clock]"), "15: stop.top: must be less than the number of bots"),
    (("[clock]", "[stop]\nconfidence = 0.9\n[clock]"), "14: stop.top: is missing; write how many"),
    (
        ("[clock]", "[stop]\ntop = 1\nconfidence = 1.5\n[clock]"),
        "16: stop.confidence: must be from",
    ),
]


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


def test_all_errors_are_reported_at_once_in_the_order_of_the_file() -> None:
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
