"""What a run's decisions mean: which bots play, which results count, and sentences for people."""

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from tournament.language import N_, ngettext
from tournament.language import gettext as _
from tournament.names import base
from tournament.records import (
    AnyDecision,
    AnyVoid,
    Disqualify,
    Exclusion,
    Finish,
    Join,
    Leave,
    Pause,
    Resume,
    Revocation,
    Skip,
    Undo,
    Void,
    Withdraw,
)
from tournament.text import printable, utc

_LABELS: Final[dict[type[Exclusion], str]] = {
    Withdraw: N_("withdrawn"),
    Disqualify: N_("disqualified"),
    Leave: N_("left"),
}

_SENTENCES: Final[dict[type[AnyDecision], str]] = {
    Pause: N_("The run was paused"),
    Resume: N_("The run was resumed"),
    Withdraw: N_("%(bot)s was withdrawn and no longer plays; its results stand"),
    Disqualify: N_("%(bot)s was disqualified; the results of its tables do not count"),
    Undo: N_("The latest decision about %(bot)s was taken back"),
    Join: N_("%(bot)s joined"),
    Leave: N_("%(bot)s left; its results stand"),
    Finish: N_("The ladder was ended"),
}


def exclusions(decisions: Iterable[AnyDecision]) -> list[Exclusion]:
    """Return, in the given order, decisions that withdraw or disqualify a bot or let it leave.

    Decisions that an `Undo` took back are left out. A decision that disqualifies several versions
    of a bot is replaced by a copy for each version, with that version as its `bot`.
    """
    standing: list[Exclusion] = []
    for decision in decisions:
        if isinstance(decision, Exclusion):
            standing.append(decision)
        elif isinstance(decision, Undo):
            undone = [item for item in standing if not isinstance(item, Leave)][-1:]
            standing = [item for item in standing if item not in undone]
    return [part for exclusion in standing for part in _by_bot(exclusion)]


def _by_bot(decision: Exclusion) -> Iterator[Exclusion]:
    if isinstance(decision, Disqualify):
        for bot in decision.versions:
            yield replace(decision, bot=bot, versions=())
        decision = replace(decision, versions=())
    yield decision


def other_versions(decisions: Iterable[AnyDecision], bot: str) -> tuple[str, ...]:
    """Return the other versions of a ladder's bot, in the order of joining, even if they no longer
    play.

    Only versions entered by the same author are returned. A bot that the organiser entered has
    none.
    """
    authors = {join.bot: join.author for join in decisions if isinstance(join, Join)}
    author = authors.get(bot)
    return tuple(
        other
        for other, other_author in authors.items()
        if author and other_author == author and other != bot and base(other) == base(bot)
    )


def disqualified(decisions: Iterable[AnyDecision]) -> frozenset[str]:
    """Return the bots whose disqualification was not undone.

    In a ladder, it takes effect only with the next epoch (see `Run.disqualified`).
    """
    return frozenset(item.bot for item in exclusions(decisions) if isinstance(item, Disqualify))


def absent(decisions: Iterable[AnyDecision]) -> frozenset[str]:
    """Return the bots that no longer play: those withdrawn or disqualified, and those that left."""
    return frozenset(exclusion.bot for exclusion in exclusions(decisions))


def exclusion_of(decisions: Iterable[AnyDecision], bot: str) -> Exclusion | None:
    """Return the latest of the `exclusions` of this bot, or None if it still plays."""
    return {exclusion.bot: exclusion for exclusion in exclusions(decisions)}.get(bot)


def exclusion_notices(decisions: Iterable[AnyDecision]) -> dict[str, str]:
    """Return an English sentence for the author of each bot that no longer plays, by bot."""
    return {
        item.bot: f"{item.bot} has left."
        if isinstance(item, Leave)
        else f"The organiser decided that {item.bot} no longer plays."
        for item in exclusions(decisions)
    }


def exclusion_labels(decisions: Iterable[AnyDecision]) -> dict[str, str]:
    """Return "withdrawn", "disqualified" or "left" for each bot that no longer plays, by bot.

    The latest decision about a bot counts. The labels are in English, to be translated later.
    """
    return {exclusion.bot: _LABELS[type(exclusion)] for exclusion in exclusions(decisions)}


def finished_by(decisions: Iterable[AnyDecision]) -> Finish | None:
    """Return the decision that ends a ladder, or None if there is none."""
    return next((decision for decision in decisions if isinstance(decision, Finish)), None)


def paused(decisions: Iterable[AnyDecision]) -> Pause | None:
    """Return the decision by which a run is paused, or None if the run is not paused.

    The end of a ladder also ends a pause.
    """
    latest: Pause | None = None
    for decision in decisions:
        if isinstance(decision, Pause):
            latest = decision
        elif isinstance(decision, Resume | Finish):
            latest = None
    return latest


def skipped(decisions: Iterable[AnyDecision]) -> frozenset[str]:
    """Return the ids of the matches of a ladder that will not be played."""
    skips = (decision for decision in decisions if isinstance(decision, Skip))
    return frozenset(match for skip in skips for match in skip.matches)


def pending(decisions: Iterable[AnyDecision], voids: Iterable[AnyVoid]) -> list[tuple[int, str]]:
    """Return (number of the decision, match id) of matches that `Void` decisions have yet to make
    void, in the decisions' order. `voids` are the void matches so far."""
    done = {(void.decision, void.match) for void in voids if isinstance(void, Revocation)}
    voided = (decision for decision in decisions if isinstance(decision, Void))
    matches = [(decision.number, match) for decision in voided for match in decision.matches]
    return [match for match in matches if match not in done]


def sentence(decision: AnyDecision) -> str:
    """Return the time of a decision (UTC), a colon, and the text from `describe`."""
    return f"{utc(decision.at)}: {describe(decision)}"


def describe(decision: AnyDecision) -> str:
    """Return a decision and its reason as a translated sentence that is safe to print."""
    why = f" ({decision.why})" if decision.why else ""
    return printable(f"{_what(decision)}{why}.")


def _what(decision: AnyDecision) -> str:
    match decision:
        case Void(block=block, matches=matches):
            return ngettext(
                "%(num)d match of block %(block)d became void",
                "%(num)d matches of block %(block)d became void",
                len(matches),
                block=block,
            )
        case Skip(matches=matches):
            return ngettext(
                "%(num)d match will not be played",
                "%(num)d matches will not be played",
                len(matches),
            )
        case Disqualify(bot=bot, versions=others) if others:
            return _(
                "%(bot)s and its other versions (%(others)s) were disqualified; the results of"
                " their tables do not count",
                bot=bot,
                others=", ".join(others),
            )
    return _(_SENTENCES[type(decision)], bot=getattr(decision, "bot", None))
