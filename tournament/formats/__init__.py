"""The formats: which bots meet, in which order, and on which seeds."""

from collections.abc import Mapping
from typing import Any, Final

import msgspec

from tournament.formats.duel import Duel
from tournament.formats.format import Format
from tournament.formats.halving import Halving
from tournament.formats.knockout import Knockout
from tournament.formats.ladder import Ladder
from tournament.formats.plan import Block, Plan, Round, Setup
from tournament.formats.round_robin import Gauntlet, RoundRobin
from tournament.formats.swiss import Swiss
from tournament.records import prepare

__all__ = ["FORMATS", "Block", "Format", "Plan", "Round", "Setup", "format_of"]

FORMATS: Final[dict[str, type[Format]]] = {
    format.type: format for format in (RoundRobin, Swiss, Knockout, Gauntlet, Halving, Ladder, Duel)
}
"""The formats by the `type` of their section. A duel is not written in a CUP.toml."""
prepare(*FORMATS.values())


def format_of(data: Mapping[str, Any]) -> Format:
    """Return the format that a `[format]` section describes.

    Keys that the format does not have are ignored. The ranges of values are not checked.

    Raises:
        msgspec.ValidationError: if `type` names no format, or a value is missing or has the
            wrong type.
    """
    kind = FORMATS.get(str(data.get("type")))
    if kind is None:
        raise msgspec.ValidationError(f"There is no format {data.get('type')!r}.")
    return msgspec.convert(data, kind)
