"""The model of a run: the typed value from which all code reads a run."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Literal

from msgspec import Meta, Struct

from tournament.config.cup import Cup
from tournament.decisions import excluded, paused, sentence
from tournament.formats import Plan
from tournament.language import N_, ngettext
from tournament.language import gettext as _
from tournament.records import AnyDecision, Disqualify, Epoch, Join, Leave, Name, Skip, Withdraw
from tournament.text import printable

_UNSANDBOXED = N_(
    "The bots were started without a sandbox and could do all that the organiser can."
)
_SHARED = N_(
    'Every seating of a table had the same cards (cards = "shared"), which bots by URL and those'
    " that connect may have remembered."
)


class Phase(StrEnum):
    """The phase of a run."""

    WAITING = "waiting"
    PLAYING = "playing"
    PAUSED = "paused"
    STOPPED = "stopped"
    OVER = "over"


class Identity(Struct, frozen=True, omit_defaults=True):
    """A bot's own statements about itself. A field is "" if the bot does not state it."""

    name: str = ""
    version: str = ""
    author: str = ""

    def __str__(self) -> str:
        return ", ".join(filter(None, (self.name, self.version, self.author)))


class VoidCount(Struct, frozen=True):
    """The number of matches that were void because of a bot, and the latest reason."""

    bot: Name
    why: str
    matches: Annotated[int, Meta(ge=1, le=10_000)]


class Upcoming(Struct, frozen=True):
    """A block that is being played or comes next. `played` of its `seatings` matches are over."""

    block: int
    stage: str
    bots: tuple[str, ...]
    played: int
    seatings: int


