"""`stich verify`: every deal, move and score of a run once more, from its store alone.

Nothing that the runner computed is believed: the schedule is drawn again from the cup and its
seed, matches are dealt again, their moves are played again through `games/`, the house's moves,
strikes, scores and sides are worked out again and compared with what the store says.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol

import games
from games import IllegalMove, State
from tournament.config import Cup
from tournament.formats import Block, make_schedule
from tournament.formats.commitment import opens
from tournament.formats.round_scores import round_scores
from tournament.records import (
    FaultKind,
    FaultRecord,
    MatchRecord,
    MatchSummary,
    adjusted,
)
from tournament.text import plural

Progress = Callable[[int], None]
"""Called with the number of matches done so far."""


class Source(Protocol):
    """What verification reads of a store."""

    def facts(self) -> dict[str, Any]:
        """What the run is."""

    def matches(self) -> Iterable[MatchRecord]:
        """The finished matches, in the order of the schedule."""

    def summaries(self, round: int | None = None) -> Iterable[MatchSummary]:
        """The same without their moves, in the same order; of one round if it is given."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that does not hold; ``match`` is None where it concerns the whole run."""

    match: str | None
    detail: str


@dataclass(slots=True)
class Verification:
    """What was recomputed, and all that did not agree.

    ``commitment`` says whether the seed is the one committed to, None where there was no
    commitment.
    """

    finished: bool = False
    blocks: int = 0
    matches: int = 0
    deals: int = 0
    moves: int = 0
    commitment: bool | None = None
    problems: list[Problem] = field(default_factory=list)

    @property
    def verified(self) -> bool:
        """Whether everything agreed."""
        return not self.problems

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "verified": self.verified,
            "finished": self.finished,
            "blocks": self.blocks,
            "matches": self.matches,
            "deals": self.deals,
            "moves": self.moves,
            "commitment": self.commitment,
            "problems": [{"match": p.match, "detail": p.detail} for p in self.problems],
        }


def verify(store: Source, progress: Progress | None = None) -> Verification:
    """Recompute a whole run; what does not agree is in the answer, nothing is raised for it."""
    done = Verification()
    try:
        _Run(store, done).check(progress or (lambda _: None))
    except (zlib.error, ValueError, KeyError, TypeError, IndexError) as error:
        done.problems.append(
            Problem(
                None,
                f"The store cannot be read beyond {plural(done.matches, 'match', 'matches')}:"
                f" {error!r}.",
            )
        )
    return done


