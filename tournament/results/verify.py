"""Verification for `stich verify`: recompute every deal, move and score of a run.

Nothing that the runner computed is trusted. The schedule is drawn again from the cup and its seed,
and the matches are dealt and replayed with the rules in `games/`.
"""

import reprlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import games
from games import IllegalMove, State
from tournament.config.cup import Cup
from tournament.formats.ladder import LadderPlan
from tournament.formats.plan import with_replays
from tournament.formats.scores import Scores
from tournament.formats.seeds import commitment, follows
from tournament.records import MatchRecord, MatchSummary, Pairing, Revocation, adjusted
from tournament.results.published import file_mismatches
from tournament.store.chain import ChainBroken, Digest
from tournament.store.engine import StoreError
from tournament.store.reader import StoreReader
from tournament.store.run_reader import RunReader
from tournament.store.signing import is_trusted
from tournament.text import plural

Watch = Callable[[Iterator[MatchRecord]], Iterable[MatchRecord]]

_NOT_SHOWN = (
    "A file shows neither signature nor commitment, nor whether seeds, seatings and ids were drawn"
    " from the seed of the cup: `stich verify` checks these in the folder of the run."
)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A difference between the store and what was recomputed."""

    match: str | None  # its id, or None if the mismatch concerns the whole run
    detail: str  # a sentence


@dataclass(slots=True)
class Verification:
    """The result of a verification: counts of what was recomputed, and all mismatches."""

    finished: bool = False
    blocks: int = 0
    matches: int = 0
    deals: int = 0
    moves: int = 0
    commitment: bool | None = None  # whether the seed fits it; None without a commitment
    signature: bool | None = None  # whether it is the signer's; None without a signature
    signer: str | None = None  # public key; None for a file of matches or an unreadable run
    trusted: bool | None = None  # whether the user owns or trusts this key; None without a signer
    entries: int = 0  # of the store's chain that agree with its rows
    incidents: list[str] = field(default_factory=list)  # sentences of `Run.incidents` and others
    mismatches: list[Mismatch] = field(default_factory=list)

    @property
    def verified(self) -> bool:
        """Whether there are no mismatches."""
        return not self.mismatches

    def report(self, match: str | None, details: Iterable[str]) -> None:
        """Add a mismatch for each sentence in `details`. `match` is as in `Mismatch`."""
        self.mismatches += [Mismatch(match, detail) for detail in details]

    def count(self, record: MatchRecord) -> None:
        """Count a recomputed match, its deals and its moves."""
        self.matches += 1
        self.deals += len(record.results)
        self.moves += len(record.moves)

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON object of "verified" and the fields. `mismatches` is named "problems"."""
        fields = asdict(self)
        problems = fields.pop("mismatches")
        return {"verified": self.verified, **fields, "problems": problems}


def verify(
    store: StoreReader, watch: Watch = iter, receipts: Sequence[Digest] = ()
) -> Verification:
    """Recompute a whole run, check its chain, signature and files, and return the result.

    It is a mismatch, not an error, if the store or a published file cannot be read, or if the run's
    chain does not contain one of `receipts`. `watch` wraps the iteration over the matches, for
    example to show progress, and must yield all of them in the same order.
    """
    done = Verification()
    try:
        # A snapshot, so that an error leaves no connection open.
        with store.snapshot() as now:
            problems = now.file_problems()
            done.report(None, (f"The file is damaged: {problem}." for problem in problems))
            _RunCheck(now, done).check(watch, receipts)
            if now.folder is not None:
                done.report(None, file_mismatches(now, now.folder))
    except StoreError as error:
        done.report(None, [str(error)])
    except OSError as error:
        done.report(None, [f"A file of the run cannot be read: {error}."])
    except (ValueError, LookupError, TypeError) as error:
        read = plural(done.matches, "match", "matches")
        done.report(None, [f"The store cannot be read beyond {read}: {error!r}."])
    return done


def verify_matches(store: RunReader, watch: Watch = iter) -> Verification:
    """Recompute the matches in a file of matches, each from its own seed, and return the result.

    A sentence in `incidents` says what cannot be verified from a file. `watch` is as in `verify`.

    Raises:
        StoreError: if the file cannot be read.
    """
    run = store.run()
    done = Verification(run.finished, incidents=[*run.incidents(), _NOT_SHOWN])
    done.blocks = sum(1 for _ in store.blocks())
    for record in watch(store.matches()):
        done.report(record.match, _Replay(record, run.cup).mismatches())
        done.count(record)
    return done


