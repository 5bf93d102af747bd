"""Run the tournament commands of stich: `python -m tournament`."""

import click

# The one place where the tournament imports the program: its users were promised this entry point,
# and the commands and their table live in stich.
from stich.cli import COMMANDS, LazyGroup
from stich.console.interrupts import exit_at_once
from stich.console.stdout import guarded


@click.group(
    cls=LazyGroup,
    only=COMMANDS.keys() - {"serve", "new-bot"},
    context_settings={"help_option_names": ["-h", "--help"]},
)
def main() -> None:
    """The tournament commands of stich: run a cup of bots and read its results.

    \b
    Example:
      python -m tournament run examples/cup.toml --out runs/cup
    """


exit_at_once()
with guarded():
    main(prog_name="python -m tournament")
