"""The consequences of decisions: what an organiser's decision would change, whether it is possible,
and which finished matches become void."""

from collections.abc import Callable, Iterator, Sequence, Set

from tournament.decisions import excluded, exclusions, pending
from tournament.formats import Block, Plan, Round
from tournament.formats.plan import Progress
from tournament.formats.scores import Scores
from tournament.model import Run, StoredRun
from tournament.records import Disqualify, Leave, Withdraw
from tournament.store.store import Store, StoreError
from tournament.text import plural

_NO_RESULTS = "the results of all its tables stop counting"


def consequences(store: Store, bot: str, kind: type[Withdraw] | type[Disqualify]) -> list[str]:
    """Return sentences that say what a decision of this `kind` about a bot would change, and until
    when the organiser could reverse the decision.

    Raises:
        StoreError: if the store has no run or cannot be read.
    """
    run = store.run()
    stands = "its results stand" if kind is Withdraw else _NO_RESULTS
    if kind is Disqualify and run.cup.is_ladder and not run.finished:
        stands = f"{_NO_RESULTS} when the next epoch begins"
    return [
        f"{bot} no longer plays, and {stands}.",
        *_lost(store, run, bot, kind),
        f"`stich undo` takes this back {_undone(run, bot)}.",
    ]


def _lost(
    store: Store, run: StoredRun, bot: str, kind: type[Withdraw] | type[Disqualify]
) -> Iterator[str]:
    played = [match for match in store.summaries() if bot in match.table]
    if kind is Disqualify and played:
        yield f"{plural(len(played), 'finished match', 'finished matches')} will not count."
    if run.finished or bot in run.gone:
        return
    format, players = run.cup.format, run.cup.players
    if not format.skips_tables:
        yield (
            "No table and no round falls away: at its tables the others play on against default"
            " moves in its place."
        )
        return
    present = [name for name in run.cup.names if name not in run.gone]
    plan, scores = run.plan(), Scores(store)
    after = plan.total(run, scores, run.gone | {bot})
    fewer = plan.total(run, scores, run.gone) - after
    tables = format.tables(len(present), players)
    if bot not in format.always():
        tables -= format.tables(len(present) - 1, players) if len(present) > players else 0
    if fewer:
        at = f" at {plural(tables, 'table')}" if tables else ""
        yield f"{plural(fewer, 'match', 'matches')}{at} will not be played."
    if run.cup.is_ladder:
        if len(present) <= players:
            yield "Too few bots are left for a table: the ladder waits until another one joins."
        return
    if after <= store.count():
        yield "This leaves no table: the cup ends now."


def _undone(run: StoredRun, bot: str) -> str:
    """Return until when the exclusion of a bot can be reversed (see `last_exclusion`), in words
    that end a sentence, such as "at any time"."""
    if run.finished:
        return "at any time"
    if run.cup.is_ladder:
        return "until the next epoch begins"
    if not run.cup.format.skips_tables:
        return f"until a match is played in which {bot} is struck out"
    look = "the next look of [stop] or " if run.cup.stop.top is not None else ""
    return f"until {look}the cup has ended"


def _rounds(
    store: Store, run: StoredRun, rounds: Callable[[Progress, Scores], Iterator[Round]]
) -> Iterator[tuple[Sequence[Block], set[str]]]:
    """Yield the blocks of each round, and the ids of the round's finished matches. End after the
    first incomplete round. `rounds` is the method `rounds` or `open_rounds` of the run's plan."""
    for part in rounds(run, Scores(store)):
        blocks = list(part.blocks)
        finished = {match.match for match in store.summaries(part.number)}
        yield blocks, finished
        for block in blocks:
            if not run.cup.format.skips(block.table, run.gone) and not finished >= {*block.matches}:
                return