class _RunCheck:
    """A check of a store against the schedule of its cup. Use each instance only once."""

    def __init__(self, store: StoreReader, done: Verification) -> None:
        self.store = store
        self.done = done
        self.run = store.run()
        self.cup = self.run.cup
        self.plan = self.run.plan()
        self.scores = Scores(store)
        self.voids = Counter(void.match for void in store.voids())
        self.incomplete = False
        done.incidents = self.run.incidents()
        done.finished = self.run.finished
        done.signer = self.run.signer
        done.trusted = is_trusted(self.run.signer)

    def check(self, watch: Watch, receipts: Sequence[Digest]) -> None:
        done = self.done
        done.report(None, self.seed_mismatches())
        done.report(None, self.signature_mismatches())
        done.report(None, self.chain_mismatches(receipts))
        plan = self.pairings()
        planned = next(plan, None)
        last = None
        matches = watch(self.store.matches())
        for record, summary in zip(matches, self.store.summaries(), strict=True):
            here = (record.block, record.number)
            while planned is not None and (planned.block, planned.number) < here:
                self.on_missing(planned)
                planned = next(plan, None)
            if planned is None or (planned.block, planned.number) != here:
                done.report(record.match, ["The schedule has no such match."])
            else:
                done.report(record.match, _plan_mismatches(planned, record, self.cup))
                planned = next(plan, None)
            done.report(record.match, _Replay(record, self.cup).mismatches())
            if any(summary.fallbacks) and not self.store.is_complete(record.block):
                # The store hides the fallbacks of a match until its block is complete.
                summary = summary._replace(fallbacks=record.summary().fallbacks)
            done.report(record.match, _summary_mismatches(record, summary))
            done.blocks += record.block != last
            last = record.block
            done.count(record)
        while planned is not None:
            self.on_missing(planned)
            planned = next(plan, None)
        done.report(None, self.epoch_mismatches())
        done.report(None, self.end_mismatches())

    def seed_mismatches(self) -> Iterator[str]:
        cup, digest = self.cup, self.run.commitment
        if digest is not None:
            self.done.commitment = digest == commitment(self.run.seed)
            if not self.done.commitment:
                yield "The seed is not the one that was committed to."
        if cup.commit and digest is None:
            yield "The cup commits to its seed, but the store has no commitment."
        if not cup.commit and digest is not None:
            yield "The store has a commitment to a seed, but the cup does not commit to one."
        if not follows(self.run.seed, cup.seed, cup.commit):
            yield "The run's seed is not the one in its cup."

    def signature_mismatches(self) -> Iterator[str]:
        done = self.done
        done.signature = self.store.is_signed()
        if done.signature is False:
            signer = self.run.signer
            yield f"The run is not the one that was signed by {signer}: it was changed since."
        if done.finished and done.signature is None:
            yield "The run has ended, but is not signed."

    def chain_mismatches(self, receipts: Sequence[Digest]) -> Iterator[str]:
        """Yield a sentence if the chain is broken, and for each decision or receipt that does not
        fit the chain. Only the entries before the break are compared."""
        decisions, voids, finished = iter(self.run.decisions), iter(self.store.voids()), 0
        digests = dict.fromkeys((entry for entry, _ in receipts), "")
        try:
            for table, (number, digest) in self.store.walk():
                self.done.entries = number
                if number in digests:
                    digests[number] = digest
                if table == "matches":
                    finished += 1
                elif table == "voids" and isinstance(next(voids), Revocation):
                    finished -= 1
                elif table == "decisions" and (made := next(decisions)).after != finished:
                    yield (
                        f"Decision {made.number} says that {made.after} matches were finished"
                        f" before; it was written after {finished}."
                    )
        except ChainBroken as error:
            yield str(error)
        for number, digest in receipts:
            receipt = f"the receipt {number}:{digest}"
            if not digests[number]:
                agree = self.done.entries
                yield f"The run does not reach {receipt}: only {agree} entries agree."
            elif digests[number] != digest:
                yield (
                    f"The run does not pass through {receipt}: its digest there is"
                    f" {digests[number]}. Something that was written until then was replaced, or"
                    " the receipt is that of another run."
                )

    def epoch_mismatches(self) -> Iterator[str]:
        if not isinstance(self.plan, LadderPlan):
            return
        for number, epoch in enumerate(self.run.epochs, 1):
            strangers = sorted(set(epoch.bots).difference(self.cup.names))
            if strangers:
                yield f"Epoch {number} has bots that have not joined: {', '.join(strangers)}."
            drawn = self.plan.draw(self.run, self.scores, number, epoch.bots)
            if (epoch.number, epoch.tables) != (number, drawn):
                yield f"The tables of epoch {number} are not those that are drawn for its bots."

    def end_mismatches(self) -> Iterator[str]:
        run, plan = self.run, self.plan
        if not run.finished:
            if run.places is not None:
                yield f"The run has not ended, but the store has places, {run.places}."
            return
        format, stops = run.cup.format, run.cup.stop.top is not None
        early = stops or run.gone or not format.keeps_blocks_fixed
        total = self.done.matches if early else plan.matches
        if run.total != total:
            yield f"The run's total is {run.total} matches; by its cup it is {total}."
        if self.incomplete:
            return
        if run.settled != plan.settled:
            yield f"Settled are {list(plan.settled)}, the store has {list(run.settled)}."
        places = plan.places(run, self.scores)
        if run.places != places:
            yield f"The places are {places}, the store has {run.places}."

    def pairings(self) -> Iterator[Pairing]:
        """Yield the planned matches, up to the end of the first round that is incomplete.

        The caller must report each missing match to `on_missing` before asking for the next match.
        Later rounds may depend on the results of an incomplete round.
        """
        for part in self.plan.rounds(self.run, self.scores):
            for block in part.blocks:
                dealt = with_replays(block, self.run.seed, self.cup.remote, self.voids)
                yield from map(dealt.pairing, range(len(block.seatings)))
            if self.incomplete:
                return

    def on_missing(self, planned: Pairing) -> None:
        if self.cup.format.skips(planned.table, self.run.gone):
            return
        self.incomplete = True
        if self.done.finished:
            where = f"seating {planned.number + 1} of block {planned.block}"
            self.done.report(planned.match, [f"The store lacks this match, {where}."])


