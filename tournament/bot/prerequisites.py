"""What must be there before a bot can be started: its folder and its program."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from tournament.bot.environment import find_program
from tournament.config import Bot
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
        elif programs and (problem := _program_problem(shlex.split(bot.command), place)):
            yield Missing(number, "command", problem)


def _program_problem(argv: list[str], folder: Path) -> str | None:
    """Why the program of a command cannot be started, and the fix; None if it can."""
    if find_program(argv, folder) is not None:
        return None
    program = short(argv[0])
    if not os.path.isfile(folder / argv[0]):
        return f'there is no program "{program}"; install it, or fix the command.'
    if "/" not in argv[0]:
        return f'there is no program "{program}" in the PATH; write "./{program}".'
    return f'"{program}" is not executable; make it so with chmod +x, or fix the command.'
