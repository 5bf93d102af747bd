"""`stich verify`: every deal and score of a run, computed again."""

from __future__ import annotations

import click

from stich.commands.common import (
    is_file,
    json_option,
    matches_argument,
    print_json,
    read_run,
    run_command,
)
from tournament.text import plural


@click.command()
@matches_argument
@json_option
@run_command
def verify(target: str, as_json: bool) -> int:
    """Recompute every deal, move and score of a run from its store alone, or of a file of matches.

    Exits with 1 if anything does not match.

    \b
    Examples:
      stich verify runs/spring
      stich verify spring.jsonl
    """
    from rich.console import Console
    from rich.progress import Progress

    from tournament.results.verify import verify, verify_matches

    console = Console(stderr=True)
    with (
        read_run(target, any_moves=True) as store,
        Progress(console=console, disable=not console.is_terminal) as progress,
    ):
        total = store.get("total", 0)
        task = progress.add_task("Verifying", total=store.count())
        check = verify_matches if is_file(target) else verify
        found = check(store, lambda done: progress.update(task, completed=done))
    if as_json:
        print_json(found.to_dict())
        return 0 if found.verified else 1
    for mismatch in found.mismatches:
        click.echo(f"{mismatch.match or 'run'}: {mismatch.detail}")
    differing = len(found.mismatches)
    click.echo(
        f"{plural(found.matches, 'match', 'matches')} of {plural(found.blocks, 'block')},"
        f" {plural(found.deals, 'deal')} and {plural(found.moves, 'move')} recomputed: "
        + ("all agree." if found.verified else f"{plural(differing, 'mismatch', 'mismatches')}.")
    )
    for incident in found.incidents:
        click.echo(incident)
    if not found.finished:
        click.echo(
            f"The run is not finished: {found.matches} of {plural(total, 'match', 'matches')}."
        )
    if found.commitment is not None:
        matching = "matches" if found.commitment else "does NOT match"
        click.echo(f"The seed {matching} the commitment.")
    return 0 if found.verified else 1
