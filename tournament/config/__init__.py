"""CUP.toml: the cup as values, and every error in it with its line and its fix."""

from tournament.config.cup import (
    CONNECTED_URL,
    FORMATS,
    REFERENCE_BOTS,
    SEATINGS,
    STOPPING,
    Bot,
    Clock,
    Cup,
    Format,
    Join,
    Limits,
    Run,
    Stop,
    is_reference,
    usual_cards,
)
from tournament.config.parse import CupError, parse_cup, read_cup

__all__ = [
    "CONNECTED_URL",
    "FORMATS",
    "REFERENCE_BOTS",
    "SEATINGS",
    "STOPPING",
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
    "usual_cards",
]
