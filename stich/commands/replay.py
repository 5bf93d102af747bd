"""`stich replay`: a match on the terminal, step by step, or printed whole elsewhere."""

from __future__ import annotations

import click

from stich.commands import completion
from stich.commands.common import json_option, matches_argument, print_json, read_run, run_command


@click.command()
@matches_argument
@click.argument("match", metavar="MATCH", shell_complete=completion.matches)
@json_option
@click.option("--faults", is_flag=True, help="Show only the post-mortem of each fault.")
@run_command
def replay(target: str, match: str, as_json: bool, faults: bool) -> int:
    """Step through a match with all hands open. MATCH is its id or the beginning of it.

    \b
    Examples:
      stich replay runs/spring 7eb97a
      stich replay runs/spring 7eb97a --faults
    """
    from stich.console.replay_screen import print_match, step_through
    from stich.console.text import make_console
    from web.ui.post_mortem import post_mortem
    from web.ui.replay import to_dict

    with read_run(target) as store:
        record, config = store.match(match), store.get("config")
    if as_json:
        print_json(to_dict(record, config))
        return 0
    if faults:
        shown = [post_mortem(record, fault, config) for fault in record.faults]
        click.echo("\n\n".join(shown) or "There was no fault in this match.")
        return 0
    console = make_console()
    if console.is_terminal:
        step_through(console, record, config)
    else:
        print_match(console, record, config)
    return 0
