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
    lines = [f"Copied a bot for {kit.title} to {target}. It chooses its moves in {kit.decision}."]
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
    if kit.by_url:
        lines += ["", f"Start it, and let it play by its URL, as {target / 'README.md'} says:"]
        return "\n".join([*lines, f"  {command}"])
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


@click.command("new-bot")
@click.argument("language", required=False, shell_complete=_languages)
@click.argument("directory", metavar="[DIR]", required=False, type=click.Path(path_type=Path))
@click.option("--list", "listing", is_flag=True, help="List the languages and what each needs.")
@click.option("--json", "as_json", is_flag=True, help="With --list: print JSON.")
def new_bot(language: str | None, directory: Path | None, listing: bool, as_json: bool) -> None:
    """Copy a working starter bot into DIR, which must be new or empty.

    \b
    Examples:
      stich new-bot --list
      stich new-bot javascript my-bot
    """
    if listing:
        kits = catalogue()
        click.echo(_as_json(kits) if as_json else _listing(kits))
        return
    if language is None or directory is None:
        raise click.UsageError(
            "Name a language and a directory, as in `stich new-bot python my-bot`; "
            "`stich new-bot --list` lists the languages."
        )
    try:
        kit = find(language)
        kit.copy(directory)
    except KitError as error:
        raise click.UsageError(str(error)) from error
    click.echo(_next_steps(kit, directory))
