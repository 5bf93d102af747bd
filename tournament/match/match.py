"""Playing a match: the referee deals, the bots are asked in turn, and faults cost strikes."""

from collections.abc import Callable, Container, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from time import monotonic

import msgspec

import games
from games import IllegalMove, State
from games.game import JsonDict, Options
from tournament.bot.protocol import Choice, TimeBank, request
from tournament.bot.url_bot import Failure, Player, illegal_move
from tournament.config.cup import Clock
from tournament.errors import StichError
from tournament.records import (
    FallbackRecord,
    FaultKind,
    FaultRecord,
    MatchRecord,
    Outage,
    Pairing,
    adjusted,
    place_of,
)
from tournament.text import printable

INFO_LIMIT = 256 * 1024
"""The most bytes of `info` (as JSON), and of reasons for fallbacks, of a seat in a match."""
REASON_DROPPED = "the reason was dropped: the bot had given too many"
"""Replaces the reason for a fallback once a seat's reasons exceed INFO_LIMIT."""
OWN_S = 60.0
"""The seconds that the runner may take between requests, far more than it needs."""


class RefereeError(StichError):
    """Raised if the rules service is unreachable or answers wrongly. The message is a sentence."""


class Referee:
    """Starts games and judges moves with the rules in this process. `moves`, `view` and `play` need
    a position in which the game is not over."""

    def ready(self) -> None:
        """Check that this referee can be asked.

        Raises:
            RefereeError: if it cannot.
        """

    def start(self, game: str, players: int, seed: str, options: Options) -> State:
        """Return the first position of a game. The cards depend on `seed`.

        Raises:
            games.UnknownGame: if there is no such game.
            games.OptionError: if `players`, `seed` or an option is not valid.
        """
        return games.get(game).start(players, seed, options)

    def moves(self, state: State) -> Sequence[str]:
        """Return the legal moves of the seat whose turn it is, as strings in canonical order."""
        return state.moves().texts()

    def view(self, state: State) -> JsonDict:
        """Return the view of the seat whose turn it is, in wire form."""
        return state.view(state.turn).to_dict()

    def play(self, state: State, move: str) -> tuple[str, State]:
        """Play a move for the seat whose turn it is. Return the canonical form of the move, and the
        position after the move. `state` is not changed.

        Raises:
            games.IllegalMove: if the move is not legal.
        """
        legal = state.check(move)
        return legal.text, state.advance(legal)


@dataclass(frozen=True, slots=True)
class Rules:
    """The settings that all matches of a cup share."""

    game: str
    players: int
    options: Options
    clock: Clock
    strikes: int = 3  # faults after which a seat is struck out
    names: bool = False  # whether bots are told who sits at which seat
    fallback: str = "play"  # or "strike", if a move by a bot's fallback is a fault


class MatchObserver:
    """Reacts to what happens in a match. The methods of this class do nothing."""

    def failed(self, seat: int, why: str) -> None:
        """React to a fault of the bot at `seat`, before `moved` is called with the default move.
        `why` is the kind of the fault, followed by sentences about what was wrong. If the seat is
        struck out, the last sentence says so."""

    def moved(self, seat: int, move: str, forced: bool) -> None:
        """React to a move, which is in canonical form. `forced` is true if the bot was not asked
        because it had only one legal move. For a seat that is struck out, `forced` is false."""


@dataclass(slots=True)
class _Seat:
    player: Player
    clock: TimeBank
    times: list[float] = field(default_factory=list)  # milliseconds of each request for a move
    strikes: int = 0
    out: bool = False  # struck out
    info_bytes: int = 0
    reason_bytes: int = 0


class MatchVoid(Exception):
    """Raised if a match has no result because an awaited bot could not be reached. See `record`."""

    def __init__(self, record: Outage) -> None:
        super().__init__(record.why)
        self.record = record


