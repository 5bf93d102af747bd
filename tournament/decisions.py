"""What a run's decisions mean: which bots play, which results count, and sentences for people."""

from collections.abc import Iterable
from itertools import chain
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
    """Return the decisions by which bots stop playing, without those that an `Undo` took back.

    `decisions` must be oldest first, and so is the result. A decision that disqualifies several
    versions of a bot is replaced by a copy for each version, with that version as its `bot`.
    """
    standing: list[list[Exclusion]] = []
    for decision in decisions:
        if isinstance(decision, Disqualify):
            bots = (*decision.versions, decision.bot)
            standing.append([replace(decision, bot=bot, versions=()) for bot in bots])
        elif isinstance(decision, Exclusion):
            standing.append([decision])
        elif isinstance(decision, Undo):
            undone = [item for item in standing if not isinstance(item[0], Leave)][-1:]
            standing = [item for item in standing if item not in undone]
    return list(chain.from_iterable(standing))


def other_versions(decisions: Iterable[AnyDecision], bot: str) -> tuple[str, ...]:
    """Return the other versions of a ladder's bot that the same author entered, oldest first.

    Versions that no longer play are included. A bot that the organiser entered has none.
    """
    authors = {join.bot: join.author for join in decisions if isinstance(join, Join)}
    author = authors.get(bot)
    return tuple(
        other
        for other, other_author in authors.items()
        if author and other_author == author and other != bot and base(other) == base(bot)
    )


def excluded(decisions: Iterable[AnyDecision]) -> dict[str, Exclusion]:
    """Map each bot that no longer plays to the latest decision by which it stopped playing."""
    return {exclusion.bot: exclusion for exclusion in exclusions(decisions)}


def exclusion_notices(decisions: Iterable[AnyDecision]) -> dict[str, str]:
    """Return, for each bot that no longer plays, an English sentence for the bot's author. The keys
    are the names of the bots."""
    return {
        bot: f"{bot} has left."
        if isinstance(decision, Leave)
        else f"The organiser decided that {bot} no longer plays."
        for bot, decision in excluded(decisions).items()
    }


def exclusion_labels(decisions: Iterable[AnyDecision]) -> dict[str, str]:
    """Map each bot that no longer plays to the English label "withdrawn", "disqualified" or "left".
    The latest decision about a bot counts."""
    return {bot: _LABELS[type(decision)] for bot, decision in excluded(decisions).items()}


def finished_by(decisions: Iterable[AnyDecision]) -> Finish | None:
    """Return the decision that ends a ladder, or None if there is none."""
    return next((decision for decision in decisions if isinstance(decision, Finish)), None)


def paused(decisions: Iterable[AnyDecision]) -> Pause | None:
    """Return the decision by which a run is paused, or None if the run is not paused or is over."""
    switches = [item for item in decisions if isinstance(item, Pause | Resume | Finish)]
    return switches[-1] if switches and isinstance(switches[-1], Pause) else None


def skipped(decisions: Iterable[AnyDecision]) -> frozenset[str]:
    """Return the ids of the matches of a ladder that will not be played."""
    return frozenset(
        match for item in decisions if isinstance(item, Skip) for match in item.matches
    )


def pending(decisions: Iterable[AnyDecision], voids: Iterable[AnyVoid]) -> list[tuple[int, str]]:
    """Return (number of the decision, match id) for each match that a `Void` decision has yet to
    make void, in the order of the decisions. `voids` has the records of all void matches."""
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
