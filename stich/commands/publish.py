"""`stich publish`: everything that the organiser of a finished run publishes, in one folder."""

from __future__ import annotations

import hashlib
from pathlib import Path

import click

from stich.commands.common import (
    cannot_write,
    json_option,
    open_run,
    print_json,
    run_argument,
    run_command,
)
from tournament.paths import STORE_FILE
from tournament.results.export import export
from tournament.store.engine import StoreError, is_database_url
from tournament.store.reader import StoreReader
from web.report import report

_TEXT = """\
{name}

Seed: {seed}{commitment}
Key of the organiser: {signer}

Check the run with `stich verify` on this folder. It deals every match again from the seed, replays
it and recomputes every score. The key that it names must be the one above.{committed}
"""
_COMMITTED = " The seed must be the one whose SHA-256 was announced before the first deal."


@click.command()
@run_argument
@click.option(
    "-o",
    "--out",
    metavar="FOLDER",
    type=click.Path(),
    help="The new folder; DIR/published by default.",
)
@json_option
@run_command
def publish(target: str, out: str | None, as_json: bool) -> int:
    """Make what is published of a finished run: the run, its report, its results, and a text.

    \b
    Example:
      stich publish runs/spring -o spring
    """
    folder = Path(out or ("published" if is_database_url(target) else Path(target) / "published"))
    with open_run(target) as run, run.snapshot() as store:
        if not store.get("finished"):
            raise StoreError(f"{store.where}: has not ended, so its seed must stay secret.")
        if not store.is_signed():
            raise StoreError(f"{store.where}: was changed since it was signed; see `stich verify`.")
        try:
            folder.mkdir(parents=True)
            files = _write(store, folder)
        except FileExistsError:
            click.echo(f"{folder}: exists; remove it, or name another folder by --out.", err=True)
            return 1
        except OSError as error:
            return cannot_write(str(folder), error)
    if as_json:
        print_json({"folder": str(folder), "files": files})
    else:
        click.echo((folder / "ANNOUNCEMENT.txt").read_text(encoding="utf-8"))
        click.echo(f"All of it is in {folder}")
    return 0


def _write(store: StoreReader, folder: Path) -> dict[str, str]:
    """The SHA-256 of each file."""
    facts = store.facts()
    digest = facts.get("commitment")
    text = _TEXT.format(
        name=facts["name"],
        seed=facts["seed"],
        signer=facts["signer"],
        commitment=f"\nSHA-256 of the seed: {digest}" if digest else "",
        committed=_COMMITTED if digest else "",
    )
    store.copy_to(folder / STORE_FILE)
    (folder / "report.html").write_text(report(store), encoding="utf-8")
    with (folder / "results.csv").open("wb") as file:
        export(store, "csv", file)
    (folder / "ANNOUNCEMENT.txt").write_text(text, encoding="utf-8")
    files = {}
    for path in sorted(folder.iterdir()):
        with path.open("rb") as file:
            files[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    sums = "".join(f"{digest}  {name}\n" for name, digest in files.items())
    (folder / "SHA256SUMS").write_text(sums, encoding="utf-8")
    return files
