"""Misbehaving bots, with a module for each kind of attack.

The program `python hostile HOW` is one of these bots. It listens on the port in `PORT`, so that the
runner can start it. Imports are relative because the package then has another name.
"""

from .answers import HALF_BODY, WAYS, busy, half, hang, reset, says, sends
from .server import Handler, answer, connected, first, running, serving, toy

__all__ = [
    "HALF_BODY",
    "WAYS",
    "Handler",
    "answer",
    "busy",
    "connected",
    "first",
    "half",
    "hang",
    "reset",
    "running",
    "says",
    "sends",
    "serving",
    "toy",
]
