"""Clients that the generators of docs/api.md make of openapi.yaml play whole games."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import games
from tests.support import npm
from tests.support.service.contract import ROOT
from tests.support.service.running import Running
from tests.support.service.running import running as running

pytestmark = pytest.mark.slow
HERE = Path(__file__).parent
PAGE = (ROOT / "docs" / "api.md").read_text("utf-8")
COMMANDS = re.findall(r"^(?:openapi-\S+ generate|npx) .*$", PAGE, re.MULTILINE)
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
JARS = Path("/usr/share/java")
JACKSON = [JARS / f"jackson-{part}.jar" for part in ("annotations", "core", "databind")]
EXPECTED_WARNINGS = re.compile(
    # openapi-generator has these for any contract that is OpenAPI 3.1, has answers that may gain
    # fields (`additionalProperties: true`), examples of bodies (Java), or words of Rust as names.
    r"support is still in beta|Failed to get the schema name: null|Ignoring complex example"
    r"|^npm warn|cannot be used as an? [a-z/ ]+ name"
)


def run(folder: Path, *command: str) -> str:
    python_path = f"{folder}{os.pathsep}{folder / 'python-client'}"
    environ = {**os.environ, "PATH": PATH, "NO_COLOR": "1", "PYTHONPATH": python_path}
    done = subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True)
    assert done.returncode == 0, (command, done.stdout[-5000:], done.stderr[-5000:])
    return done.stdout + done.stderr


def tool(name: str, reason: str) -> str:
    return shutil.which(name, path=PATH) or pytest.skip(reason)


def generate(folder: Path, words: str) -> None:
    """Run the command of the page with these words, in a folder to which the contract is copied."""
    (command,) = [line for line in COMMANDS if words in line]
    program = command.split()[0]
    tool(program, f"needs {program}: make test-clients installs it")
    shutil.copy(ROOT / "openapi.yaml", folder)
    output = run(folder, *command.split())
    warnings = [line for line in output.splitlines() if re.search(r"warn|⚠", line, re.IGNORECASE)]
    assert not [line for line in warnings if not EXPECTED_WARNINGS.search(line)], output


def played(printed: str) -> None:
    """Assert that a client played each game to its end, and that a wrong request was refused."""
    *lines, last = [json.loads(line) for line in printed.splitlines() if line.startswith("{")]
    assert [line["game"] for line in lines] == list(games.GAMES)
    for line in lines:
        assert line["results"] == 1
        assert len(line["scores"]) == games.get(line["game"]).min_players
    assert last == {"code": "invalid-request"}


def test_every_command_of_the_page_is_run() -> None:
    words = [*TYPESCRIPT.values(), *PYTHON]
    words += [f"-g {language}" for language in ("java ", "go ", *CONTAINERS)]
    assert [sum(part in command for command in COMMANDS) for part in words] == [1] * len(COMMANDS)


TYPESCRIPT = {name: name for name in ("openapi-typescript", "orval")}
TYPESCRIPT |= {"hey-api": "openapi-ts ", "typescript-fetch": "-g typescript-fetch"}


@pytest.fixture(scope="module")
def node_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the generators of npm and the programs that use their clients."""
    return npm.installed(HERE / "typescript", tmp_path_factory.mktemp("typescript"))


@pytest.mark.parametrize("name", TYPESCRIPT)
def test_typescript(running: Running, node_project: Path, name: str) -> None:
    generate(node_project, TYPESCRIPT[name])
    run(node_project, "npx", "tsc", "--project", f"tsconfig.{name}.json")
    bundling = ("--bundle", "--platform=node", "--format=esm", f"--outfile=out/{name}.mjs")
    run(node_project, "npx", "esbuild", f"{name}.ts", *bundling)
    played(run(node_project, "node", f"out/{name}.mjs", running.url))


PYTHON = {"openapi-python-client": "openapi_python_client.py", "-g python": "openapi_generator.py"}


@pytest.mark.parametrize(("words", "program"), PYTHON.items())
def test_python(running: Running, tmp_path: Path, words: str, program: str) -> None:
    generate(tmp_path, words)
    generator = Path(tool("openapi-generator-cli", "")) if "-g" in words else Path(sys.executable)
    python = str(generator.with_name("python"))
    played(run(tmp_path, python, str(HERE / "python" / program), running.url))


def test_go(running: Running, tmp_path: Path) -> None:
    go = tool("go", "needs Go: apt install golang-go")
    generate(tmp_path, "-g go")
    shutil.copytree(HERE / "go", tmp_path / "play")
    run(tmp_path / "play", go, "build", "-mod=mod", "-o", "play", ".")
    played(run(tmp_path / "play", "./play", running.url))


def test_java(running: Running, tmp_path: Path) -> None:
    javac = tool("javac", "needs a JDK: apt install default-jdk-headless")
    if not all(jar.exists() for jar in JACKSON):
        pytest.skip("needs Jackson: apt install libjackson2-databind-java")
    generate(tmp_path, "-g java")
    folders = tmp_path / "java-client/src/main", HERE / "java"
    sources = [str(path) for folder in folders for path in folder.rglob("*.java")]
    jars = os.pathsep.join(map(str, JACKSON))
    run(tmp_path, javac, "-nowarn", "-d", "classes", "-cp", jars, *sources)
    played(run(tmp_path, "java", "-cp", f"classes{os.pathsep}{jars}", "Play", running.url))


CONTAINERS = {
    "rust": ("docker.io/library/rust:1.91-bookworm", "cargo run --quiet --"),
    "kotlin": ("docker.io/library/gradle:8.14-jdk21", "gradle --quiet --console=plain run --args"),
    "csharp": ("mcr.microsoft.com/dotnet/sdk:8.0", "dotnet run --verbosity quiet --"),
}
"""By language, the image that compiles its client, and how."""


@pytest.mark.parametrize("language", CONTAINERS)
def test_in_a_container(running: Running, tmp_path: Path, language: str) -> None:
    generate(tmp_path, f"-g {language}")
    assert list((tmp_path / f"{language}-client").rglob("*tate.*")), "it has models"
    if os.environ.get("STICH_CONTAINERS") != "1":
        pytest.skip("generated only: compiled in containers with STICH_CONTAINERS=1, every night")
    image, command = CONTAINERS[language]
    shutil.copytree(HERE / language, tmp_path / "play")
    options = ("--rm", "--network", "host", "--volume", f"{tmp_path}:/work", "--workdir")
    inside = ("/work/play", image, "sh", "-c", f"{command} {running.url}")
    played(run(tmp_path, "docker", "run", *options, *inside))
