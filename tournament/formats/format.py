"""The base class of all formats, with the keys that every `[format]` section has."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Final, Literal, get_args

from tournament.formats.plan import Plan, Setup
from tournament.settings.keys import choice, key, number

REFERENCE_BOTS: Final = ("random", "greedy", "sensible", "search")
"""The names of the reference bots, which `python -m bots.NAME` starts."""
Cards = Literal["shared", "fresh"]
SEATINGS: Final = ("rotations", "permutations", "fixed")


@dataclass(frozen=True, slots=True)
class Growth:
    """The ways in which a cup that has begun may grow. `clause` describes them in English.

    `key` is the key of the format whose value may be raised, or None if there is no such key.
    `bots` says whether bots may be added.
    """

    clause: str
    key: str | None = None
    bots: bool = False


@dataclass(frozen=True, kw_only=True)
class Format(ABC):
    """A format, which decides which bots meet. A subclass has the keys of its section as fields."""

    type: ClassVar[str]
    """The value of `type` in `[format]`."""
    growth: ClassVar[Growth]
    skips_tables: ClassVar[bool] = False
    """Whether the tables of a bot that no longer plays are left out. Other formats need every
    table for their later rounds, so the bot is struck out as if it could not be reached."""
    may_stop: ClassVar[bool] = False
    """Whether a cup of this format may have a `[stop]`."""
    decides_places: ClassVar[bool] = False
    """Whether the course of the cup decides the places. If so, there are none before the end."""
    has_final_ranges: ClassVar[bool] = True
    """Whether rank ranges may assume that the number of blocks was fixed in advance."""
    keeps_blocks_fixed: ClassVar[bool] = True
    """Whether all planned blocks are played, if no `[stop]` ends the cup and all bots stay."""

    seating: str = key("rotations", choice(SEATINGS, "In which seatings each deal is played."))
    cards: Literal["shared", "fresh"] = key(
        "shared",
        choice(
            get_args(Cards),
            "Whether all seatings of a table share a deal, or each has fresh cards. By default"
            " fresh in a ladder, and if a bot has url or connect and seating is not fixed.",
        ),
    )
    fill: str | None = key(
        None, choice(REFERENCE_BOTS, "The reference bot that fills empty seats.")
    )

    @abstractmethod
    def plan(self, setup: Setup) -> Plan:
        """Return the plan of a cup of this format."""

    def skips(self, table: Iterable[str], gone: frozenset[str]) -> bool:
        """Return whether the format leaves a table out because one of its bots no longer plays.
        `gone` are the bots that no longer play. Formats that need every table leave none out."""
        return self.skips_tables and not gone.isdisjoint(table)

    def usual_cards(self, remembers: bool) -> Cards:
        """Return the default value of `cards`. It is "fresh" if a bot may remember cards from one
        seating to the next (`remembers`) and `seating` is not "fixed", otherwise "shared"."""
        return "fresh" if remembers and self.seating != "fixed" else "shared"

    def tables(self, bots: int, players: int) -> int:
        """Return the number of different tables of `players` seats in a cup with `bots` bots, or 0
        if the format does not list its tables in advance."""
        return 0

    def always(self) -> tuple[str, ...]:
        """Return the names of the bots that sit at every table. In most formats there are none."""
        return ()

    def named_bots(self) -> Iterator[tuple[str, str]]:
        """Yield (key, name of the bot) for each bot that a key of the section names."""
        return iter(())


@dataclass(frozen=True, kw_only=True)
class WithDeals(Format):
    """The base class of formats whose key `deals` sets how many blocks their tables play."""

    deals: int = key(10, number(1, 1_000_000, "Different deals for each table (of each round)."))
