"""The last checks: a short match of each game, played by the code that plays cups."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import games
from games.shuffle import Randomness
from tournament.bot.url_bot import Choice, Player, StandIn
from tournament.check.examiner import Examiner
from tournament.check.outcome import CheckFailure, Exchange, Outcome
from tournament.check.protocol_checks import MAX_FAILURES
from tournament.config import Clock
from tournament.match.match import Pairing, Rules, play
from tournament.match.referee import LocalReferee
from tournament.records import FaultKind, FaultRecord
from tournament.text import plural

SEED = "check"
OPTIONS: Mapping[str, Any] = {"deals": 2}


class _RandomPlayer(StandIn):
    """A player in this process at another seat: random legal moves, the same in every check."""

    url = "in this process"

    def __init__(self, seat: int) -> None:
        self._random = Randomness(f"check-random-{seat}", 1)

    def move(self, body: bytes, seconds: float) -> Choice:
        """One of the legal moves."""
        moves = json.loads(body)["moves"]
        return Choice(moves[self._random.below(len(moves))], 0.0)


def short_match(examiner: Examiner, name: str) -> Outcome:
    """Two deals against random players, the bot at seat 0."""
    game = games.get(name)
    seats = range(1, game.min_players)
    clock = Clock(examiner.clock.move_ms, int(examiner.clock.bank_ms))
    rules = Rules(name, game.min_players, OPTIONS, clock, strikes=MAX_FAILURES)
    seating = ("checked", *(f"random {seat}" for seat in seats))
    pairing = Pairing.alone(examiner.match_id(), seating, SEED)
    with examiner.connect() as bot:
        players: list[Player] = [bot, *(_RandomPlayer(seat) for seat in seats)]
        record = play(rules, pairing, LocalReferee(), players)
    examiner.asked += len(record.times[0])
    for elapsed_ms in record.times[0]:
        examiner.charge(elapsed_ms)
    faults = _until_death(record.faults) if examiner.target.ended() else record.faults
    causes = (failure.error for failure in bot.failures)
    note = f"{plural(record.deals, 'deal')}, {plural(len(record.times[0]), 'move')}"
    return Outcome(
        f"{note}, score {record.scores[0]:+d}",
        tuple(_failure(examiner, fault, causes) for fault in faults),
    )


def _until_death(faults: Sequence[FaultRecord]) -> Sequence[FaultRecord]:
    """The faults of a bot that has died, up to the first of its death: the others add nothing."""
    for number, fault in enumerate(faults, start=1):
        if fault.kind is FaultKind.UNREACHABLE:
            return faults[:number]
    return faults


def _failure(
    examiner: Examiner, fault: FaultRecord, causes: Iterator[Exception | None]
) -> CheckFailure:
    """The failure of a fault; `causes` are those of the faults but illegal moves, in order."""
    cause = None if fault.kind is FaultKind.ILLEGAL else next(causes)
    body = fault.request.encode()
    exchange = Exchange(f"{fault.url}/move", body, fault.answer, fault.elapsed_ms)
    return examiner.fault(fault.kind, fault.detail, cause, exchange)
