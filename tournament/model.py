"""The model of a run: one typed value, which everything that reads a run takes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import Literal

from msgspec import Struct

from tournament.config.cup import Cup
from tournament.decisions import absent, disqualified, exclusions, paused, sentence
from tournament.formats import Plan
from tournament.language import N_, ngettext
from tournament.language import gettext as _
from tournament.records import AnyDecision, Epoch, Join, Leave, Skip
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
    FINISHED = "finished"


class Identity(Struct, frozen=True, omit_defaults=True):
    """What a bot states about itself. A field that the bot does not state is ""."""

    name: str = ""
    version: str = ""
    author: str = ""

    def __str__(self) -> str:
        """Return the stated fields, separated by commas."""
        return ", ".join(filter(None, (self.name, self.version, self.author)))


class VoidCount(Struct, frozen=True):
    """The number of matches that were void because of a bot, and the latest reason."""

    bot: str
    why: str
    matches: int


class Upcoming(Struct, frozen=True):
    """A block that is being played or comes next.

    `played` of its `seatings` matches are finished.
    """

    block: int
    stage: str
    bots: tuple[str, ...]
    played: int
    seatings: int


class Present(Struct, frozen=True):
    """The current state of a run that is being played, for its pages.

    `awaited` are the connecting bots for which a cup waits before it begins. `away` are the bots
    whose tables wait. `connected` are the connected bots of a ladder. `upcoming` are the next
    blocks in the order of play, beginning with those that are being played.
    """

    awaited: tuple[str, ...] = ()
    away: tuple[str, ...] = ()
    connected: tuple[str, ...] = ()
    upcoming: tuple[Upcoming, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Run:
    """A run, without its matches.

    `cup` includes the bots that joined a ladder. `total` is the number of planned matches, None if
    it is not known. `begun` is the time of the beginning. `places` are the places that the format
    has decided, by bot, None if it has decided none. `settled` are the bots by which `[stop]` ended
    the cup, after `stopped_after` blocks. `extended` says whether the cup grew after somebody may
    have seen its table. `about` holds what each bot has stated about itself, the latest last.
    `passed` are the bots that have passed the check of a ladder. `failed` maps a bot to
    what keeps it from playing. `unplaced` are the bots without a place for a reason that decisions
    do not show. `max_difference` is None if it is not known.
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
    max_difference: int | None = None
    ranges: Literal["final", "anytime"] = "anytime"

    @cached_property
    def gone(self) -> frozenset[str]:
        """The bots that no longer play."""
        return absent(self.decisions)

    @cached_property
    def disqualified(self) -> frozenset[str]:
        """The bots whose tables do not count.

        In a ladder that goes on, these are the bots disqualified before the last epoch began.
        """
        out = disqualified(self.decisions)
        if self.finished or not self.epochs:
            return out
        began = self.epochs[-1].at
        latest = {one.bot: one.at for one in exclusions(self.decisions)}
        return frozenset(bot for bot in out if latest[bot] < began)

    @property
    def phase(self) -> Phase:
        """The phase of the run."""
        if self.finished:
            return Phase.FINISHED
        if paused(self.decisions):
            return Phase.PAUSED
        return Phase.WAITING if self.present.awaited else Phase.PLAYING

    @property
    def authors(self) -> dict[str, str | None]:
        """The authors of the bots by name, as the cup states them."""
        return {bot.name: bot.author for bot in self.cup.bots}

    def companions(self) -> dict[str, str]:
        """Return the bots that play although another bot of their author is disqualified.

        Each is mapped to that other bot.
        """
        out = {bot.author: bot.name for bot in self.cup.bots if bot.name in self.disqualified}
        playing = (bot for bot in self.cup.bots if bot.author and bot.name not in self.gone)
        return {bot.name: out[bot.author] for bot in playing if bot.author in out}

    def incidents(self) -> list[str]:
        """Return sentences about the organiser's decisions, the void matches and the whole run."""
        # What the bots of a ladder do would be too much for a table.
        shown = [one for one in self.decisions if not isinstance(one, Join | Leave | Skip)]
        return [*self._of_sandbox(), *map(sentence, shown), *self._of_matches()]

    def caveats(self) -> list[str]:
        """Return the sentences of `incidents` that are not about a single decision."""
        return [*self._of_sandbox(), *self._of_matches()]

    def _of_sandbox(self) -> list[str]:
        return [_(_UNSANDBOXED)] if self.unsandboxed else []

    def _of_matches(self) -> list[str]:
        sentences = []
        skipped = sum(len(one.matches) for one in self.decisions if isinstance(one, Skip))
        if skipped:
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
            said = ngettext(
                "%(num)d match was void because of %(bot)s and played again. %(why)s",
                "%(num)d matches were void because of %(bot)s and played again. %(why)s",
                void.matches,
                bot=void.bot,
                why=void.why,
            )
            sentences.append(printable(said))
        return sentences


@dataclass(frozen=True, kw_only=True)
class StoredRun(Run):
    """A run in a store.

    `id` is random. `signer` is the organiser's public key. `seed` is the seed of everything that is
    drawn, and `match_key` the secret from which match ids are drawn. `commitment` is the commitment
    to the seed, or None without one.
    """

    id: str
    signer: str
    seed: str
    match_key: str
    commitment: str | None

    def plan(self) -> Plan:
        """Return the plan of the run."""
        return self.cup.plan(self.seed, self.match_key)


def kind_of_ranges(cup: Cup, finished: bool, extended: bool) -> Literal["final", "anytime"]:
    """Return when the ranges of ranks hold.

    "final" means at the end of a run whose number of blocks was fixed in advance. "anytime" means
    however often somebody looks, even if looks decide the end of the cup or which bots play on.
    """
    fixed = finished and not extended and cup.stop.top is None
    return "final" if fixed and cup.format.has_final_ranges else "anytime"
