"""Void finished matches because of the organiser's decisions: matches to be played again, and those
of blocks that can no longer be completed."""

from collections.abc import Callable, Iterator, Sequence, Set

from tournament.decisions import absent, exclusions, pending
from tournament.formats import Block, Plan, Round
from tournament.formats.plan import Progress
from tournament.formats.scores import Scores
from tournament.model import Run, StoredRun
from tournament.records import Disqualify, Leave, Withdraw
from tournament.store.store import Store, StoreError


class NotVoidable(StoreError):
    """The match or block cannot be voided; the message is a sentence."""


def _finished(store: Store) -> set[str]:
    return {match.match for match in store.summaries()}


def _rounds(
    store: Store, run: StoredRun, rounds: Callable[[Progress, Scores], Iterator[Round]]
) -> Iterator[tuple[Sequence[Block], set[str]]]:
    """Yield the blocks and the finished matches of each round.

    End with the first round that is not complete.
    """
    for part in rounds(run, Scores(store)):
        blocks = list(part.blocks)
        finished = {match.match for match in store.summaries(part.number)}
        yield blocks, finished
        for block in blocks:
            if not run.cup.format.skips(block.table, run.gone) and not finished >= {*block.matches}:
                return


def matches_of(store: Store, plan: Plan, what: str) -> tuple[int, list[str]]:
    """Return the number of a block, and its finished matches that `what` selects.

    `what` is the number of a block, or the id of a match or the beginning of the id.

    Raises:
        NotVoidable: if these matches cannot be voided.
        StoreError: if there is no such match.
    """
    run = store.run()
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
    if run.finished and run.cup.commit:
        raise NotVoidable(
            "This cup has ended and its seed was shown, so what is played again would be dealt from"
            " a public seed. `stich disqualify` can take results out."
        )
    # Nothing depends on these blocks yet: a round begins when the one before is complete.
    *_, (last, _) = _rounds(store, run, plan.open_rounds)
    block = next((one for one in last if one.number == number), None)
    if block is None:
        raise NotVoidable(
            f"Block {number} has decided how the cup continues, so it cannot be played again; only"
            " blocks of the last round can, or with [stop] those since the last look."
        )
    if run.cup.format.skips(block.table, run.gone):
        left = [bot for bot in block.table if bot in run.gone]
        raise NotVoidable(
            f"{' and '.join(left)} no longer {'plays' if len(left) == 1 else 'play'}, so this"
            " cannot be played again. Only `stich disqualify` takes out the results of such a bot,"
            " all of them."
        )
    waiting = {match for _, match in pending(run.decisions, store.voids())}
    found = [match for match in found if match not in waiting]
    if not found:
        raise NotVoidable("This is already to be voided; `stich run` plays it again.")
    return number, found


def last_exclusion(store: Store, plan: Plan) -> Withdraw | Disqualify:
    """Return the organiser's latest decision that excluded a bot.

    Raises:
        NotVoidable: if there is none, or if matches were played or skipped because of it.
    """
    run = store.run()
    found = [one for one in exclusions(run.decisions) if not isinstance(one, Leave)]
    if not found:
        raise NotVoidable(
            "No bot is withdrawn or disqualified. `stich resume` ends a pause; void matches are"
            " played again."
        )
    last, format = found[-1], run.cup.format
    bots = {one.bot for one in found if one.number == last.number}
    finished = _finished(store)
    ended = [blocks for blocks, _ in _rounds(store, run, plan.rounds)]
    if ended and not run.finished:
        del ended[-1]
    blocks = [block for part in ended for block in part]
    others = absent(one for one in run.decisions if one.number != last.number)
    left_out = any(
        not bots.isdisjoint(block.table)
        and not finished.issuperset(block.matches)
        and not format.skips(block.table, others)
        for block in blocks
    )
    stops = run.cup.stop.top is not None
    compared = stops and last.bot in Scores(store).disqualified(run.decisions, len(blocks))
    struck_out = not format.skips_tables and any(
        last.bot in match.table and store.match(match.match).started >= last.at
        for match in store.summaries()
    )
    if left_out or compared or struck_out:
        raise NotVoidable(
            f"The cup has continued without {last.bot} since then, so the decision cannot be taken"
            " back."
        )
    return last


def apply_voids(store: Store, plan: Plan) -> list[str]:
    """Void the matches that decisions make void, and return their ids.

    Only the runner, or the holder of its lock, may call this. If the process is killed, the next
    call voids the rest.
    """
    run = store.run()
    wanted = pending(run.decisions, store.voids())
    if not wanted and (run.finished or not run.gone):
        return []
    # The last round with a finished match: a decision may have come just as a round ended.
    blocks: Sequence[Block] = []
    finished: set[str] = set()
    for part, done in _rounds(store, run, plan.open_rounds):
        if not blocks or any(not done.isdisjoint(block.matches) for block in part):
            blocks, finished = part, done
    allowed = finished.intersection(match for block in blocks for match in block.matches)
    due = {match: number for number, match in wanted if match in allowed}
    if due and run.finished:
        # First, so that a run that is killed now does not count as finished with matches missing.
        store.reopen(plan.matches)
    kept = finished - due.keys()
    why = {decision.number: decision.why for decision in run.decisions}
    moved = [
        (match, number, why[number] or "The organiser decided it.") for match, number in due.items()
    ]
    if due or not run.finished:
        moved += _incomplete(run, blocks, kept)
    if moved:
        store.void_finished(moved)
    return [match for match, _, _ in moved]


def _incomplete(
    run: Run, blocks: Sequence[Block], finished: Set[str]
) -> list[tuple[str, int, str]]:
    """The finished matches of blocks that cannot be completed because a bot was withdrawn.

    They are void because luck does not cancel out in part of a block. Each item is the id of the
    match, the number of the decision, and the reason. The tables of disqualified bots do not count
    anyway.
    """
    last = {one.bot: one for one in exclusions(run.decisions)}
    found = []
    for block in blocks:
        played = [match for match in block.matches if match in finished]
        if len(played) < len(block.matches) and run.cup.format.skips(block.table, run.gone):
            why = [last[bot] for bot in block.table if bot in run.gone]
            if not any(isinstance(one, Disqualify) for one in why):
                said = f"{why[0].bot} no longer plays, so its block cannot be completed."
                found += [(match, why[0].number, said) for match in played]
    return found
