"""The base class of observers, which report the progress of a run."""

from collections.abc import Sequence
from time import monotonic
from typing import Final

from tournament.decisions import sentence
from tournament.ranking.betting import Bets
from tournament.records import AnyDecision, MatchRecord, Outage
from tournament.text import plural, unreachable

_NAMED: Final = 10  # how many missing bots are named
_FIRST_LOOK: Final = 8  # blocks; the next look is reported when the number of blocks has doubled


class RunObserver:
    """Counts the matches and faults of a run, and reports events of the run. Subclasses define
    `tell`.

    `done` is the number of finished matches, and `total` the number of planned matches, or None in
    a ladder. `faults` counts the faults in the matches that `match` has counted.
    """

    _first = done = faults = 0
    total: int | None = None
    _began = 0.0

    def tell(self, sentence: str, event: str = "", **fields: object) -> None:
        """Report an event. `sentence` is for people, and may be "". `event` is the event's name for
        machines, which also get the `fields`. If the name is "", machines get nothing."""
        raise NotImplementedError

    def begin(self, done: int, total: int | None) -> None:
        """Start counting at the beginning of a session. `done` and `total` are as in the class."""
        self._began = monotonic()
        self._first = self.done = done
        self.total = total

    def planned(self, done: int, total: int | None) -> None:
        """Replace `done` and `total` (see the class) without changing the `rate`."""
        self._first += done - self.done
        self.done, self.total = done, total

    def match(self, record: MatchRecord) -> None:
        """Count a match that has been stored, and its faults."""
        self.done += 1
        self.faults += len(record.faults)

    @property
    def rate(self) -> float:
        """The mean number of matches per second since `begin`, including time spent paused."""
        return (self.done - self._first) / max(1e-9, monotonic() - self._began)

    @property
    def left_s(self) -> float | None:
        """The seconds left at this `rate`, or None in a ladder or if no match has ended since
        `begin`."""
        if self.total is None or self.done == self._first:
            return None
        return (self.total - self.done) / self.rate

    def warning(self, text: str) -> None:
        """Report a problem that the organiser should know about before the cup is played."""
        self.tell(text, "warning")

    def notice(self, text: str) -> None:
        """Report a fact about the workers, the bots or the store."""
        self.tell(text, "notice", text=text)

    def committed(self, digest: str) -> None:
        """Report that the run is committed to its seed. `digest`, the seed's SHA-256, is public."""
        self.tell(f"SHA-256 of the seed: {digest}", "commitment", sha256=digest)

    def waiting(self, bots: Sequence[str], of: int, invite: str) -> None:
        """Report that the cup is waiting for the missing `bots`. `of` is the number of all
        connecting bots, and `invite` the command that creates a token for a bot."""
        shown = ", ".join(bots[:_NAMED]) + (", …" if len(bots) > _NAMED else "")
        missing = f"Waiting for {len(bots)} of {of} bots that connect: {shown}."
        self.tell(f"{missing} To create a token: {invite}", "waiting", missing=list(bots))

    def starting(self, started: int, called: int) -> None:
        """Report how many bots are being started, and how many remote bots are being contacted."""
        calling = f" and calling {called}" if called else ""
        self.tell(f"Starting {plural(started, 'bot')}{calling} ...")

    def void(self, record: Outage) -> None:
        """Report that a match was void because of an unreachable bot, and will be played again."""
        names = ("match", "block", "round", "seating", "bot", "why")
        self.tell(
            f"{record.bot} is unreachable; match {record.match} will be replayed. {record.why}",
            "void",
            cause="outage",
            **{name: getattr(record, name) for name in names},
        )

    def lost(self, block: int, why: str) -> None:
        """Report that the worker that played the block with this number has died, hung or left, and
        that another worker will play the block's unfinished matches. `why` follows "because"."""
        sentence = f"The rest of block {block} is played by another worker, because {why}."
        self.tell(sentence, "lost", block=block, why=why)

    def away(self, bots: Sequence[str]) -> None:
        """Report that `bots` cannot be reached or, if `bots` is empty, that all bots are back."""
        sentence = unreachable(bots) or "All bots can be reached again."
        self.tell(sentence, "away", bots=list(bots))

    def decided(self, decision: AnyDecision) -> None:
        """Report a decision."""
        self.tell(
            sentence(decision),
            "decision",
            decision=decision.kind,
            bot=getattr(decision, "bot", None),
            why=decision.why,
            matches=getattr(decision, "matches", ()),
        )

    def look(self, look: Bets, first: str, second: str) -> None:
        """Report an interim result of a duel: the points of `first` minus those of `second`.
        Results after other numbers of blocks than 8, 16, 32, … are ignored."""
        if look.blocks < _FIRST_LOOK or look.blocks.bit_count() > 1:
            return
        low, high = look.interval.low, look.interval.high
        known = low is not None and high is not None
        interval = f" (95 % interval {low:.2f} to {high:.2f})" if known else ""
        self.tell(
            f"After {look.blocks} blocks: {first} minus {second}: {look.mean:+.2f} points a deal"
            f"{interval}",
            "look",
            blocks=look.blocks,
            difference=look.mean,
            low=low,
            high=high,
        )
