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
PROGRAMS: dict[str, Handler] = {
    "honest": first,
    **{handle.__name__: handle for handle in HANDLERS},
}
ONCE = {
    attempt.__name__: attempt for attempt in (copies, escapes, bombs, gorges, hears, locks, tells)
}
"""Programs that try something and end."""


def main() -> None:
    """Listen at PORT, answer GET / properly, and misbehave on POST /move as the first word says."""
    how = sys.argv[1]
    if how in ONCE:
        ONCE[how]()
        return
    if len(sys.argv) == 3:  # where to leave a note of being alive
        Path(sys.argv[2], str(os.getpid())).touch()
    handle = toy(how) if how.startswith("toy-") else PROGRAMS.get(how) or WAYS[how][0]
    LISTENING.append(socket.create_server(("127.0.0.1", int(os.environ["PORT"]))))
    serve(LISTENING[0], handle)
    FOREVER.wait()
