"""The progress of a run, as its observers receive it."""

from collections.abc import Sequence
from time import monotonic
from typing import Final

from tournament.decisions import sentence
from tournament.formats.plan import Look
from tournament.records import AnyDecision, MatchRecord, Outage
from tournament.text import plural, unreachable

_NAMED: Final = 10  # of the bots that are waited for
_FIRST_LOOK: Final = 8  # blocks; later looks are reported when the number of blocks has doubled


class RunObserver:
    """An observer of a run.

    It counts the matches, and reports each event as a sentence for people, or with its fields for
    machines.
    """

    _first = done = faults = 0
    total: int | None = None
    _began = 0.0

    def tell(self, sentence: str, event: str = "", **fields: object) -> None:
        """Report a sentence. Machines receive it as an event only if `event` names the event."""
        raise NotImplementedError

    def begin(self, done: int, total: int | None) -> None:
        """The run begins or resumes, with `done` finished matches. `total` is None in a ladder."""
        self._began = monotonic()
        self._first = self.done = done
        self.total = total

    def planned(self, done: int, total: int | None) -> None:
        """A decision has changed the number of finished or planned matches."""
        self._first += done - self.done
        self.done, self.total = done, total

    def match(self, record: MatchRecord) -> None:
        """A match has been committed."""
        self.done += 1
        self.faults += len(record.faults)

    @property
    def rate(self) -> float:
        """The number of matches per second."""
        return (self.done - self._first) / max(1e-9, monotonic() - self._began)

    @property
    def left_s(self) -> float | None:
        """The seconds left at this rate, or None if unknown."""
        if self.total is None or self.done == self._first:
            return None
        return (self.total - self.done) / self.rate

    def warning(self, text: str) -> None:
        """The organiser should know this before the cup is played."""
        self.tell(text, "warning")

    def notice(self, text: str) -> None:
        """The organiser should know this about the workers or bots."""
        self.tell(text, "notice", text=text)

    def committed(self, digest: str) -> None:
        """The run is committed to its seed. The commitment may be published."""
        self.tell(f"SHA-256 of the seed: {digest}", "commitment", sha256=digest)

    def waiting(self, bots: Sequence[str], of: int, invite: str) -> None:
        """The cup waits for `bots`, out of `of` connecting bots.

        `invite` is the command that creates a token for a bot.
        """
        shown = ", ".join(bots[:_NAMED]) + (", …" if len(bots) > _NAMED else "")
        who = f"Waiting for {len(bots)} of {of} bots that connect: {shown}."
        self.tell(f"{who} To create a token: {invite}", "waiting", missing=list(bots))

    def starting(self, started: int, called: int) -> None:
        """So many bots are being started, and so many running bots are being called."""
        more = f" and calling {called}" if called else ""
        self.tell(f"Starting {plural(started, 'bot')}{more} ...")

    def void(self, record: Outage) -> None:
        """A match was void and will be played again."""
        names = ("match", "block", "round", "seating", "bot", "why")
        self.tell(
            f"{record.bot} is unreachable; match {record.match} will be replayed. {record.why}",
            "void",
            cause="outage",
            **{name: getattr(record, name) for name in names},
        )

    def lost(self, block: int, why: str) -> None:
        """The rest of a block is played again. `why` says what happened."""
        sentence = f"Block {block} is played again, because {why}."
        self.tell(sentence, "lost", block=block, why=why)

    def away(self, bots: Sequence[str]) -> None:
        """The set of bots that the run waits for has changed."""
        sentence = unreachable(bots) or "All bots can be reached again."
        self.tell(sentence, "away", bots=list(bots))

    def decided(self, decision: AnyDecision) -> None:
        """The organiser has made a decision."""
        self.tell(
            sentence(decision),
            "decision",
            decision=decision.kind,
            bot=getattr(decision, "bot", None),
            why=decision.why,
            matches=getattr(decision, "matches", ()),
        )

    def look(self, look: Look, first: str, second: str) -> None:
        """A duel of two bots has reached a look. Looks are reported less and less often."""
        if look.blocks < _FIRST_LOOK or look.blocks.bit_count() > 1:
            return
        known = look.low is not None and look.high is not None
        interval = f" (95 % interval {look.low:.2f} to {look.high:.2f})" if known else ""
        self.tell(
            f"After {look.blocks} blocks: {first} less {second} {look.difference:+.2f}{interval}",
            "look",
            blocks=look.blocks,
            difference=look.difference,
            low=look.low,
            high=look.high,
        )
