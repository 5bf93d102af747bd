"""`stich new-bot`: copy a starter bot in the language of your choice."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from bots.kits import Kit, KitError, catalogue, find


def _listing(kits: dict[str, Kit]) -> str:
    rows = [("LANGUAGE", "FOR", "DEBIAN PACKAGES", "INSTALLED")]
    for kit in kits.values():
        missing = " ".join(kit.missing())
        installed = f"missing: {missing}" if missing else "yes"
        rows.append((kit.language, kit.title, " ".join(kit.packages), installed))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def _as_json(kits: dict[str, Kit]) -> str:
    return json.dumps(
        [
            {
                "language": kit.language,
                "title": kit.title,
                "aliases": kit.aliases,
                "packages": kit.packages,
                "missing": kit.missing(),
                "files": list(kit.sources),
                "decision": kit.decision,
                "build": kit.build,
                "run": kit.run,
            }
            for kit in kits.values()
        ],
        indent=2,
    )


def _next_steps(kit: Kit, target: Path) -> str:
    what = "It chooses its moves in" if kit.program is None else "It starts the program named in"
    lines = [f"Copied a bot for {kit.title} to {target}. {what} {kit.decision}."]
    missing = kit.missing()
    if missing:
        lines += [
            "",
            "Install what is missing:",
            f"  apt-get install {' '.join(missing)}",
        ]
    if kit.build:
        lines += [
            "",
            "Build it:",
            *(f"  (cd {shlex.quote(str(target))} && {step})" for step in kit.build),
        ]
    command = kit.command(target)
    lines += [
        "",
        "Check that it conforms to the protocol:",
        f'  stich check --command "{command}"',
        "Play it against a reference bot:",
        f'  stich duel "{command}" greedy --game doudizhu',
        "Enter it in a cup, in its CUP.toml:",
        "  [[bots]]",
        '  name = "mine"',
        f"  command = {json.dumps(command)}",
    ]
    return "\n".join(lines)


def _languages(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the name of a language."""
    return [
        CompletionItem(kit.language, help=kit.title)
        for kit in catalogue().values()
        if kit.language.startswith(incomplete)
    ]


class _WithProgram(click.Command):
    """A command that may end with `--` and the words of a `program`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the words before `--`, so that a program is not taken for a directory."""
        end = args.index("--") if "--" in args else len(args)
        rest = super().parse_args(ctx, args[:end])
        ctx.params["program"] = args[end + 1 :]
        return rest


@click.command("new-bot", cls=_WithProgram)
@click.argument("language", required=False, shell_complete=_languages)
@click.argument("directory", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@click.option("--list", "listing", is_flag=True, help="List the languages and what each needs.")
@click.option("--json", "as_json", is_flag=True, help="With --list: print JSON.")
def new_bot(
    language: str | None,
    directory: Path | None,
    listing: bool,
    as_json: bool,
    program: list[str],
) -> None:
    """Copy a working starter bot into DIR, which must be new or empty; or, with `-- PROGRAM ...`,
    put one in front of a Dou Dizhu program that was written for another platform.

    \b
    Examples:
      stich new-bot --list
      stich new-bot javascript my-bot
      stich new-bot botzone -- ./their-bot
    """
    if listing:
        kits = catalogue()
        click.echo(_as_json(kits) if as_json else _listing(kits))
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
        kit.copy(directory, program)
    except KitError as error:
        raise click.UsageError(str(error)) from error
    click.echo(_next_steps(kit, directory))