class Present(Struct, frozen=True):
    """The current state of a run that is being played, for its pages.

    `awaited` are the bots that must connect before the cup begins. `away` are the unreachable bots,
    whose tables wait. `connected` are a ladder's connected bots. `upcoming` are the blocks in
    play, then the next ones.
    """

    awaited: tuple[str, ...] = ()
    away: tuple[str, ...] = ()
    connected: tuple[str, ...] = ()
    upcoming: tuple[Upcoming, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run, without its matches.

    `cup` includes the bots that joined a ladder. `total` is the number of planned matches, as in
    `Plan.total`, or None if it is not known. `begun` is the time at which the run began (UTC, ISO
    8601). `places` maps each bot to the place that the plan has decided, and is None or empty if no
    place is decided. `settled` are the top bots if `[stop]` ended the cup, and `stopped_after` is
    the number of blocks by then, or None if they must be counted. `extended` says whether the cup
    grew after its standings may have been seen.

    `about` has the statements of each bot about itself, the latest last. `passed` are the bots that
    passed the ladder's check, and `failed` maps each bot that failed it to the reason. `voids`
    counts the void matches that each unreachable bot caused, and `void_matches` all known void
    matches. `unplaced` are bots without a place in exported rows, which contain no decisions.
    `max_difference` is as in `Cup`, or None if it is not known. `ranges` is as in `kind_of_ranges`.
    """

    cup: Cup
    finished: bool
    total: int | None = None
    begun: str | None = None
    places: Mapping[str, int] | None = None
    settled: tuple[str, ...] = ()
    stopped_after: int | None = None
    extended: bool = False
    unsandboxed: bool = False
    about: Mapping[str, tuple[Identity, ...]] = field(default_factory=dict)
    passed: frozenset[str] = frozenset()
    failed: Mapping[str, str] = field(default_factory=dict)
    decisions: tuple[AnyDecision, ...] = ()
    voids: tuple[VoidCount, ...] = ()
    void_matches: int = 0
    epochs: tuple[Epoch, ...] = ()
    unplaced: frozenset[str] = frozenset()
    present: Present = field(default_factory=Present)
    stopped: bool = False  # whether no runner is at work, though the run is not finished
    max_difference: int | None = None
    ranges: Literal["final", "anytime"] = "anytime"

    @cached_property
    def gone(self) -> frozenset[str]:
        """The bots that no longer play."""
        return frozenset(excluded(self.decisions))

    @cached_property
    def disqualified(self) -> frozenset[str]:
        """The disqualified bots, whose tables do not count. In a ladder that is not over, a
        disqualification counts from the next epoch on."""
        is_current = self.finished or not self.epochs
        return frozenset(
            bot
            for bot, decision in excluded(self.decisions).items()
            if isinstance(decision, Disqualify) and (is_current or decision.at < self.epochs[-1].at)
        )

    @property
    def phase(self) -> Phase:
        """The phase of the run: over, stopped, paused, waiting for bots that have yet to connect,
        or else playing. If several apply, the first in this order counts."""
        if self.finished:
            return Phase.OVER
        if self.stopped:
            return Phase.STOPPED
        if paused(self.decisions):
            return Phase.PAUSED
        return Phase.WAITING if self.present.awaited else Phase.PLAYING

    @property
    def authors(self) -> dict[str, str | None]:
        """The author of each bot, or None if the cup names no author, keyed by the bot's name."""
        return {bot.name: bot.author for bot in self.cup.bots}

    def companions(self) -> dict[str, str]:
        """Map each bot that still plays to a disqualified bot by the same author. If there are
        several, use the last in the order of the cup. If there is none, leave the bot out."""
        bots = self.cup.bots
        disqualified = {bot.author: bot.name for bot in bots if bot.name in self.disqualified}
        playing = (bot for bot in bots if bot.author and bot.name not in self.gone)
        return {bot.name: disqualified[bot.author] for bot in playing if bot.author in disqualified}

    def incidents(self) -> list[str]:
        """Return translated sentences about the decisions, oldest first, and then the `caveats`.
        A caveat about a missing sandbox comes before the decisions instead.

        Decisions by which a bot joins or leaves, or matches are skipped, are left out.
        """
        # A ladder has too many decisions about single bots and matches to list.
        shown = (item for item in self.decisions if not isinstance(item, Join | Leave | Skip))
        caveats, of_sandbox = self.caveats(), int(self.unsandboxed)
        return [*caveats[:of_sandbox], *map(sentence, shown), *caveats[of_sandbox:]]

    def caveats(self) -> list[str]:
        """Return translated sentences about what may weaken the results of the run.

        The sentences are about a missing sandbox (always first), skipped matches, cards that bots
        may remember, and matches that were void because of a bot.
        """
        sentences = [_(_UNSANDBOXED)] if self.unsandboxed else []
        skips = (decision for decision in self.decisions if isinstance(decision, Skip))
        if skipped := sum(len(skip.matches) for skip in skips):
            sentences.append(
                ngettext(
                    "%(num)d match not played, because a bot was away or the ladder ended.",
                    "%(num)d matches not played, because a bot was away or the ladder ended.",
                    skipped,
                )
            )
        format = self.cup.format
        if self.cup.remote and format.cards == "shared" and format.seating != "fixed":
            sentences.append(_(_SHARED))
        for void in self.voids:
            text = ngettext(
                "%(num)d match was void because of %(bot)s and played again. %(why)s",
                "%(num)d matches were void because of %(bot)s and played again. %(why)s",
                void.matches,
                bot=void.bot,
                why=void.why,
            )
            sentences.append(printable(text))
        return sentences


@dataclass(frozen=True, kw_only=True)
class StoredRun(Run):
    """A run in a store.

    `id` is random. `signer` is the organiser's public key. `seed` and `match_key` are as in
    `Setup`. `commitment` is the commitment to the seed, or None if the cup does not commit to it.
    """

    id: str
    signer: str
    seed: str
    match_key: str
    commitment: str | None

    def plan(self) -> Plan:
        """Return a new plan of the run. A ladder's plan begins no new epoch."""
        return self.cup.plan(self.seed, self.match_key)


def kind_of_ranges(
    cup: Cup, finished: bool, extended: bool, decisions: Iterable[AnyDecision]
) -> Literal["final", "anytime"]:
    """Return "final" or "anytime", the kind of the rank ranges of a run. `extended` is as in `Run`.

    "final" ranges hold at the end of a run whose number of blocks was fixed in advance. "anytime"
    ranges hold however often the run is looked at, even if results decide its end, its tables, or
    when a bot is withdrawn.
    """
    withdrawn = any(isinstance(decision, Withdraw) for decision in excluded(decisions).values())
    skipped = withdrawn and cup.format.skips_tables
    fixed = finished and not extended and not skipped and cup.stop.top is None
    return "final" if fixed and cup.format.has_final_ranges else "anytime"
