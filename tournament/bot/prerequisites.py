"""What must be there before a bot can be started: its folder and its program."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import NamedTuple

from tournament.bot.environment import find_program
from tournament.config import REFERENCE_BOTS, Bot
from tournament.config.cup import reference_command
from tournament.config.locations import short


class Missing(NamedTuple):
    """What a bot needs and is not there: the `key` of its section that names it, and a sentence
    with the fix. `number` counts the bots from 0."""

    number: int
    key: str
    text: str


def missing(bots: Iterable[Bot], folder: Path, *, programs: bool = True) -> Iterator[Missing]:
    """What is not there of what bots with a command need; relative paths start from `folder`.

    Their programs are looked for as they are started; not without `programs`, where other machines
    start them.
    """
    for number, bot in enumerate(bots):
        if bot.command is None:
            continue
        place = folder / (bot.dir or "")
        if not os.path.isdir(place):  # which is also false where it cannot be read
            text = f'there is no folder "{short(bot.dir)}"; create it, or fix the path.'
            yield Missing(number, "dir", text)
        elif programs and (problem := program_problem(shlex.split(bot.command), place)):
            yield Missing(number, "command", problem)


def program_problem(argv: list[str], folder: Path) -> str | None:
    """Why the program of a command cannot be started, and the fix; None if it can."""
    if find_program(argv, folder) is not None:
        return None
    program = short(argv[0])
    if os.path.isfile(folder / argv[0]):
        return (
            f'"{program}" cannot be started; write the program that runs it, as in "python bot.py",'
            f' or make it executable and write "./{os.path.basename(program)}".'
        )
    why = f'there is no program "{program}"; '
    if re.fullmatch(r"[\w.-]+:\d+(/.*)?", argv[0]):
        return f"{why}the address of a bot begins with http://."
    if meant := get_close_matches(argv[0], REFERENCE_BOTS, 1):
        return f'{why}the bot {meant[0]} is started by "{reference_command(meant[0])}".'
    return f"{why}install it, fix the command, or write the folder that it is in as dir."
