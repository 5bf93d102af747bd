"""The JavaScript of the table and of replays, by Node's test runner."""

import os
import subprocess
from pathlib import Path

import pytest
from jinja2 import Environment, PackageLoader

from tests.support.prerequisites import needs_node
from web.ui.template_environment import prepare_templates

FOLDER = Path(__file__).parent / "javascript"


@needs_node
@pytest.mark.parametrize("name", ["table", "replay"])
def test_the_scripts_of_the_pages(name: str) -> None:
    environment = Environment(loader=PackageLoader("web.ui"), autoescape=True)
    prepare_templates(environment)
    words = environment.get_template("words.html").render().partition(">")[2].partition("<")[0]
    ran = subprocess.run(
        ["node", "--test", f"{name}.test.mjs"],
        cwd=FOLDER,
        env=os.environ | {"STICH_WORDS": words},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stdout
