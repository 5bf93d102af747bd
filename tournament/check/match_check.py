"""The last checks: a short match of each game, by the very runner that plays cups."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

import games
from games.shuffle import Randomness
from tournament.bot.player import Choice
from tournament.check.examiner import Evidence, Examiner
from tournament.check.protocol_checks import ENOUGH, Check, Outcome
from tournament.config import Clock
from tournament.match.match import Pairing, Rules, play
from tournament.match.referee import LocalReferee
from tournament.records import Answer, FaultKind, FaultRecord
from tournament.text import plural

SEED = "check"
OPTIONS: Mapping[str, Any] = {"deals": 2}


class _Stranger:
    """A player at the other seats: any legal move, the same ones in every check."""

    url = "in this process"

    def __init__(self, seat: int) -> None:
        self._words = Randomness(f"check-stranger-{seat}", 1)

    def move(self, body: bytes, seconds: float) -> Choice:
        """One of the legal moves."""
        moves = json.loads(body)["moves"]
        return Choice(moves[self._words.below(len(moves))], 0.0)

    def notify(self, path: str, body: bytes, seconds: float) -> None:
        """Nothing to be told."""

    def answer(self) -> Answer:
        """Nothing travels."""
        return Answer()

    def output(self) -> str:
        """Nothing is written."""
        return ""


def short(name: str) -> Check:
    """Two deals against strangers, the bot at seat 0."""
    game = games.get(name)

    def run(examiner: Examiner) -> Outcome:
        players = game.min_players
        clock = Clock(examiner.clock.move_ms, int(examiner.clock.bank_ms))
        rules = Rules(name, players, OPTIONS, clock, strikes=ENOUGH)
        seating = ("checked", *(f"stranger {seat}" for seat in range(1, players)))
        pairing = Pairing(
            match=examiner.match(),
            block=0,
            key=SEED,
            round=1,
            stage="",
            number=0,
            seatings=1,
            table=seating,
            seating=seating,
            seed=SEED,
        )
        with closing(examiner.connect()) as bot:
            strangers = [_Stranger(seat) for seat in range(1, players)]
            record = play(rules, pairing, LocalReferee(), [bot, *strangers])
        asked = len(record.times[0])
        examiner.asked += asked
        for elapsed_ms in record.times[0]:
            examiner.clock.charge(elapsed_ms)
        note = (
            f"{plural(record.deals, 'deal')}, {plural(asked, 'move')}, score {record.scores[0]:+d}"
        )
        faults = _alive(record.faults) if examiner.subject.ended() else record.faults
        failures = tuple(_evidence(examiner, fault) for fault in faults)
        return Outcome(not failures, note, failures)

    return Check(f"a short match of {game.title}", run)


def _alive(faults: Sequence[FaultRecord]) -> Sequence[FaultRecord]:
    """Those of a bot that has died, up to its end: what comes after says nothing new."""
    for number, fault in enumerate(faults, start=1):
        if fault.kind is FaultKind.UNREACHABLE:
            return faults[:number]
    return faults


def _evidence(examiner: Examiner, fault: FaultRecord) -> Evidence:
    return examiner.evidence(
        fault.kind, fault.detail, fault.request.encode("ascii"), fault.answer, fault.elapsed_ms
    )
