import json
import re
from pathlib import Path

import click
import pytest

import games
from stich.cli import cli
from tests.support.pages import blocks
from tournament.config.parse import parse_cup

DOCS = Path(__file__).parents[3] / "docs"
FIELDS = re.compile(r"<!-- fields ([a-z]+) -->\n\n(.*?)\n\n", re.DOTALL)
EXAMPLE = re.compile(r"<!-- example [a-z0-9-]+ -->\n```json\n(.*?)```", re.DOTALL)


@pytest.mark.parametrize("name", games.GAMES)
def test_every_field_of_every_view_is_explained_once(name: str) -> None:
    row = re.compile(r"^\| `([a-z_]+)` \|", re.MULTILINE)
    tables = dict(FIELDS.findall((DOCS / "views.md").read_text()))
    shared = ["common"] if name == "ninefivetwo" else ["common", "climbing"]
    parts = [set(row.findall(tables[table])) for table in (*shared, name)]
    game = games.get(name)
    for players in range(game.min_players, game.max_players + 1):
        view = game.start(players, "fields", {}).view(0).to_dict()
        assert set().union(*parts) == set(view)
    assert sum(map(len, parts)) == len(set().union(*parts))


@pytest.mark.parametrize("page", ["views.md", "bots.md"])
def test_the_examples_are_views_with_their_legal_moves(page: str) -> None:
    examples = EXAMPLE.findall((DOCS / page).read_text("utf-8"))
    assert examples
    for example in map(json.loads, examples):
        wire = example.get("view", example)
        view = games.get(wire["game"]).view(wire)
        assert view.to_dict() == wire
        if "moves" in example:
            assert view.moves().texts() == example["moves"]


def test_the_commands_on_the_pages_exist_with_their_options() -> None:
    pages = [DOCS / page for page in ("bots.md", "first-bot.md", "adapters.md")]
    pages += (DOCS.parent / "bots" / "kits").glob("*/README.md")
    text = "\n".join(page.read_text() for page in pages)
    lines = re.findall(r"^    stich (.*?)(?:  #.*)?$", text, re.MULTILINE)
    assert len(lines) > 10
    for line in lines:
        command = cli.get_command(click.Context(cli), line.split()[0])
        if isinstance(command, click.Group):  # without a command of its own, the first is meant
            command = command.commands["measure"]
        assert command is not None, line
        known = {option for parameter in command.params for option in parameter.opts}
        assert set(re.findall(r" (--[a-z-]+)", line)) <= known, line


def test_the_first_cup_is_a_cup() -> None:
    (block,) = blocks("docs/first-bot.md", "toml")
    cup = parse_cup(block.encode(), "first.toml")
    assert [bot.name for bot in cup.bots] == ["mine", "greedy", "random"]
