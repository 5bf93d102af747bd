"""Void finished matches because of the organiser's decisions: matches to be played again, and those
of blocks that can no longer be completed."""

from collections.abc import Callable, Collection, Iterator, Sequence, Set

from tournament.config.cup import Cup
from tournament.decisions import absent, exclusions, is_skipped, pending
from tournament.formats import Block, Round, Schedule
from tournament.formats.round_scores import RoundScores
from tournament.records import Decision, DecisionKind
from tournament.store.store import Store, StoreError


class NotVoidable(StoreError):
    """The match or block cannot be voided; the message is a sentence."""


def _finished(store: Store) -> set[str]:
    return {match.match for match in store.summaries()}


def _rounds(
    store: Store,
    cup: Cup,
    rounds: Callable[[RoundScores], Iterator[Round]],
    finished: Set[str],
) -> Iterator[Sequence[Block]]:
    """The blocks of each of these rounds, up to the first round that is not complete."""
    gone = absent(store.decisions())
    for part in rounds(RoundScores(store)):
        blocks = list(part.blocks)
        yield blocks
        for block in blocks:
            if not is_skipped(cup, block.table, gone) and not finished >= set(block.matches):
                return


def matches_of(store: Store, cup: Cup, schedule: Schedule, what: str) -> tuple[int, list[str]]:
    """The block and its finished matches that `what` names: the number of a block, or the id of a
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
            " a public seed. `stich disqualify` can take results out."
        )
    # Nothing depends on these blocks yet: a round begins when the one before is complete.
    *_, last = _rounds(store, cup, schedule.open_rounds, _finished(store))
    block = next((one for one in last if one.number == number), None)
    if block is None:
        raise NotVoidable(
            f"Block {number} has decided how the cup continues, so it cannot be played again; only"
            " blocks of the last round can, or with [stop] those since the last look."
        )
    decisions = store.decisions()
    gone = absent(decisions)
    if is_skipped(cup, block.table, gone):
        left = [bot for bot in block.table if bot in gone]
        raise NotVoidable(
            f"{' and '.join(left)} no longer {'plays' if len(left) == 1 else 'play'}, so this"
            " cannot be played again. Only `stich disqualify` takes out the results of such a bot,"
            " all of them."
        )
    waiting = {match for _, match in pending(decisions, store.voids())}
    found = [match for match in found if match not in waiting]
    if not found:
        raise NotVoidable("This is already to be voided; `stich run` plays it again.")
    return number, found


def last_exclusion(store: Store, cup: Cup, schedule: Schedule) -> Decision:
    """The latest decision that excluded a bot. NotVoidable if there is none, or if matches were
    played, or skipped, because of it."""
    found = [one for one in exclusions(store.decisions()) if one.kind != DecisionKind.LEAVE]
    if not found:
        raise NotVoidable(
            "No bot is withdrawn or disqualified. `stich resume` ends a pause; void matches are"
            " played again."
        )
    last, finished = found[-1], _finished(store)
    ended = list(_rounds(store, cup, schedule.rounds, finished))
    if ended and not store.get("finished"):
        del ended[-1]
    blocks = [block for part in ended for block in part]
    others = absent(store.decisions()) - {last.bot}
    left_out = any(
        last.bot in block.table
        and not finished.issuperset(block.matches)
        and not is_skipped(cup, block.table, others)
        for block in blocks
    )
    compared = cup.stop.top is not None and last.bot in RoundScores(store).disqualified(len(blocks))
    struck_out = not is_skipped(cup, [last.bot], frozenset([last.bot])) and any(
        last.bot in match.table and store.match(match.match).started >= last.at
        for match in store.summaries()
    )
    if left_out or compared or struck_out:
        raise NotVoidable(
            f"The cup has continued without {last.bot} since then, so the decision cannot be taken"
            " back."
        )
    return last


def apply_voids(store: Store, cup: Cup, schedule: Schedule) -> list[str]:
    """Void the matches that are to be voided, and return them. Only the runner, or the holder of
    its lock, may call this. If it is killed, the next call does the rest."""
    decisions = {decision.number: decision for decision in store.decisions()}
    wanted = pending(decisions.values(), store.voids())
    ended = store.get("finished")
    if not wanted and (ended or not absent(decisions.values())):
        return []
    finished = _finished(store)
    # The last round with a finished match: a decision may have come just as a round ended.
    blocks: Sequence[Block] = []
    for part in _rounds(store, cup, schedule.open_rounds, finished):
        if not blocks or any(not finished.isdisjoint(block.matches) for block in part):
            blocks = part
    allowed = finished.intersection(match for block in blocks for match in block.matches)
    due = {match: number for number, match in wanted if match in allowed}
    if due and ended:
        # First, so that a run that is killed now does not count as finished with matches missing.
        store.put({"finished": False, "places": None, "settled": None, "total": schedule.matches})
    kept = finished - due.keys()
    moved = [
        (match, number, decisions[number].why or "The organiser decided it.")
        for match, number in due.items()
    ]
    if due or not ended:
        moved += _incomplete(cup, blocks, kept, decisions.values())
    if moved:
        store.void_finished(moved)
    return [match for match, _, _ in moved]


def _incomplete(
    cup: Cup, blocks: Sequence[Block], finished: Set[str], decisions: Collection[Decision]
) -> list[tuple[str, int, str]]:
    """The finished matches of blocks that cannot be completed because a bot was withdrawn, each
    with the number of that decision and why it is void: in part of a block, luck does not cancel
    out. The tables of disqualified bots do not count anyway."""
    gone = absent(decisions)
    last = {one.bot: one for one in exclusions(decisions)}
    found = []
    for block in blocks:
        played = [match for match in block.matches if match in finished]
        if len(played) < len(block.matches) and is_skipped(cup, block.table, gone):
            why = [last[bot] for bot in block.table if bot in gone]
            if all(one.kind != DecisionKind.DISQUALIFY for one in why):
                said = f"{why[0].bot} no longer plays, so its block cannot be completed."
                found += [(match, why[0].number, said) for match in played]
    return found
