"""CUP.toml: the cup as values, and every error in it with its line and its fix."""

from tournament.config.cup import (
    FORMATS,
    REFERENCE_BOTS,
    Bot,
    Clock,
    Cup,
    Format,
    Join,
    Limits,
    Run,
    Stop,
    is_reference,
)
from tournament.config.parse import CupError, parse_cup, read_cup

__all__ = [
    "FORMATS",
    "REFERENCE_BOTS",
    "Bot",
    "Clock",
    "Cup",
    "CupError",
    "Format",
    "Join",
    "Limits",
    "Run",
    "Stop",
    "is_reference",
    "parse_cup",
    "read_cup",
]
