"""The interface between a session and the executors, which play its blocks here or elsewhere."""

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
    """Raised if the run cannot continue. The message is a sentence. Finished matches are kept."""


@dataclass(frozen=True, slots=True)
class Job:
    """An order to play those matches of `block` that `numbers` lists, counted from 0 in the block.

    A match is void if a bot in `wait_for` cannot be reached. Bots in `absent` no longer play, so
    they get default moves. With `anew`, started bots play in new processes, because the running
    ones may have seen these cards. `prefetch` holds the blocks that the table will probably play
    next, whose bots may be started meanwhile. `joined` holds the connecting bots of `block` and
    `prefetch`, which may have joined since the executor was made. `live` is the folder for files
    about matches in progress, or None if these matches are not shown.
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
    """A match has ended. If it was the `last` of its job, the table is free."""

    record: MatchRecord
    last: bool


@dataclass(frozen=True, slots=True)
class Voided:
    """A match was void. Its table is free, and the rest of the job is dropped."""

    record: Outage


@dataclass(frozen=True, slots=True)
class Lost:
    """The worker that played the block with this number has died, hung or left, and the rest of its
    job is dropped. `why` is a clause."""

    block: int
    why: str


@dataclass(frozen=True, slots=True)
class Unplayed:
    """The job for the block with this number has ended without a result, but nothing has failed."""

    block: int


@dataclass(frozen=True, slots=True)
class Inspected:
    """The result of starting or reaching every bot: sentences about problems that prevent the cup
    from being played, and what each bot that answered states about itself."""

    problems: tuple[str, ...]
    about: Mapping[str, Identity]


@dataclass(frozen=True, slots=True)
class Notice:
    """A sentence for the organiser about the workers or bots."""

    text: str


Event = Finished | Voided | Lost | Unplayed | Notice


class Executor(Protocol):
    """Plays blocks at several tables, one block at a time at each table. All methods must be called
    by the same thread, which must also close the executor."""

    def inspect(self, absent: Collection[str]) -> Inspected:
        """Start or reach every bot once, except the bots in `absent`. Problems with bots are in the
        result.

        Raises:
            RunError: if no worker can be started or reached, or a worker dies or hangs meanwhile.
        """

    @property
    def has_free_table(self) -> bool:
        """Whether a job can be submitted now."""

    def submit(self, job: Job) -> None:
        """Give a job to a free table, without waiting for its matches. A table must be free.

        Raises:
            RunError: if no worker can be started.
        """

    def receive(self, seconds: float) -> Iterable[Event]:
        """Wait up to `seconds` for events, and yield them. Jobs may be submitted between events.

        Raises:
            RunError: if the run cannot continue, perhaps only during iteration.
        """

    def recall(self) -> None:
        """Ask all tables to end their jobs after the current match, and return without waiting."""

    def close(self) -> None:
        """Stop all workers and their bots. Unfinished matches are dropped."""
