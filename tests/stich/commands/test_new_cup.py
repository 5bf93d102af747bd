import json
import re
import shlex
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft7Validator

from tests.support.tournament.cups import code_and_text, stich, succeed
from tournament.config.cup import Cup
from tournament.config.parse import read_cup
from tournament.formats.round_robin import Gauntlet
from tournament.formats.swiss import Swiss

BOTS = ("--bot", "a=greedy", "--bot", "b=python bot.py", "--bot", "c=http://127.0.0.1:9000")
DASAN = ("--name", 'A "cup"', "--game", "dasan")


def test_it_asks_the_few_questions(tmp_path: Path) -> None:
    path = tmp_path / "CUP.toml"
    answers = ["Spring cup", "doudizhu", "random=random", "one", "one=python 'x", "one=http://"]
    answers += ["one=greedy", "sense=python -m bots.sensible", ""]
    words = ("--format", "swiss", "--deals", "4")
    done = stich("new-cup", path, *words, input="\n".join(answers) + "\n")
    assert done.returncode == 0, done.stderr
    for says in ("write NAME=BOT", "'x: cannot be split into words", "http://: is not the URL of"):
        assert says in done.stdout
    cup = read_cup(path)
    assert (cup.name, cup.game, cup.players, cup.seed) == ("Spring cup", "doudizhu", 3, None)
    assert (cup.format, cup.names) == (Swiss(deals=4), ("random", "one", "sense"))


def written(path: Path, *words: str) -> Cup:
    assert "Run it: stich arena " in succeed("new-cup", path, *DASAN, *words).stdout
    return read_cup(path)


def test_options_replace_questions_and_the_schema_is_written(tmp_path: Path) -> None:
    path = tmp_path / "CUP.toml"
    cup = written(path, "--format", "gauntlet", *BOTS, "--bot", "d=connect")
    assert (cup.name, cup.format) == ('A "cup"', Gauntlet(challenger="a", cards="fresh", deals=40))
    programs = [bot.command or bot.url or bot.connect for bot in cup.bots]
    assert programs == ["python -m bots.greedy", "python bot.py", "http://127.0.0.1:9000", True]
    text = path.read_text()
    schema = tmp_path / text.splitlines()[0].removeprefix("#:schema ")
    Draft7Validator(json.loads(schema.read_text())).validate(tomllib.loads(text))
    example = re.findall("new-cup CUP.toml (--.*)", succeed("new-cup", "--help").stdout)[0]
    succeed("new-cup", tmp_path / "example.toml", *shlex.split(example))


def test_a_ladder_is_open_and_needs_one_bot(tmp_path: Path) -> None:
    cup = written(tmp_path / "ladder.toml", "--format", "ladder", "--bot", "greedy=greedy")
    assert (cup.is_ladder, cup.join.open, cup.names) == (True, True, ("greedy",))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--bot", "a"], "write NAME=BOT"),
        (["--format", "ladder", "--deals", "4", *BOTS], "omit --deals"),
        (BOTS[:2], "1 is too few for tables of 3"),
        ([*BOTS, "--bot", "a=x"], 'bot 1 is "a" too; rename one'),
        ((), "old.toml exists already"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_written(
    tmp_path: Path, words: list[str], says: str
) -> None:
    old = tmp_path / "old.toml"
    old.write_text("mine")
    new = (tmp_path / "CUP.toml", *DASAN)
    code, text = code_and_text("new-cup", *((old,) if "exists" in says else new), *words)
    assert (code, says in text) == (2, True), text
    assert (list(tmp_path.iterdir()), old.read_text()) == ([old], "mine")
