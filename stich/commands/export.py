"""`stich export`, `report` and `publish`: write a run to files for others."""

import sys
from functools import partial
from pathlib import Path

import click

from stich.commands import option, runs
from stich.commands.common import command, print_json, refuse, writing
from tournament.paths import STORE_FILE
from tournament.results.files.export import FORMATS
from tournament.results.files.export import export as write_rows
from tournament.results.published import ANNOUNCEMENT_FILE, RESULTS_FILE, sign_files
from tournament.results.standings import standings
from tournament.store.chain import ChainBroken
from tournament.store.engine import StoreError, is_database_url
from tournament.store.reader import StoreReader
from tournament.store.signing import make_key
from tournament.text import plural
from web.report import report as make_report
from web.ui.plots import preview as make_preview

_TEXT = """\
{name}

Seed: {seed}{commitment}
Key of the organiser: {signer}

Check the run with `stich verify` on this folder. It deals every match again from the seed, replays
it and recomputes every score. The key that it names must be the key above.{committed}
"""
_COMMITTED = " The seed must be the one whose SHA-256 was announced before the first deal."


def _check_out(ctx: click.Context, param: click.Parameter, out: str | None) -> str | None:
    """Return the path that --out names, or None. Raise BadParameter for the store of a run."""
    if out is not None and Path(out).name == STORE_FILE:
        raise click.BadParameter(f"{out} is the store of a run; name another file.")
    return out


_out_option = partial(click.option, "-o", "--out", type=click.Path(), callback=_check_out)


@command
@runs.matches_argument
@click.option(
    "--format",
    type=click.Choice(FORMATS),
    default="csv",
    show_default=True,
    help="What to write, and in which form; see above.",
)
@_out_option(metavar="FILE", help="The file to write. By default, standard output.")
@option.flag("--json", "as_json", help="With -o: print the file and its number of rows as JSON.")
def export(target: str, format: str, out: str | None, as_json: bool) -> None:
    """Export a run for other programs.

    The formats csv, jsonl and parquet have one row for each seat of each match, without the tables
    of disqualified bots. The format matches has one match per line, as JSON: all commands that read
    a run also read such a file. The format decisions has one row for each move that a bot was asked
    for, as training data. These rows are written as JSON Lines on standard output and to a
    FILE.jsonl, and otherwise as Parquet. Until the run is finished, matches and decisions leave out
    unfinished blocks, whose cards are still secret.

    \b
    Examples:
      stich export runs/spring --format parquet -o spring.parquet
      stich export runs/spring --format matches -o spring.jsonl
    """
    if out is None and as_json:
        refuse("--json describes the file named by -o; name one, or omit --json.", 2)
    if out is None and format == "parquet" and sys.stdout.isatty():
        refuse("Parquet is binary; name a file with -o FILE.parquet.", 2)
    with runs.read_run(target) as store:
        if out is None:
            if not write_rows(store, format, sys.stdout.buffer, text=True):
                click.echo("There are no rows: no block that counts has finished.", err=True)
            return
        with writing(out), open(out, "wb") as file:
            rows = write_rows(store, format, file, text=out.endswith(".jsonl"))
    if as_json:
        print_json({"file": out, "format": format, "rows": rows})
    else:
        count = plural(rows, "match", "matches") if format == "matches" else plural(rows, "row")
        click.echo(f"{count} in {out}", err=True)


@command
@runs.matches_argument
@_out_option(
    metavar="FILE.html",
    help="The file to write. By default, report.html in DIR, or for a FILE in the current folder.",
)
@option.number("--replays", 0, 10_000, 200, "Matches to include move by move, at most.")
@option.flag(
    "--organiser", help="Also show which bots may go easy on each other, which is not for sharing."
)
@option.json_output
def report(target: str, out: str | None, replays: int, organiser: bool, as_json: bool) -> None:
    """Write a report as one self-contained HTML page: winners, standings, plots and replays.

    \b
    Example:
      stich report runs/spring -o spring.html --replays 50
    """
    if out is None:
        has_folder = not (is_database_url(target) or runs.is_file(target))
        out = str(Path(target if has_folder else "") / "report.html")
    with runs.read_run(target) as store:
        page, count = make_report(store, replays, organiser=organiser), store.count()
    with writing(out):
        Path(out).write_text(page, encoding="utf-8")
    if as_json:
        print_json({"file": out, "matches": count})
    else:
        click.echo(f"The report is in {out}")


@command
@runs.run_argument
@_out_option(metavar="FOLDER", help="The new folder. By default, DIR/published.")
@click.option(
    "--url",
    type=option.as_url,
    metavar="URL",
    help="The future address of the folder on the web. Links to its report then show a preview.",
)
@option.json_output
def publish(target: str, out: str | None, url: str | None, as_json: bool) -> None:
    """Prepare a folder to publish: run, report, results, announcement, and a signed list of files.

    FOLDER must be new. The run must have ended, been signed with your key, and not changed since.

    \b
    Example:
      stich publish runs/spring -o spring --url https://example.org/spring
    """
    folder = Path(out or ("published" if is_database_url(target) else Path(target) / "published"))
    with runs.open_run(target) as run, run.snapshot() as store:
        if not store.run().finished:
            raise StoreError(f"{store.where}: has not ended, so its seed must stay secret.")
        try:
            intact = store.is_signed() and all(store.walk())
        except ChainBroken:
            intact = False
        if not intact:
            raise StoreError(f"{store.where}: has changed since it was signed; see `stich verify`.")
        key = make_key()
        if key.public != store.run().signer:
            raise StoreError(
                f"{store.where}: was signed by {store.run().signer}, which is not your key; only"
                " the user who signed the run can sign the list of the published files."
            )
        if folder.exists():
            refuse(f"{folder}: exists; remove it, or name another folder by --out.")
        with writing(folder):
            folder.mkdir(parents=True)
            _write(store, folder, url)
            files = sign_files(folder, store.run().id, key)
    if as_json:
        print_json({"folder": str(folder), "files": files})
    else:
        click.echo((folder / ANNOUNCEMENT_FILE).read_text(encoding="utf-8"))
        click.echo(f"All files are in {folder}")


def _write(store: StoreReader, folder: Path, url: str | None) -> None:
    """Write the files of a published run, except the signed list of files, into an empty folder.
    `url` is the future address of the folder. If it is None, links to the report show no preview.

    Raises:
        ReplayError, games.OptionError, games.UnknownGame: if a match in the report cannot be
            replayed.
        StoreError: if the store cannot be read.
        OSError: if a file cannot be written.
    """
    run = store.run()
    digest = run.commitment
    text = _TEXT.format(
        name=run.cup.name,
        seed=run.seed,
        signer=run.signer,
        commitment=f"\nSHA-256 of the seed: {digest}" if digest else "",
        committed=_COMMITTED if digest else "",
    )
    store.copy_to(folder / STORE_FILE)
    page = make_report(store, preview=f"{url.rstrip('/')}/preview.png" if url else "")
    for name in ("report.html", "index.html"):  # a web server shows index.html for the folder
        (folder / name).write_text(page, encoding="utf-8")
    if url:
        (folder / "preview.png").write_bytes(make_preview(standings(store)))
    with (folder / RESULTS_FILE).open("wb") as file:
        write_rows(store, "csv", file)
    (folder / ANNOUNCEMENT_FILE).write_text(text, encoding="utf-8")
