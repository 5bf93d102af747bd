"""CUP.toml: the cup as values, and every error in it with its line and its fix."""

from tournament.config.cup import (
    FORMATS,
    REFERENCE_BOTS,
    SEATINGS,
    Bot,
    Clock,
    Cup,
    Format,
    Limits,
    Run,
)
from tournament.config.parse import ConfigError, parse_cup, read_cup

__all__ = [
    "FORMATS",
    "REFERENCE_BOTS",
    "SEATINGS",
    "Bot",
    "Clock",
    "ConfigError",
    "Cup",
    "Format",
    "Limits",
    "Run",
    "parse_cup",
    "read_cup",
]
