"""Recomputing one match, to compare it with its record."""

import reprlib
from collections.abc import Iterator
from dataclasses import asdict

import games
from games import IllegalMove, State
from tournament.config.cup import Cup
from tournament.records import MatchRecord, MatchSummary, Pairing, adjusted


def plan_mismatches(planned: Pairing, record: MatchRecord, cup: Cup) -> Iterator[str]:
    """Yield a sentence for each field of a match that differs from the cup or the planned match.

    `planned` must be the match as drawn again from the run's seed.
    """
    of_cup = {"game": cup.game, "players": cup.players, "options": cup.options}
    for name, drawn in {**of_cup, **asdict(planned)}.items():
        if (stored := getattr(record, name)) != drawn:
            yield f"Its {name} is {stored}; by the cup and its seed it is {drawn}."


class Replay:
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


def summary_mismatches(record: MatchRecord, summary: MatchSummary) -> Iterator[str]:
    """Yield a sentence for each field of a match's stored summary that differs from the match."""
    for name, stored, true in zip(summary._fields, summary, record.summary(), strict=True):
        if stored != true:
            yield (
                f"Its {name} in the table of matches: {reprlib.repr(stored)}; those of the match:"
                f" {reprlib.repr(true)}."
            )
