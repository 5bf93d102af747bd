"""What the runner needs of whatever plays its blocks, on this machine or on others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tournament.config import Bot
from tournament.formats import Block
from tournament.records import MatchRecord, VoidRecord


class RunError(Exception):
    """The run cannot continue; the text is a sentence. What was finished is kept."""


@dataclass(frozen=True, slots=True)
class Job:
    """The matches of a block that are still to be played, by their numbers in the block.

    A match is void if a bot in `wait_for` cannot be reached; those in `absent` play no more. With
    `anew`, started bots play in new processes: they may have met these cards. The bots of
    `prefetch`, which this table will probably play next, may be started meanwhile. `joined` are the
    bots of all these blocks that have joined a ladder. `live` is the folder of this machine for
    matches that are shown while they are played.
    """

    block: Block
    numbers: tuple[int, ...]
    wait_for: frozenset[str] = frozenset()
    absent: frozenset[str] = frozenset()
    anew: bool = False
    prefetch: tuple[Block, ...] = ()
    joined: tuple[Bot, ...] = ()
    live: Path | None = None


@dataclass(frozen=True, slots=True)
class Finished:
    """A match has ended; after the `last` of a job its table is free."""

    record: MatchRecord
    last: bool


@dataclass(frozen=True, slots=True)
class Voided:
    """A match was void; its table is free, whatever is left of the job."""

    record: VoidRecord


@dataclass(frozen=True, slots=True)
class Lost:
    """The job of the block with this number has ended early. `why` is a clause that says who did
    not finish it, and how that was."""

    block: int
    why: str


@dataclass(frozen=True, slots=True)
class Unplayed:
    """Nothing of the job of the block with this number was played, and nothing has failed."""

    block: int


@dataclass(frozen=True, slots=True)
class Inspected:
    """What was found when every bot was started or reached: the problems that prevent the cup, as
    sentences, and for each bot the name, version and author that it says it has, as far as it says
    them."""

    problems: tuple[str, ...]
    about: Mapping[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence for the organiser about those who play."""

    text: str


Event = Finished | Voided | Lost | Unplayed | Notice


class Executor(Protocol):
    """Plays blocks, one at each of its tables. One thread uses it, and closes it at the end."""

    def inspect(self, absent: Collection[str]) -> Inspected:
        """Start or reach every bot once, except those in `absent`. RunError if there is nothing
        that can play."""

    @property
    def has_free_table(self) -> bool:
        """Whether a job can be submitted now."""

    def submit(self, job: Job) -> None:
        """Play a job at a free table."""

    def receive(self, seconds: float) -> Iterable[Event]:
        """Wait for events, at most so long, and yield them. The runner may submit jobs between two
        of them. RunError if the run cannot continue."""

    def recall(self) -> None:
        """Ask all tables to stop after the match that they play; the last match of a job that is
        cut short in this way is its `last`."""

    def close(self) -> None:
        """End all workers with their bots; unfinished matches are dropped."""
