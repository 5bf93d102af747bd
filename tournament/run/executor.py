"""The interface between the runner and what plays its blocks, on this machine or on others."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from tournament.config.cup import Bot
from tournament.errors import StichError
from tournament.formats import Block
from tournament.model import Identity
from tournament.records import MatchRecord, Outage


class RunError(StichError):
    """The run cannot continue; the message is a sentence. Finished matches are kept."""


@dataclass(frozen=True, slots=True)
class Job:
    """The matches of a block that are still to be played, by their numbers in the block.

    A match is void if a bot in `wait_for` cannot be reached; bots in `absent` no longer play. With
    `anew`, started bots play in new processes, because they may have seen these cards. The bots of
    `prefetch`, the blocks that this table will probably play next, may be started meanwhile.
    `joined` are the bots of all these blocks that joined a ladder. `live` is the folder in which
    this machine shows matches while they are played.
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
    """A match has ended; after the `last` match of a job its table is free."""

    record: MatchRecord
    last: bool


@dataclass(frozen=True, slots=True)
class Voided:
    """A match was void; its table is free, and the rest of the job is dropped."""

    record: Outage


@dataclass(frozen=True, slots=True)
class Lost:
    """The job of the block with this number ended early. `why` is a clause that says what happened
    to the worker that played it."""

    block: int
    why: str


@dataclass(frozen=True, slots=True)
class Unplayed:
    """No match of the job of the block with this number was played, through no failure."""

    block: int


@dataclass(frozen=True, slots=True)
class Inspected:
    """The result of starting or reaching every bot.

    `problems` are sentences about what keeps the cup from being played. `about` maps each bot to
    what it states about itself.
    """

    problems: tuple[str, ...]
    about: Mapping[str, Identity]


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence for the organiser about the workers or bots."""

    text: str


Event = Finished | Voided | Lost | Unplayed | Notice


class Executor(Protocol):
    """Plays blocks, one at each of its tables. One thread uses it, and closes it at the end."""

    def inspect(self, absent: Collection[str]) -> Inspected:
        """Start or reach every bot once, except the bots in `absent`.

        Raises:
            RunError: if there is no worker that can play.
        """

    @property
    def has_free_table(self) -> bool:
        """Whether a job can be submitted now."""

    def submit(self, job: Job) -> None:
        """Play a job at a free table."""

    def receive(self, seconds: float) -> Iterable[Event]:
        """Wait for events up to `seconds`, and yield them. The runner may submit jobs between two
        events.

        Raises:
            RunError: if the run cannot continue.
        """

    def recall(self) -> None:
        """Ask all tables to stop after their present match, which is then the `last` of its job."""

    def close(self) -> None:
        """Stop all workers and their bots. Unfinished matches are dropped."""