class _Run:
    """One pass over a store, beside the schedule that the cup and its seed give."""

    def __init__(self, store: Source, done: Verification) -> None:
        facts = store.facts()
        self.store = store
        self.done = done
        self.facts = facts
        self.cup = Cup.from_dict(facts["config"])
        self.seed = str(facts["seed"])
        self.schedule = make_schedule(self.cup, self.seed)
        self.holes = False
        done.finished = bool(facts.get("finished"))

    def check(self, progress: Progress) -> None:
        done = self.done
        self.say_all(None, self.told())
        plan = self.plan()
        slot = next(plan, None)
        block = None
        for record, summary in self.pairs():
            here = (record.block, record.number)
            while slot is not None and slot.place < here:
                self.lacks(slot)
                slot = next(plan, None)
            if slot is None or slot.place != here:
                self.say(record.match, "The schedule has no such match.")
            else:
                self.say_all(record.match, slot.differences(record, self.cup))
                slot = next(plan, None)
            self.say_all(record.match, _Replay(record, self.cup.strikes).problems())
            self.say_all(record.match, _differences(record, summary))
            done.blocks += record.block != block
            block = record.block
            done.matches += 1
            done.deals += len(record.results)
            done.moves += len(record.moves)
            progress(done.matches)
        while slot is not None:
            self.lacks(slot)
            slot = next(plan, None)
        self.say_all(None, self.ended())

    def told(self) -> Iterator[str]:
        """The facts of the run must follow from its cup, and the seed be the promised one."""
        facts, cup = self.facts, self.cup
        true = {
            "name": cup.name,
            "game": cup.game,
            "players": cup.players,
            "teams": games.get(cup.game).teams,
            "bots": list(cup.names),
        }
        digest = facts.get("commitment")
        if digest is not None:
            self.done.commitment = opens(str(digest), self.seed)
            if not self.done.commitment:
                yield "The seed is not the one that was committed to."
        if cup.commit and digest is None:
            yield "The cup commits to its seed, but the store has no commitment."
        if not cup.commit and digest is not None:
            yield "The store has a commitment to a seed, but the cup does not commit to one."
        if cup.seed not in (None, self.seed):
            yield "The run's seed is not the one that its cup names."
        for what, value in true.items():
            if facts.get(what) != value:
                yield f"The run's {what} is {facts.get(what)!r}; by its cup it is {value!r}."

    def ended(self) -> Iterator[str]:
        """How many matches there are, and in a knockout who ended where, is recomputed too."""
        done = self.done
        duel = self.cup.format.type == "duel" and done.finished  # which may end before its budget
        total = done.matches if duel else self.schedule.matches
        told = self.facts.get("total")
        if told != total:
            yield f"The run's total is {told!r} matches; by its cup it is {total}."
        told = self.facts.get("places")
        if not done.finished:
            if told is not None:
                yield f"The run has not ended, but the store has places, {told}."
        elif not self.holes:
            places = self.schedule.places(lambda number: round_scores(self.store, number))
            if told != places:
                yield f"The places are {places}, the store has {told}."

    def say(self, match: str | None, detail: str) -> None:
        self.done.problems.append(Problem(match, detail))

    def say_all(self, match: str | None, details: Iterable[str]) -> None:
        for detail in details:
            self.say(match, detail)

    def pairs(self) -> Iterator[tuple[MatchRecord, MatchSummary]]:
        """Whole matches with what standings read of them; a half without the other is a problem."""
        records = iter(self.store.matches())
        record = next(records, None)
        for summary in self.store.summaries():
            if record is None or record.match != summary.match:
                self.say(summary.match, "The store has its result, but not its moves.")
                continue
            yield record, summary
            record = next(records, None)
        if record is not None:
            self.say(record.match, "The store has its moves, but not its result.")

    def plan(self) -> Iterator[_Slot]:
        """Every match that is to be played; what follows a round only when it is complete."""
        for part in self.schedule.rounds(lambda number: round_scores(self.store, number)):
            for block in part.blocks:
                for number in range(len(block.seatings)):
                    yield _Slot(block, number)
            if self.holes:
                return

    def lacks(self, slot: _Slot) -> None:
        """A match that is not in the store: to come yet, or left out."""
        self.holes = True
        if self.done.finished:
            where = f"seating {slot.number + 1} of block {slot.block.number}"
            self.say(slot.block.matches[slot.number], f"The store lacks this match, {where}.")


@dataclass(frozen=True, slots=True)
class _Slot:
    """A match of the schedule."""

    block: Block
    number: int

    @property
    def place(self) -> tuple[int, int]:
        return self.block.number, self.number

    def differences(self, record: MatchRecord, cup: Cup) -> Iterator[str]:
        """Its game, cards, seats and id follow from the cup and its seed."""
        block = self.block
        if (record.game, record.players) != (cup.game, cup.players):
            yield (
                f"It is {record.game} for {record.players},"
                f" the cup is {cup.game} for {cup.players}."
            )
        if dict(record.options) != dict(cup.options):
            yield f"Its options {dict(record.options)} are not the cup's, {dict(cup.options)}."
        if record.seed != block.seed:
            yield f"Its seed {record.seed} does not follow from the run's seed; {block.seed} does."
        if record.match != block.matches[self.number]:
            yield f"Its id does not follow from the run's seed; {block.matches[self.number]} does."
        if record.seating != block.seatings[self.number]:
            drawn = list(block.seatings[self.number])
            yield f"The seating {list(record.seating)} is not the one that was drawn, {drawn}."
        told = (record.key, record.round, record.stage, record.table, record.seatings)
        if told != (block.key, block.round, block.stage, block.table, len(block.seatings)):
            yield f"Its block {record.key} is not the schedule's, {block.key}."


