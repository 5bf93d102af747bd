"""One match: the referee deals, each bot is asked in turn, faults cost strikes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic
from typing import Any

import orjson

from games import IllegalMove
from tournament.bot.player import Failure, Player
from tournament.config import Clock
from tournament.match.referee import Board, Referee
from tournament.records import FaultKind, FaultRecord, MatchRecord, adjusted
from tournament.text import printable

PROTOCOL = 1


@dataclass(frozen=True, slots=True)
class Rules:
    """What holds for every match of a cup."""

    game: str
    players: int
    options: Mapping[str, Any]
    clock: Clock
    strikes: int
    names: bool = False


@dataclass(frozen=True, slots=True)
class Pairing:
    """One match to play, and where it stands in the schedule."""

    match: str
    block: int
    key: str
    round: int
    stage: str
    number: int
    seatings: int
    table: tuple[str, ...]
    seating: tuple[str, ...]
    seed: str


@dataclass(slots=True)
class _Seat:
    """A seat during a match: its bot, its bank, its strikes."""

    player: Player
    bank_ms: float
    times: list[float] = field(default_factory=list)
    strikes: int = 0
    out: bool = False


def play(
    rules: Rules, pairing: Pairing, referee: Referee, players: Sequence[Player]
) -> MatchRecord:
    """Play a match to its end; RefereeError if the rules service fails."""
    return _Match(rules, pairing, players).play(referee)


class _Match:
    def __init__(self, rules: Rules, pairing: Pairing, players: Sequence[Player]) -> None:
        self.rules = rules
        self.pairing = pairing
        self.seats = [_Seat(player, float(rules.clock.bank_ms)) for player in players]
        self.moves: list[str] = []
        self.faults: list[FaultRecord] = []
        self.asked_s = 0.0

    def play(self, referee: Referee) -> MatchRecord:
        started, began = _now(), monotonic()
        rules, pairing = self.rules, self.pairing
        board = referee.start(rules.game, rules.players, pairing.seed, rules.options)
        self._tell("/start", self._greetings())
        while (turn := board.turn) is not None:
            seat = self.seats[turn]
            move, board = self._house(board) if seat.out else self._ask(turn, board)
            self.moves.append(move)
        scores, results = board.scores, board.results
        struck = tuple(i for i, seat in enumerate(self.seats) if seat.out)
        self._tell("/end", [{"scores": scores} for _ in self.seats])
        wall_s = monotonic() - began
        return MatchRecord(
            match=pairing.match,
            block=pairing.block,
            key=pairing.key,
            round=pairing.round,
            stage=pairing.stage,
            number=pairing.number,
            seatings=pairing.seatings,
            table=pairing.table,
            seating=pairing.seating,
            game=rules.game,
            players=rules.players,
            seed=pairing.seed,
            options=rules.options,
            moves=tuple(self.moves),
            scores=scores,
            adjusted=adjusted(scores, struck),
            deals=len(results),
            results=results,
            struck=struck,
            faults=tuple(self.faults),
            times=tuple(tuple(seat.times) for seat in self.seats),
            outputs=tuple(seat.player.output() for seat in self.seats),
            started=started,
            wall_ms=wall_s * 1000,
            own_ms=(wall_s - self.asked_s) * 1000,
        )

    def _greetings(self) -> list[dict[str, Any]]:
        rules = self.rules
        common: dict[str, Any] = {
            "players": rules.players,
            "options": dict(rules.options),
            "clock": {"move_ms": rules.clock.move_ms, "bank_ms": rules.clock.bank_ms},
        }
        if rules.names:
            common["names"] = self.pairing.seating
        return [common for _ in self.seats]

    def _tell(self, path: str, bodies: Sequence[Mapping[str, Any]]) -> None:
        """POST /start or /end to every bot that is still in, each within a move's time.

        All at once, so that one that hangs does not hold up the others; a player at two seats
        has one connection, and is told of one seat after the other.
        """
        letters: dict[int, tuple[Player, list[bytes]]] = {}
        for number, (seat, body) in enumerate(zip(self.seats, bodies, strict=True)):
            if seat.out:
                continue
            head = {
                "protocol": PROTOCOL,
                "match": self.pairing.match,
                "game": self.rules.game,
                "seat": number,
            }
            letters.setdefault(id(seat.player), (seat.player, []))[1].append(
                _bytes({**head, **body})
            )
        seconds = self.rules.clock.move_ms / 1000

        def tell(letter: tuple[Player, list[bytes]]) -> None:
            player, sent = letter
            for each in sent:
                player.tell(path, each, seconds)

        if not letters:
            return
        before = monotonic()
        with ThreadPoolExecutor(len(letters)) as pool:
            list(pool.map(tell, letters.values()))
        self.asked_s += monotonic() - before

    def _ask(self, turn: int, board: Board) -> tuple[str, Board]:
        """The bot's move, or the house's and a strike."""
        seat, move_ms = self.seats[turn], self.rules.clock.move_ms
        number = len(seat.times) + 1
        request = _bytes(
            {
                "protocol": PROTOCOL,
                "match": self.pairing.match,
                "turn": number,
                "view": board.view(),
                "moves": list(board.moves()),
                "clock": {"move_ms": move_ms, "bank_ms": int(seat.bank_ms)},
            }
        )
        bank_ms, started = seat.bank_ms, _now()
        deadline_ms = move_ms + bank_ms
        failure: Failure | None = None
        played: tuple[str, Board] | None = None
        try:
            choice = seat.player.move(request, deadline_ms / 1000)
            elapsed_s = choice.elapsed_s
        except Failure as error:
            failure, elapsed_s = error, error.elapsed_s
        else:
            try:
                played = board.play(choice.move)
            except IllegalMove as error:
                said = json.dumps(choice.move[:200])
                detail = f"{said} is not legal here ({error.reason}): {error.detail}"
                answer = seat.player.answer()
                failure = Failure(FaultKind.ILLEGAL, detail, elapsed_s, answer)
        elapsed_ms = elapsed_s * 1000
        self.asked_s += elapsed_s
        seat.times.append(elapsed_ms)
        seat.bank_ms = max(0.0, bank_ms - max(0.0, elapsed_ms - move_ms))
        if played is not None:
            return played
        if failure is None:
            raise RuntimeError("A request brought neither a move nor a fault.")
        seat.strikes += 1
        seat.out = seat.strikes >= self.rules.strikes
        house = self._house(board)
        self.faults.append(
            FaultRecord(
                seat=turn,
                turn=number,
                move=len(self.moves),
                kind=failure.kind,
                detail=printable(failure.detail),
                url=seat.player.url,
                request=request.decode("utf-8"),
                answer=failure.answer,
                played=house[0],
                started=started,
                elapsed_ms=elapsed_ms,
                deadline_ms=deadline_ms,
                move_ms=move_ms,
                bank_ms=bank_ms,
                output=seat.player.output(),
            )
        )
        return house

    def _house(self, board: Board) -> tuple[str, Board]:
        """What the house plays: pass where legal (it is then first), else the first move."""
        return board.play(board.moves()[0])


def _bytes(value: object) -> bytes:
    return orjson.dumps(value)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