def _plan_mismatches(planned: Pairing, record: MatchRecord, cup: Cup) -> Iterator[str]:
    """Yield a sentence for each field of a match that differs from the cup or the planned match.

    `planned` must be the match as drawn again from the run's seed.
    """
    of_cup = {"game": cup.game, "players": cup.players, "options": cup.options}
    for name, drawn in {**of_cup, **asdict(planned)}.items():
        if (stored := getattr(record, name)) != drawn:
            yield f"Its {name} is {stored}; by the cup and its seed it is {drawn}."


class _Replay:
    """A replay of one match from its seed and moves, with the strike limit and clock of `cup`."""

    def __init__(self, record: MatchRecord, cup: Cup) -> None:
        self.record = record
        self.limit = cup.strikes
        self.ask_forced = cup.clock.ask_forced
        self.forced: list[int] = []
        self.requests = [0] * record.players
        self.strikes = [0] * record.players
        self.faults = {fault.move: fault for fault in record.faults}

    def mismatches(self) -> Iterator[str]:
        """Replay the match once, and yield a sentence for each difference from the record. Stop at
        an illegal move or a move after the end of the game, without comparing the outcome.

        Raises:
            games.OptionError, games.UnknownGame: if the match cannot be started.
        """
        record = self.record
        if len(self.faults) != len(record.faults):
            yield "Two faults are recorded at one move."
        state = games.get(record.game).start(record.players, record.seed, record.options)
        for index, move in enumerate(record.moves):
            seat = state.turn
            if seat is None:
                yield f"Move {index} ({move}) comes after the end of the game."
                return
            yield from self._check_move(state, seat, index, move)
            try:
                state = state.advance(move)
            except IllegalMove as error:
                what = f"Move {index} ({move}) of seat {seat}"
                yield f"{what} is not legal ({error.reason}): {error.detail}"
                return
        yield from self._outcome_mismatches(state)

    def _check_move(self, state: State, seat: int, index: int, move: str) -> Iterator[str]:
        fault = self.faults.pop(index, None)
        if self.strikes[seat] >= self.limit:
            if fault is not None:
                yield f"A fault at move {index} of seat {seat}, which was struck out by then."
        elif not self.ask_forced and len(state.moves()) == 1:
            self.forced.append(index)
            if fault is not None:
                yield f"A fault at move {index} of seat {seat}, which was the only legal one."
        else:
            self.requests[seat] += 1
            if fault is None:
                return
            self.strikes[seat] += 1
            if (fault.seat, fault.turn, fault.played) != (seat, self.requests[seat], move):
                yield f"The fault at move {index} does not fit the move."
        default = state.moves()[0].text
        if default != move:
            yield f"The default move at move {index} is {default}; the store has {move}."

    def _outcome_mismatches(self, state: State) -> Iterator[str]:
        record = self.record
        if state.turn is not None:
            yield f"The game is not over after {len(record.moves)} moves."
            return
        scores = tuple(state.scores)
        struck = tuple(s for s in range(record.players) if self.strikes[s] >= self.limit)
        compared = {
            "scores": (list(scores), list(record.scores)),
            "results of the deals": (state.to_dict()["results"], [*map(dict, record.results)]),
            "number of deals": (len(state.results), record.deals),
            "seats struck out": (list(struck), list(record.struck)),
            "scores after strikes": (list(adjusted(scores, struck)), list(record.adjusted)),
            "moves without a request": (self.forced, list(record.forced)),
            "numbers of requests": (self.requests, [len(times) for times in record.times]),
        }
        for subject, (true, stored) in compared.items():
            if true != stored:
                yield f"The {subject} are {true}, the store has {stored}."
        if self.faults:
            extra = sorted(self.faults)
            yield f"Faults are recorded at the moves {extra}, which the match does not have."


def _summary_mismatches(record: MatchRecord, summary: MatchSummary) -> Iterator[str]:
    """Yield a sentence for each field of a match's stored summary that differs from the match."""
    for name, stored, true in zip(summary._fields, summary, record.summary(), strict=True):
        if stored != true:
            yield (
                f"Its {name} in the table of matches: {reprlib.repr(stored)}; those of the match:"
                f" {reprlib.repr(true)}."
            )