class _Replay:
    """A match played once more from its seed and its moves."""

    def __init__(self, record: MatchRecord, strikes: int) -> None:
        self.record = record
        self.limit = strikes
        self.asked = [0] * record.players
        self.strikes = [0] * record.players
        self.faults: dict[int, FaultRecord] = {fault.move: fault for fault in record.faults}

    def problems(self) -> Iterator[str]:
        record = self.record
        if len(self.faults) != len(record.faults):
            yield "Two faults stand at one move."
        state = games.get(record.game).start(record.players, record.seed, record.options)
        for index, move in enumerate(record.moves):
            seat = state.turn
            if seat is None:
                yield f"Move {index} ({move}) comes after the end of the game."
                return
            yield from self.asks(state, seat, index, move)
            try:
                state = state.advance(move)
            except IllegalMove as error:
                what = f"Move {index} ({move}) of seat {seat}"
                yield f"{what} is not legal ({error.reason}): {error.detail}"
                return
        yield from self.outcome(state)

    def asks(self, state: State, seat: int, index: int, move: str) -> Iterator[str]:
        """Requests, faults and strikes, and what the house played."""
        fault = self.faults.pop(index, None)
        if self.strikes[seat] >= self.limit:
            if fault is not None:
                yield f"A fault at move {index} of seat {seat}, which was out by then."
        else:
            self.asked[seat] += 1
            if fault is None:
                return
            self.strikes[seat] += 1
            if (fault.seat, fault.turn, fault.played) != (seat, self.asked[seat], move):
                yield f"The fault at move {index} does not fit the move."
        house = state.moves()[0].text
        if house != move:
            yield f"The house had to play {house} at move {index}; the store has {move}."

    def outcome(self, state: State) -> Iterator[str]:
        record = self.record
        if state.turn is not None:
            yield f"The game is not over after {len(record.moves)} moves."
            return
        scores = tuple(state.scores)
        results = state.to_dict()["results"]
        if record.scores != scores:
            yield f"The scores are {list(scores)}, the store has {list(record.scores)}."
        if [dict(result) for result in record.results] != results:
            yield f"The results of the deals are {results}, the store has others."
        if record.deals != len(results):
            yield f"{plural(len(results), 'deal')} ended, the store has {record.deals}."
        struck = tuple(s for s in range(record.players) if self.strikes[s] >= self.limit)
        if record.struck != struck:
            yield f"Struck out are the seats {list(struck)}, the store has {list(record.struck)}."
        after = adjusted(scores, struck)
        if record.adjusted != after:
            has = list(record.adjusted)
            yield f"After strikes the scores are {list(after)}, the store has {has}."
        if self.faults:
            there = sorted(self.faults)
            yield f"Faults stand at the moves {there}, which the match does not have."
        asked = [len(times) for times in record.times]
        if asked != self.asked:
            yield f"The seats were asked {self.asked} times, the store has times for {asked}."


def _differences(record: MatchRecord, summary: MatchSummary) -> Iterator[str]:
    """What standings read must be what the match says."""
    counts = tuple(
        tuple(
            sum(fault.seat == seat and fault.kind is kind for fault in record.faults)
            for kind in FaultKind
        )
        for seat in range(record.players)
    )
    answered = tuple(len(record.answered(seat)) for seat in range(record.players))
    pairs = {
        "block": (summary.block, record.block),
        "seating": (summary.seating, record.seating),
        "scores": (summary.scores, record.scores),
        "adjusted scores": (summary.adjusted, record.adjusted),
        "deals": (summary.deals, record.deals),
        "struck seats": (summary.struck, record.struck),
        "sides": (summary.sides, record.sides),
        "faults": (summary.faults, counts),
        "number of answers": (tuple(map(len, summary.times)), answered),
    }
    for what, (told, true) in pairs.items():
        if told != true:
            yield f"Its {what} in the table of matches, {told}, are not those of the match, {true}."
