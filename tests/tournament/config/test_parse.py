"""CUP.toml: what it may contain, and every error as one line with its key and its fix."""

import json
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft7Validator

import games
from stich.cli import cli
from tests.support.pages import ROOT
from tournament.config.cup import Cup, JoinRules
from tournament.config.json_schema import cup_schema
from tournament.config.parse import CupError, parse_cup, read_cup
from tournament.formats.ladder import Ladder
from tournament.formats.round_robin import RoundRobin

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

# changes of GOOD, and the one line of errors that results
WRONG = [
    (('name = "Spring cup"', ""), '1: name: is missing; write name = "…".'),
    (('game = "doudizhu"', 'game = "doudizuh"'), '2: game: unknown: "doudizuh"; did you mean "dou'),
    (("players = 3", 'players = "3"'), "3: players: must be an integer, not a string; write a"),
    (("players = 3", "plyers = 3"), '3: plyers: unknown key; did you mean "players"?'),
    (('seed = "2026-spring"', 'seed = ""'), "4: seed: must have 1 to 128 characters, not 0; write"),
    (('seed = "2026-spring"', "move_ms = 3"), "4: move_ms: unknown key; it belongs in [clock];"),
    (("[options]", "[optoins]"), '5: optoins: unknown key; did you mean "options"?'),
    (("deals = 1\n", "target = 1\n"), "6: options.target: Dou Dizhu has no such option; there"),
    (('"round-robin"', '"swis"'), '8: format.type: unknown: "swis"; did you mean "swiss"?'),
    (("move_ms = 1000", "move = 1000"), '12: clock.move: unknown key; did you mean "move_ms"?'),
    (('name = "mine"\n', ""), '22: bots[2].name: is missing; write name = "…".'),
    (("./third --fast", ""), "27: bots[3].command: must not be empty; write one like"),
    ((":9000", ':9000"\ntoken = "a b'), "25: bots[2].token: must have 1 to 1000 letters, digits a"),
    (("./third --fast", './third"\ndir = "" #"'), "28: bots[3].dir: must be the path of a folder"),
    (("./third --fast", './third"\nenv = { A = 1 } #"'), "28: bots[3].env: A must be a string"),
    (("./third --fast", './third"\nenv = { PORT = "1" } #"'), "28: bots[3].env: must not set PORT"),
    (("./third --fast", './third"\nenv = { "A-B" = "" } #"'), '28: bots[3].env: has "A-B"; name'),
    (("./third --fast", './third"\nenv_from = ["PORT"] #"'), "28: bots[3].env_from: must not set"),
    (("./third --fast", './third"\nenv_from = [1] #"'), "28: bots[3].env_from: must be an array o"),
    (("[clock]", "[stop]\ntop = 1\nconfidence = 1.5\n[clock]"), "13: stop.confidence: must be fro"),
]
# the same with changes that only `stich run` can find
BEYOND_SCHEMAS = [
    (("players = 3", "players = 5"), "3: players: Dou Dizhu is for 3 to 4, not 5; write 3."),
    (("players = 3", "players = 4"), "19: bots: 3 are too few for tables of 4; add 1, or fill the"),
    (('seed = "2026-spring"', "seed = 2026-01-01"), "4: seed: must be a string, not a date or tim"),
    (('"round-robin"', '"gauntlet"'), "7: format.challenger: is missing; write challenger"),
    (('"round-robin"', '"gauntlet"\nchallenger = "grедy"'), "9: format.challenger: there is no"),
    (("deals = 40", "rounds = 4"), '9: format.rounds: is for type = "swiss", not "round-robin";'),
    (("concurrency = 2", 'referee = "localhost"'), "18: run.referee: is not the URL of a server"),
    (('name = "mine"', 'name = "greedy"'), '23: bots[2].name: bot 1 is "greedy" too; rename one.'),
    (('name = "mine"', 'name = "Greedy"'), '23: bots[2].name: looks like "greedy", the name of bo'),
    (('name = "mine"', 'name = "a\\u001b"'), "23: bots[2].name: must not have control characters"),
    (('"http://127.0.0.1:9000"', '"http://x:99999"'), "24: bots[2].url: is not the URL of a serve"),
    (('"http://127.0.0.1:9000"', '"http://a..b"'), "24: bots[2].url: is not the URL of a server"),
    (('"http://127.0.0.1:9000"', '"http://[1:2]"'), "24: bots[2].url: is not the URL of a server"),
    (('"http://127.0.0.1:9000"', '"http://x/?a=b"'), "24: bots[2].url: is not the URL of a server"),
    (('command = "./third --fast"', ""), "25: bots[3].command: is missing; write a command or a"),
    (("./third --fast", "./third 'x"), "27: bots[3].command: cannot be split into words (No closi"),
    (("./third --fast", './third"\nurl = "http://x'), "28: bots[3].url: is given as well as"),
    (('url = "http://127.0.0.1:9000"', "connect = false"), "22: bots[2].command: is missing; writ"),
    (("./third --fast", './third"\ntoken = "abc" #"'), "28: bots[3].token: is for a bot by url on"),
    (("./third --fast", './third"\nmax_matches = 2 #"'), "28: bots[3].max_matches: is for a bot"),
    (("[clock]", "[stop]\ntop = 3\n[clock]"), "12: stop.top: must be less than the number of bots"),
    (("[clock]", "[stop]\nconfidence = 0.9\n[clock]"), "11: stop.top: is missing; write how many"),
    (("players = 3", ".".join(["players"] * 1500) + " = 3"), "3: players: must be an integer, not"),
    (("strikes = 3", f"{'x' * 5000} = 1"), f"16: faults.{'x' * 59}…: unknown key; there"),
    (('seed = "2026-spring"', "commit = yes"), "4: commit: is not valid TOML: "),
    (("[clock]", "[clock"), "11: clock: is not valid TOML: "),
    (("[run]", "[clock]"), "17: clock: is not valid TOML: Cannot declare"),
    (("bank_ms", "move_ms"), "13: clock.move_ms: is not valid TOML: "),
    (('"rotations"', '"rotations'), "10: format.seating: is not valid TOML: "),
    (("deals = 40", "seeds = ["), "9: format.seeds: is not valid TOML: "),
    (("deals = 40", "deals: 40"), "9: TOML: is not valid TOML: "),
    (("./third --fast", ".\\qhird"), "27: bots[3].command: is not valid TOML: "),
    (("players = 3", "players = " + "9" * 5000), "3: players: has a number that is too long, or"),
    (("deals = 1\n", "deals = " + "[" * 5000), "6: options.deals: has a number that is too long, "),
]


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


EXAMPLES = ROOT / "examples"
SCHEMA = Draft7Validator(cup_schema())


def test_the_schema_is_current() -> None:
    Draft7Validator.check_schema(SCHEMA.schema)
    text = (EXAMPLES / "cup.schema.json").read_text()
    assert json.loads(text) == SCHEMA.schema, "run python -m tournament.config.json_schema"


@pytest.mark.parametrize("path", sorted(EXAMPLES.glob("*.toml")), ids=lambda path: str(path.stem))
def test_the_examples_are_valid_and_name_the_schema(path: Path) -> None:
    assert path.read_text().startswith("#:schema cup.schema.json\n")
    SCHEMA.validate(tomllib.loads(path.read_text()))
    read_cup(path)


@pytest.mark.parametrize("change", [change for change, _ in WRONG])
def test_the_schema_refuses_what_the_check_refuses(change: tuple[str, str]) -> None:
    assert SCHEMA.is_valid(tomllib.loads(GOOD))
    assert not SCHEMA.is_valid(tomllib.loads(GOOD.replace(*change, 1)))
