"""Decisions of the organiser, and what follows from them: who plays, and which results count.

They are read from the facts of a run, where a store lists them under `decisions`, so that an export
and a run in memory are read as a store is.
"""

from collections.abc import Container, Iterable, Mapping
from dataclasses import replace
from typing import Any

from tournament.config.cup import Bot, Cup
from tournament.records import Decision, DecisionKind, VoidRecord
from tournament.text import plural, printable

_SENTENCES = {
    DecisionKind.PAUSE: "The run was paused",
    DecisionKind.RESUME: "The run was resumed",
    DecisionKind.VOID: "{matches} of block {block} became void",
    DecisionKind.WITHDRAW: "{bot} was withdrawn and plays no more; its results stand",
    DecisionKind.DISQUALIFY: "{bot} was disqualified; the results of its tables do not count",
    DecisionKind.UNDO: "The latest decision about {bot} was taken back",
    DecisionKind.JOIN: "{bot} joined",
    DecisionKind.LEAVE: "{bot} left; its results stand",
    DecisionKind.SKIP: "{matches} will not be played",
    DecisionKind.FINISH: "The ladder was ended",
}
_EXCLUSIONS = {
    DecisionKind.WITHDRAW: "withdrawn",
    DecisionKind.DISQUALIFY: "disqualified",
    DecisionKind.LEAVE: "left",
}

_OF_BOTS = (DecisionKind.JOIN, DecisionKind.LEAVE, DecisionKind.SKIP)
"""What bots have done: in a ladder that is too much for a table."""

_UNSANDBOXED = "The bots were started without a sandbox and could do all that the organiser can."
_SHARED = (
    'Every seating of a table had the same cards (cards = "shared"), which bots by URL and those'
    " that connect may have remembered."
)


def decided(facts: Mapping[str, Any]) -> list[Decision]:
    """The decisions in order."""
    return list(facts.get("decisions", ()))


def disqualified(facts: Mapping[str, Any]) -> frozenset[str]:
    """The bots whose tables do not count."""
    found = exclusions(decided(facts))
    return frozenset(one.bot for one in found if one.kind == DecisionKind.DISQUALIFY)


def exclusions(decisions: Iterable[Decision]) -> list[Decision]:
    """The decisions by which bots play no more, without those that were taken back."""
    found: list[Decision] = []
    for one in decisions:
        if one.kind in _EXCLUSIONS:
            found.append(one)
        elif one.kind == DecisionKind.UNDO:
            latest = [each for each in found if each.kind != DecisionKind.LEAVE][-1:]
            found = [each for each in found if each not in latest]
    return found


def joined(decisions: Iterable[Decision], known: Container[str] = ()) -> list[Bot]:
    """The bots that have joined, in order, without those that are `known`."""
    return [
        Bot(one.bot, connect=True, author=one.author or None)
        for one in decisions
        if one.kind == DecisionKind.JOIN and one.bot not in known
    ]


def with_joined(cup: Cup, decisions: Iterable[Decision]) -> Cup:
    """The cup with all its bots in the order of their arrival: those of its file, then those that
    have joined."""
    return replace(cup, bots=(*cup.bots, *joined(decisions, cup.names)))


def finished_by(decisions: Iterable[Decision]) -> Decision | None:
    """The decision by which a ladder ends, if there is one."""
    return next((one for one in decisions if one.kind == DecisionKind.FINISH), None)


def exclusion_of(decisions: Iterable[Decision], bot: str) -> Decision | None:
    """The latest decision by which a bot plays no more, if there is one."""
    return {one.bot: one for one in exclusions(decisions)}.get(bot)


def absent(decisions: Iterable[Decision]) -> frozenset[str]:
    """The bots that play no more."""
    return frozenset(one.bot for one in exclusions(decisions))


def exclusion_notices(decisions: Iterable[Decision]) -> dict[str, str]:
    """The bots that play no more, each with a sentence for its author."""
    return {
        one.bot: f"{one.bot} has left."
        if one.kind == DecisionKind.LEAVE
        else f"The organiser decided that {one.bot} plays no more."
        for one in exclusions(decisions)
    }


def exclusion_labels(decisions: Iterable[Decision]) -> dict[str, str]:
    """The bots that play no more, each with the word that says why: withdrawn, disqualified."""
    return {one.bot: _EXCLUSIONS[one.kind] for one in exclusions(decisions)}


def paused(decisions: Iterable[Decision]) -> Decision | None:
    """The decision by which the run is paused, if it is. The end of a ladder ends a pause, too."""
    kinds = (DecisionKind.PAUSE, DecisionKind.RESUME, DecisionKind.FINISH)
    last = [one for one in decisions if one.kind in kinds][-1:]
    return next((one for one in last if one.kind == DecisionKind.PAUSE), None)


def is_skipped(cup: Cup, table: Iterable[str], gone: frozenset[str]) -> bool:
    """Whether a table is not played because one of its bots plays no more.

    Not in formats whose later rounds need every table: there the bot is struck out, as if it
    could not be reached.
    """
    return cup.format.type in ("round-robin", "gauntlet", "ladder") and not gone.isdisjoint(table)


def pending(decisions: Iterable[Decision], voids: Iterable[VoidRecord]) -> list[tuple[int, str]]:
    """The matches that are to become void and have not yet, each with its decision's number."""
    done = {(void.decision, void.match) for void in voids}
    wanted = [
        (one.number, match)
        for one in decisions
        if one.kind == DecisionKind.VOID
        for match in one.matches
    ]
    return [each for each in wanted if each not in done]


def sentence(decision: Decision) -> str:
    """A decision with its time, for people."""
    return f"{decision.at[:16].replace('T', ' ')} UTC: {describe(decision)}"


def describe(decision: Decision) -> str:
    """What was decided, and why."""
    matches = plural(len(decision.matches), "match", "matches")
    what = _SENTENCES[decision.kind].format(bot=decision.bot, matches=matches, block=decision.block)
    why = f" ({decision.why})" if decision.why else ""
    return printable(f"{what}{why}.")


def sentences(facts: Mapping[str, Any]) -> list[str]:
    """The decisions of the organiser, the void matches and what else an organiser chose, for
    people."""
    said = [_UNSANDBOXED] if facts.get("unsandboxed") else []
    said += [sentence(one) for one in decided(facts) if one.kind not in _OF_BOTS]
    skipped = sum(len(one.matches) for one in decided(facts) if one.kind == DecisionKind.SKIP)
    if skipped:
        matches = plural(skipped, "match", "matches")
        said.append(f"{matches} not played, because a bot was away or the ladder ended.")
    config = facts.get("config", {})
    format = config.get("format", {})
    remembers = any(bot.get("url") or bot.get("connect") for bot in config.get("bots", ()))
    if remembers and format.get("cards") == "shared" and format.get("seating") != "fixed":
        said.append(_SHARED)
    for bot, why, many in facts.get("voids", ()):
        matches = plural(many, "match", "matches")
        was = "was" if many == 1 else "were"
        said.append(printable(f"{matches} {was} void because of {bot} and played again. {why}"))
    return said
