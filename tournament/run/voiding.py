"""Make finished matches void because the organiser decided it; they are played again."""

from __future__ import annotations

from collections.abc import Sequence

from tournament.config import Cup
from tournament.decisions import absent, is_skipped, pending
from tournament.formats import Block, Schedule
from tournament.formats.round_scores import RoundScores
from tournament.store.store import Store


class NotVoidable(Exception):
    """The match or block cannot become void; the text is a sentence."""


def open_blocks(store: Store, cup: Cup, schedule: Schedule) -> Sequence[Block]:
    """The blocks on whose results nothing depends yet: those of the last round that has begun,
    or since the last look of `[stop]`."""
    done = {match.match for match in store.summaries()}
    gone = absent(store.decisions())
    blocks: list[Block] = []
    for part in schedule.rounds(RoundScores(store)):
        blocks = list(part.blocks)
        for block in blocks:
            if not is_skipped(cup, block.table, gone) and not done.issuperset(block.matches):
                return blocks
    return blocks


def matches_of(store: Store, cup: Cup, schedule: Schedule, what: str) -> tuple[int, list[str]]:
    """The block and the finished matches that `what` names: the number of a block, or the id of a
    match or its beginning. NotVoidable; StoreError if there is no such match."""
    if what.isdigit() and len(what) < 8:
        number = int(what)
        found = [match.match for match in store.summaries() if match.block == number]
        if not found:
            raise NotVoidable(
                f"There is no finished match of block {number}; `stich matches` lists them all."
            )
    else:
        match = store.match(what)
        number, found = match.block, [match.match]
    if store.get("finished") and cup.commit:
        raise NotVoidable(
            "This cup has ended and its seed was shown, so what is played again would be dealt from"
            " a seed that everybody knows. Results can be taken out by `stich disqualify`."
        )
    if number not in {block.number for block in open_blocks(store, cup, schedule)}:
        raise NotVoidable(
            f"Block {number} has decided how the cup continues, so it cannot be played again; only"
            " blocks of the last round can, or with [stop] those since the last look."
        )
    return number, found


def apply_voids(store: Store, cup: Cup, schedule: Schedule) -> list[str]:
    """Make the matches void that are to be; those that became so. Only the runner, or who holds its
    lock, may call this."""
    decisions = {decision.number: decision for decision in store.decisions()}
    wanted = pending(decisions.values(), store.voids())
    if not wanted:
        return []
    allowed = {match for block in open_blocks(store, cup, schedule) for match in block.matches}
    finished = {match.match for match in store.summaries()}
    done = []
    for number, match in wanted:
        if match in allowed and match in finished:
            why = decisions[number].why or "The organiser decided it."
            store.void_finished(match, number, why)
            finished.discard(match)
            done.append(match)
    if done and store.get("finished"):
        store.put({"finished": False, "places": None, "settled": None, "total": schedule.matches})
    return done
