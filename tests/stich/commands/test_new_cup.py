"""`stich new-cup`: what it asks, what it writes, and what it refuses."""

import json
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import Draft7Validator

from stich.commands.new_cup import new_cup
from tournament.config.cup import Cup
from tournament.config.parse import read_cup
from tournament.formats.round_robin import Gauntlet
from tournament.formats.swiss import Swiss

BOTS = ("--bot", "a=greedy", "--bot", "b=python bot.py", "--bot", "c=http://127.0.0.1:9000")
CONNECT = ("--bot", "d=connect")


def test_it_asks_the_few_questions(tmp_path: Path) -> None:
    path = tmp_path / "CUP.toml"
    answers = ["Spring cup", "doudizhu", "random=random", "one", "one=python 'x", "one=http://"]
    answers += ["one=greedy", "sense=python -m bots.sensible", ""]
    words = ["--options", "botzone", "--format", "swiss", "--deals", "4"]
    result = CliRunner().invoke(new_cup, [str(path), *words], input="\n".join(answers) + "\n")
    assert result.exit_code == 0, result.output
    assert "write NAME=BOT" in result.output
    assert "python 'x: cannot be split into words" in result.output
    assert "http://: is not the URL of a server" in result.output
    cup = read_cup(path)
    assert (cup.name, cup.game, cup.players) == ("Spring cup", "doudizhu", 3)
    assert cup.format == Swiss(deals=4)
    assert cup.names == ("random", "one", "sense")
    assert cup.seed is None
    assert cup.options["single_round"] is True


def written(path: Path, *words: str) -> Cup:
    """The cup that these options write without questions. Its authors need an arena."""
    result = CliRunner().invoke(new_cup, [str(path), *words])
    assert result.exit_code == 0, result.output
    assert "Run it: stich arena " in result.output
    return read_cup(path)


def test_options_replace_questions_and_the_schema_is_written(tmp_path: Path) -> None:
    path = tmp_path / "CUP.toml"
    words = ("--name", 'A "cup"', "--game", "dasan", "--format", "gauntlet", *BOTS, *CONNECT)
    cup = written(path, *words)
    assert cup.format == Gauntlet(challenger="a", cards="fresh", deals=40)
    assert cup.bots[3].connect
    programs = [bot.command or bot.url for bot in cup.bots[:3]]
    assert programs == ["python -m bots.greedy", "python bot.py", "http://127.0.0.1:9000"]
    text = path.read_text()
    schema = tmp_path / text.splitlines()[0].removeprefix("#:schema ")
    Draft7Validator(json.loads(schema.read_text())).validate(tomllib.loads(text))


def test_a_ladder_is_open_and_needs_one_bot(tmp_path: Path) -> None:
    words = ("--name", "Autumn", "--game", "dasan", "--format", "ladder", "--bot", "greedy=greedy")
    cup = written(tmp_path / "ladder.toml", *words)
    assert (cup.is_ladder, cup.join.open, cup.names) == (True, True, ("greedy",))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--game", "dasan", "--bot", "a"], "write NAME=BOT"),
        (["--game", "dasan", "--format", "ladder", "--deals", "4", *BOTS], "omit --deals"),
        (["--game", "dasan", *BOTS[:2]], "1 is too few for tables of 3"),
        (["--game", "dasan", *BOTS, "--bot", "a=x"], 'bot 1 is "a" too; rename one'),
        (["--game", "doudizhu", "--options", "botzon", *BOTS], '; did you mean "botzone"?'),
    ],
)
def test_what_is_wrong_is_said_and_nothing_written(
    tmp_path: Path, words: list[str], says: str
) -> None:
    result = CliRunner().invoke(new_cup, [str(tmp_path / "CUP.toml"), "--name", "X", *words])
    assert result.exit_code == 2
    assert says in result.output
    assert not list(tmp_path.iterdir())


def test_it_overwrites_nothing(tmp_path: Path) -> None:
    path = tmp_path / "CUP.toml"
    path.write_text("mine")
    result = CliRunner().invoke(new_cup, [str(path), "--name", "X", "--game", "dasan", *BOTS])
    assert result.exit_code == 2
    assert "exists already" in result.output
    assert path.read_text() == "mine"