@dataclass
class Match:
    """A match to play. The fields from `moves` to `faults` hold what has happened so far, as in
    `MatchRecord`.

    Before every step that takes time, `expect` is called with the step's time limit in seconds.
    """

    rules: Rules
    pairing: Pairing
    referee: Referee
    players: Sequence[Player]  # by seat
    expect: Callable[[float], None] = lambda _: None
    awaited: Container[str] = ()  # bots that make the match void if they cannot be reached
    observer: MatchObserver = field(default_factory=MatchObserver)
    moves: list[str] = field(default_factory=list)
    forced: list[int] = field(default_factory=list)
    info: dict[int, Mapping[str, str | float]] = field(default_factory=dict)
    fallbacks: list[FallbackRecord] = field(default_factory=list)
    faults: list[FaultRecord] = field(default_factory=list)
    asked_s: float = 0.0  # the time that the bots have taken

    def __post_init__(self) -> None:
        self.started = _now()
        move_ms, bank_ms = self.rules.clock.move_ms, float(self.rules.clock.bank_ms)
        self.seats = [_Seat(player, TimeBank(move_ms, bank_ms)) for player in self.players]

    def play(self) -> MatchRecord:
        """Play the match and return its record. Call this only once. Errors of players pass
        through.

        Raises:
            MatchVoid: if a bot in `awaited` is unreachable when asked for a move.
            RefereeError: if a rules service is the referee and fails.
            games.UnknownGame, games.OptionError: as in `Referee.start`.
        """
        began = monotonic()
        rules, pairing, referee = self.rules, self.pairing, self.referee
        state = referee.start(rules.game, rules.players, pairing.seed, rules.options)
        start = {"players": rules.players, "options": rules.options}
        names = {"names": pairing.seating} if rules.names else {}
        self._notify("/start", **start, clock=self.seats[0].clock.to_dict(), **names)
        while (turn := state.turn) is not None:
            legal = referee.moves(state)
            out = self.seats[turn].out
            forced = len(legal) == 1 and not (out or rules.clock.ask_forced)
            if forced:
                self.forced.append(len(self.moves))
            if out or forced:
                move, state = referee.play(state, legal[0])
            else:
                move, state = self._take_turn(turn, state, legal)
            self.moves.append(move)
            self.observer.moved(turn, move, forced)
        struck = tuple(i for i, seat in enumerate(self.seats) if seat.out)
        self._notify("/end", scores=state.scores)
        wall_s = monotonic() - began
        return MatchRecord(
            **asdict(pairing),
            game=rules.game,
            players=rules.players,
            options=rules.options,
            moves=tuple(self.moves),
            scores=state.scores,
            adjusted=adjusted(state.scores, struck),
            deals=len(state.results),
            results=state.results,
            struck=struck,
            faults=tuple(self.faults),
            times=tuple(tuple(seat.times) for seat in self.seats),
            outputs=tuple(seat.player.output() for seat in self.seats),
            started=self.started,
            wall_ms=wall_s * 1000,
            own_ms=(wall_s - self.asked_s) * 1000,
            forced=tuple(self.forced),
            info=self.info,
            fallbacks=tuple(self.fallbacks),
            info_full=tuple(i for i, seat in enumerate(self.seats) if seat.info_bytes > INFO_LIMIT),
        )

    def _notify(self, path: str, **fields: object) -> None:
        """Send the notification `path`, with `fields`, to all bots that take it and are not struck
        out, and wait for the answers. The bots are notified at the same time, but a bot at several
        seats is notified for one seat after another."""
        by_player: dict[int, list[int]] = {}
        for number, seat in enumerate(self.seats):
            if not seat.out and seat.player.takes(path):
                by_player.setdefault(id(seat.player), []).append(number)
        if not by_player:
            return
        seconds = self.rules.clock.move_ms / 1000

        def notify(numbers: list[int]) -> None:
            for number in numbers:
                body = request(self.pairing.match, game=self.rules.game, seat=number, **fields)
                self.seats[number].player.notify(path, body, seconds)

        self.expect(seconds * max(map(len, by_player.values())))
        before = monotonic()
        with ThreadPoolExecutor(len(by_player)) as pool:
            list(pool.map(notify, by_player.values()))
        self.asked_s += monotonic() - before
        self.expect(OWN_S)

    def _take_turn(self, turn: int, state: State, legal: Sequence[str]) -> tuple[str, State]:
        """Ask the bot at seat `turn` for its move. Return the move played and the next state. If
        the bot commits a fault, record the fault and play the default move.

        Raises:
            MatchVoid, RefereeError: as in `play`.
        """
        seat = self.seats[turn]
        deadline_ms, bank_ms = seat.clock.deadline_ms, seat.clock.bank_ms
        number = len(seat.times) + 1
        fields = {"turn": number, "view": self.referee.view(state), "moves": list(legal)}
        body = request(self.pairing.match, **fields, clock=seat.clock.to_dict())
        started = _now()
        self.expect(deadline_ms / 1000)
        outcome = seat.player.move(body, deadline_ms / 1000)
        self.expect(OWN_S)
        self.asked_s += outcome.elapsed_s
        seat.times.append(outcome.elapsed_s * 1000)
        seat.clock.charge(outcome.elapsed_s * 1000)
        if isinstance(outcome, Choice):
            if info := outcome.info.values:
                seat.info_bytes += len(msgspec.json.encode(info))
                if seat.info_bytes <= INFO_LIMIT:
                    self.info[len(self.moves)] = info
            try:
                played, after = self.referee.play(state, outcome.move)
            except IllegalMove as error:
                outcome = illegal_move(outcome, error, seat.player.answer())
            else:
                if outcome.fallback is None:
                    return played, after
                if self.rules.fallback == "play":
                    seat.reason_bytes += len(outcome.fallback.encode())
                    full = seat.reason_bytes > INFO_LIMIT
                    why = REASON_DROPPED if full else outcome.fallback
                    self.fallbacks.append(FallbackRecord(turn, len(self.moves), why))
                    return played, after
                why = f"Its fallback moved, which is a fault in this cup: {outcome.fallback}"
                answer = seat.player.answer()
                outcome = Failure(FaultKind.INVALID, why, outcome.elapsed_s, answer)
        detail = printable(outcome.detail)
        bot = self.pairing.seating[turn]
        if outcome.kind is FaultKind.UNREACHABLE and bot in self.awaited:
            place = place_of(self.pairing)
            raise MatchVoid(
                Outage(**place, bot=bot, why=detail, started=self.started, ended=_now())
            )
        # The default move is the first legal move. If pass is legal, pass is first.
        played, after = self.referee.play(state, legal[0])
        self.faults.append(
            FaultRecord(
                seat=turn,
                turn=number,
                move=len(self.moves),
                kind=outcome.kind,
                detail=detail,
                url=seat.player.url,
                request=body.decode("utf-8"),
                answer=outcome.answer,
                played=played,
                started=started,
                elapsed_ms=outcome.elapsed_s * 1000,
                deadline_ms=deadline_ms,
                move_ms=seat.clock.move_ms,
                bank_ms=bank_ms,
                output=seat.player.output(),
            )
        )
        why = f"{outcome.kind}: {detail}"
        seat.strikes += 1
        seat.out = seat.strikes >= self.rules.strikes
        if seat.out:
            count = seat.strikes
            why += f" That was strike {count} of {count}: it is not asked again in this game."
        self.observer.failed(turn, why)
        return played, after


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
