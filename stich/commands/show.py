"""The commands that read a run: standings, matches, verify, export, report."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress

from tournament.records import FaultKind, MatchSummary
from tournament.store.store import Store, StoreError, StoreUrlError, is_url
from tournament.text import plural, screen

_KINDS = tuple(str(kind) for kind in FaultKind)


def told(work: Callable[[], int]) -> int:
    """The exit code of some work; what the store refuses is said, with exit code 1, or 2 for
    what is no store at all."""
    try:
        return work()
    except StoreUrlError as error:
        click.echo(str(error), err=True)
        return 2
    except StoreError as error:
        click.echo(str(error), err=True)
    except BrokenPipeError:
        pass  # the reader has seen enough
    except KeyboardInterrupt:
        click.echo("Stopped.", err=True)
    return 1


@contextmanager
def run_in(target: str) -> Iterator[Store]:
    """The store of a run that has begun; StoreError where there is none."""
    with Store.open(target) as store:
        if "config" not in store.facts():
            why = "has matches, but not the cup that they are of; put a whole copy back"
            if not store.count():
                why = "its run was stopped before it had begun; run the cup again"
            raise StoreError(f"{store.where}: {why}.")
        yield store


def show_standings(target: str, as_json: bool) -> int:
    """The table of a run."""
    with run_in(target) as store:
        if as_json:
            click.echo(json.dumps(standings_dict(store), ensure_ascii=False))
        else:
            print_standings(store, screen())
    return 0


def standings_dict(store: Store) -> dict[str, Any]:
    """The table for machines; with `places`, best first, where a knockout has decided them."""
    from tournament.results.standings import standings  # numpy and scipy take a second

    places = store.get("places")
    return {**standings(store).to_dict(), **({"places": places} if places else {})}


def print_standings(store: Store, console: Console) -> None:
    """The table on a console."""
    from stich.console.standings_table import standings_table
    from tournament.results.standings import standings

    console.print(standings_table(standings(store), store.get("total")))
    places = store.get("places")
    if places:
        ranked = ", ".join(f"{i}. {name}" for i, name in enumerate(places, 1))
        console.print(f"Places of the knockout: {ranked}", highlight=False, markup=False)


def show_matches(target: str, as_json: bool, faulty: bool, bot: str | None) -> int:
    """One line a match."""
    with run_in(target) as store:
        if bot is not None and bot not in store.get("bots", ()):
            raise StoreError(
                f"There is no bot {bot}; there are {', '.join(store.get('bots', ()))}."
            )
        found = _wanted(store.summaries(), faulty, bot)
        if as_json:
            for match in found:
                click.echo(json.dumps(_match(match), ensure_ascii=False))
        else:
            _table(found)
    return 0


def _wanted(
    matches: Iterable[MatchSummary], faulty: bool, bot: str | None
) -> Iterable[MatchSummary]:
    for match in matches:
        if (bot is None or bot in match.seating) and not (faulty and not _many(match)):
            yield match


def _many(match: MatchSummary) -> int:
    return sum(map(sum, match.faults))


def _match(match: MatchSummary) -> dict[str, Any]:
    return {
        "match": match.match,
        "block": match.block,
        "round": match.round,
        "stage": match.stage,
        "seating": match.seating,
        "scores": match.scores,
        "adjusted": match.adjusted,
        "deals": match.deals,
        "struck": match.struck,
        "faults": [dict(zip(_KINDS, counts, strict=True)) for counts in match.faults],
    }


def _table(matches: Iterable[MatchSummary]) -> None:
    """Printed in parts, so that a long run needs no memory."""
    out = sys.stdout
    out.write("match             block  bots by seat, with their scores\n")
    for match in matches:
        seats = []
        for seat, bot in enumerate(match.seating):
            text = f"{bot} {match.adjusted[seat]:+d}"
            faults = sum(match.faults[seat])
            if seat in match.struck:
                text += " (struck out)"
            elif faults:
                text += f" ({plural(faults, 'fault')})"
            seats.append(text)
        stage = f" [{match.stage}]" if match.stage else ""
        out.write(f"{match.match}  {match.block:5d}  {', '.join(seats)}{stage}\n")


def _disagreeing(count: int) -> str:
    return f"{count} {'does' if count == 1 else 'do'} not agree"


def verify_run(target: str, as_json: bool) -> int:
    """Recompute a run; exit code 1 if something does not agree."""
    from tournament.results.verify import verify

    console = Console(stderr=True)
    bar = Progress(console=console, disable=not console.is_terminal)
    with run_in(target) as store, bar as progress:
        total = store.get("total", 0)
        task = progress.add_task("Verifying", total=store.count())
        found = verify(store, lambda done: progress.update(task, completed=done))
    if as_json:
        click.echo(json.dumps(found.to_dict(), ensure_ascii=False))
        return 0 if found.verified else 1
    for problem in found.mismatches:
        click.echo(f"{problem.match or 'run'}: {problem.detail}")
    click.echo(
        f"{plural(found.matches, 'match', 'matches')} of {plural(found.blocks, 'block')},"
        f" {plural(found.deals, 'deal')} and {plural(found.moves, 'move')} recomputed: "
        + ("all agree." if found.verified else f"{_disagreeing(len(found.mismatches))}.")
    )
    if not found.finished:
        click.echo(
            f"The run has not ended: {found.matches} of {plural(total, 'match', 'matches')}."
        )
    if found.commitment is not None:
        kept = "is the one" if found.commitment else "is NOT the one"
        click.echo(f"The seed {kept} that was committed to.")
    return 0 if found.verified else 1


def export_run(target: str, format: str, out: str | None, as_json: bool) -> int:
    """Results for other programs."""
    from tournament.results.export import ExportError, export

    if out is None and as_json:
        click.echo("--json tells of the file that -o names; name one, or leave it out.", err=True)
        return 2
    if out is None and format == "parquet" and sys.stdout.isatty():
        click.echo("Parquet is not for a terminal; name a file with -o FILE.parquet.", err=True)
        return 1
    try:
        with run_in(target) as store:
            if out is None:
                export(store, format, sys.stdout.buffer)
                return 0
            with open(out, "wb") as file:
                rows = export(store, format, file)
    except ExportError as error:
        click.echo(str(error), err=True)
        return 1
    except OSError as error:
        if out is None:
            raise
        click.echo(f"{out}: cannot be written: {error.strerror}; name another file.", err=True)
        return 1
    if as_json:
        _tell(file=out, format=format, rows=rows)
    else:
        click.echo(f"{plural(rows, 'row')} in {out}", err=True)
    return 0


def report_run(target: str, out: str | None, replays: int, as_json: bool) -> int:
    """One self-contained page."""
    from tournament.results.report import report

    if out is None:
        out = "report.html" if is_url(target) else str(Path(target) / "report.html")
    with run_in(target) as store:
        page, count = report(store, replays), store.count()
    try:
        Path(out).write_text(page, encoding="utf-8")
    except OSError as error:
        click.echo(f"{out}: cannot be written: {error.strerror}; name another file.", err=True)
        return 1
    if as_json:
        _tell(file=out, matches=count)
    else:
        click.echo(f"The report is in {out}")
    return 0


def _tell(**facts: str | int) -> None:
    click.echo(json.dumps(facts, ensure_ascii=False))
