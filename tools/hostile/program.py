"""A misbehaving bot as a program."""

import os
import socket
import sys
from pathlib import Path

from .answers import WAYS
from .channels import hears, locks, tells
from .escapes import copies, escapes, spies
from .processes import breeds, clogs, dies, litters, silences
from .resources import bombs, floods, gorges, hoards, hungry, multiplies, swarms
from .server import FOREVER, LISTENING, Handler, first, serve, toy

HANDLERS: tuple[Handler, ...] = (spies, breeds, clogs, dies, litters, silences)
HANDLERS += (floods, hoards, hungry, multiplies, swarms)
BOTS: dict[str, Handler] = {"honest": first}
BOTS |= {handle.__name__: handle for handle in HANDLERS}
BOTS |= {name: handle for name, (handle, _) in WAYS.items()}
PROGRAMS = {run.__name__: run for run in (copies, escapes, bombs, gorges, hears, locks, tells)}
"""Programs that try something and end."""


def main() -> None:
    """Run the program that argv[1] names, or the bot that misbehaves in the way that it names.

    If the bot's only other argument is a folder, create a file there that is named after its pid.
    """
    how = sys.argv[1]
    if how in PROGRAMS:
        PROGRAMS[how]()
        return
    if len(sys.argv) == 3:
        Path(sys.argv[2], str(os.getpid())).touch()
    LISTENING.append(socket.create_server(("127.0.0.1", int(os.environ["PORT"]))))
    serve(LISTENING[0], toy(how) if how.startswith("toy-") else BOTS[how])
    FOREVER.wait()