def matches_of(store: Store, plan: Plan, what: str) -> tuple[int, list[str]]:
    """Return the number of a block, and the ids of the finished matches in it that `what` selects.
    Matches that are already to be voided are left out.

    `what` is a block's number, of at most seven digits, or else the whole or the beginning of a
    match's id.

    Raises:
        StoreError: if the matches cannot become void or are all to be voided already, the block has
            no finished match, the id fits no match or several matches, or the store cannot be read.
    """
    run = store.run()
    if what.isdecimal() and len(what) < 8:
        number = int(what)
        matches = [match.match for match in store.summaries() if match.block == number]
        if not matches:
            raise StoreError(
                f"There is no finished match of block {number}; `stich matches` lists them all."
            )
    else:
        match = store.match(what)
        number, matches = match.block, [match.match]
    if run.finished and run.cup.commit:
        raise StoreError(
            "This cup has ended and its seed was shown, so what is played again would be dealt from"
            " a public seed. `stich disqualify` can take results out."
        )
    # Nothing depends on these blocks yet: a round begins when the one before is complete.
    *_, (last, _) = _rounds(store, run, plan.open_rounds)
    block = next((block for block in last if block.number == number), None)
    if block is None:
        raise StoreError(
            f"Block {number} has decided how the cup continues, so it cannot be played again; only"
            " blocks of the last round can, or with [stop] those since the last look."
        )
    if run.cup.format.skips(block.table, run.gone):
        left = [bot for bot in block.table if bot in run.gone]
        raise StoreError(
            f"{' and '.join(left)} no longer {'plays' if len(left) == 1 else 'play'}, so this"
            " cannot be played again. Only `stich disqualify` takes out the results of such a bot,"
            " all of them."
        )
    waiting = {match for _, match in pending(run.decisions, store.voids())}
    matches = [match for match in matches if match not in waiting]
    if not matches:
        raise StoreError("This is already to be voided; `stich run` plays it again.")
    return number, matches


def last_exclusion(store: Store, plan: Plan) -> Withdraw | Disqualify:
    """Return the organiser's latest decision that excluded a bot and was not reversed. A decision
    that excluded several versions of a bot is returned as a copy without `versions`.

    Raises:
        StoreError: if there is no such decision, it cannot be reversed because the cup has
            continued without the bot, or the store cannot be read.
    """
    run = store.run()
    by_organiser = [
        decision for decision in exclusions(run.decisions) if not isinstance(decision, Leave)
    ]
    if not by_organiser:
        raise StoreError(
            "No bot is withdrawn or disqualified. `stich resume` ends a pause; void matches are"
            " played again."
        )
    last, format = by_organiser[-1], run.cup.format
    bots = {decision.bot for decision in by_organiser if decision.number == last.number}
    finished = {match.match for match in store.summaries()}
    ended = [blocks for blocks, _ in _rounds(store, run, plan.rounds)]
    if ended and not run.finished:
        del ended[-1]
    blocks = [block for part in ended for block in part]
    before = (decision for decision in run.decisions if decision.number != last.number)
    others = frozenset(excluded(before))
    left_out = any(
        not bots.isdisjoint(block.table)
        and not finished.issuperset(block.matches)
        and not format.skips(block.table, others)
        for block in blocks
    )
    stops = run.cup.stop.top is not None
    tables = [block.table for block in blocks]
    compared = stops and last.bot in Scores(store).disqualified(run.decisions, tables)
    struck_out = not format.skips_tables and any(
        last.bot in match.table and store.match(match.match).started >= last.at
        for match in store.summaries()
    )
    if left_out or compared or struck_out:
        raise StoreError(
            f"The cup has continued without {last.bot} since then, so the decision cannot be taken"
            " back."
        )
    return last


def apply_voids(store: Store, plan: Plan) -> list[str]:
    """Make matches void as the stored decisions require, and return the ids of these matches.

    Only matches of the last round that has finished matches can become void. If the organiser voids
    matches of a finished run, the run becomes unfinished. The caller must hold the store's lock
    (see `only_runner`). If the process is killed meanwhile, the next call does the rest.

    Raises:
        StoreError: if the store cannot be used.
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
    why = {decision.number: decision.why for decision in run.decisions}
    moved = [
        (match, number, why[number] or "The organiser decided it.") for match, number in due.items()
    ]
    if due or not run.finished:
        moved += _incomplete(run, blocks, finished - due.keys())
    if moved:
        store.void_finished(moved)
    return [match for match, _, _ in moved]


def _incomplete(
    run: Run, blocks: Sequence[Block], finished: Set[str]
) -> list[tuple[str, int, str]]:
    """Return (match id, number of the decision, reason) for each finished match of `blocks` whose
    block can no longer be completed because a bot was withdrawn or left. Blocks with a disqualified
    bot are left out, because they do not count anyway."""
    last = excluded(run.decisions)
    incomplete = []
    for block in blocks:
        played = [match for match in block.matches if match in finished]
        if len(played) < len(block.matches) and run.cup.format.skips(block.table, run.gone):
            reasons = [last[bot] for bot in block.table if bot in run.gone]
            if not any(isinstance(decision, Disqualify) for decision in reasons):
                first = reasons[0]
                why = f"{first.bot} no longer plays, so its block cannot be completed."
                incomplete += [(match, first.number, why) for match in played]
    return incomplete
