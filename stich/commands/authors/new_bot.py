"""`stich new-bot`: copy a starter kit."""

import json
import shlex
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import click

from bots.kits import Kit, KitError, catalogue, find
from stich.commands import option
from tournament.text import printable


class _WithProgram(click.Command):
    """A command that takes the words after `--` as its argument `program`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        rest = super().parse_args(ctx, args[:end])
        ctx.params["program"] = args[end + 1 :]
        return rest


@click.command("new-bot", cls=_WithProgram)
@click.argument("language", required=False)
@click.argument("directory", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@option.flag("--list", "listing", help="List the languages and what each needs.")
@option.flag("--json", "as_json", help="With --list: print JSON.")
def new_bot(
    language: str | None, directory: Path | None, listing: bool, as_json: bool, program: list[str]
) -> None:
    """Copy a working starter bot into DIR, which must be new or empty.

    With `-- PROGRAM ...`, LANGUAGE is a platform such as botzone, and the bot is an adapter for a
    Dou Dizhu program that was written for this platform. Files that PROGRAM ... names by relative
    paths are copied into DIR/program. The default DIR is then LANGUAGE-bot.

    \b
    Examples:
      stich new-bot --list
      stich new-bot javascript my-bot
      stich new-bot botzone -- ./their-bot
    """
    if listing:
        kits = catalogue().values()
        click.echo(_as_json(kits) if as_json else _table(kits))
        return
    try:
        kit = find(language or "python")
        if kit.program is not None and directory is None:
            directory = Path(f"{kit.language}-bot")
        if language is None or directory is None:
            raise KitError(
                "Name a language and a directory, as in `stich new-bot python my-bot`; "
                "`stich new-bot --list` lists the languages."
            )
        copied = kit.copy(directory, program)[len(kit.sources) :]
    except KitError as error:
        raise click.UsageError(str(error)) from error
    command = kit.command(directory)
    install = [f"apt-get install {' '.join(kit.missing())}"] if kit.missing() else []
    options = " --option botzone" if kit.program else ""
    steps = {
        "Install what is missing:": install,
        "Build it:": [f"(cd {shlex.quote(str(directory))} && {step})" for step in kit.build],
        "Check that it conforms to the protocol:": [f'stich check --command "{command}"'],
        "Play it against a reference bot:": [
            f'stich duel "{command}" greedy --game doudizhu{options}'
        ],
    }
    if kit.by_url:
        steps = {"Start it, and let it play by its URL, as README.md says:": [command]}
    what = "It chooses its moves in" if kit.program is None else "It starts the program named in"
    click.echo(f"Copied a bot for {kit.title} to {directory}. {what} {kit.decision}.\n")
    if kit.program is not None:
        what = f"Copied {', '.join(copied)}." if copied else "The command names no file here."
        click.echo(f"{what} Put whatever else the program needs in {directory}/program.\n")
    if kit.prepare is not None:
        _prepare(kit.prepare, program)
    for title, lines in steps.items():
        if lines:
            click.echo("\n  ".join([title, *lines]))
    page = "first-bot" if kit.program is None else "adapters"
    click.echo(f"{directory}/docs/{page}.md leads from here to a cup.")


def _prepare(source: str, program: list[str]) -> None:
    """Run `source`, a kit's `prepare` code, with the Python that is the first word of `program`, or
    with this Python if `program` has only one word. Print a warning on standard error if the code
    fails or cannot be started."""
    python = program[0] if len(program) > 1 else sys.executable
    try:
        subprocess.run([python, "-c", source], check=True, capture_output=True, text=True)  # noqa: S603
    except OSError as error:
        click.echo(f"Warning: {python} cannot be started: {error.strerror}.\n", err=True)
    except subprocess.CalledProcessError as error:
        last = (error.stderr.strip().splitlines() or ["no reason given"])[-1]
        click.echo(
            f"Warning: {python} cannot prepare what the program needs ({printable(last)}). Install"
            f" it, then run once: {shlex.join([python, '-c', source])}\n",
            err=True,
        )


def _table(kits: Iterable[Kit]) -> str:
    rows = [("LANGUAGE", "FOR", "DEBIAN PACKAGES", "INSTALLED")]
    for kit in kits:
        missing = " ".join(kit.missing())
        installed = f"missing: {missing}" if missing else "yes"
        rows.append((kit.language, kit.title, " ".join(kit.needs), installed))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)


def _as_json(kits: Iterable[Kit]) -> str:
    names = ("language", "title", "aliases", "decision", "build", "run")
    entries = [
        {name: getattr(kit, name) for name in names}
        | {"packages": [*kit.needs], "missing": kit.missing(), "files": [*kit.sources]}
        for kit in kits
    ]
    return json.dumps(entries, indent=2)
