"""CUP.toml: the cup as values, and every mistake with its line and its mend."""

from tournament.config.cup import (
    FORMATS,
    HOUSE_BOTS,
    SEATINGS,
    Bot,
    Clock,
    Cup,
    Format,
    Limits,
    Run,
)
from tournament.config.parse import ConfigError, parse, read

__all__ = [
    "FORMATS",
    "HOUSE_BOTS",
    "SEATINGS",
    "Bot",
    "Clock",
    "ConfigError",
    "Cup",
    "Format",
    "Limits",
    "Run",
    "parse",
    "read",
]
