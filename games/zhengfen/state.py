"""Zheng Fen (Um Punkte wetteifern, 挣分). docs/rules/zhengfen.md has the rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final, cast

from games import climbing, validation
from games.climbing import ClimbingPosition
from games.deck import Deck
from games.game import Category, Fact, Game, JsonDict, LegalMoves, Option, Options, Phrase
from games.move import PLAY, Move
from games.position import (
    STATE_FIELDS,
    VIEW_FIELDS,
    Field,
    Table,
    hand_field,
    hands_field,
    list_field,
)
from games.shuffle import Randomness
from games.zhengfen.combinations import CATEGORIES, DECK, FIVE, KING, TEN, reading_of, validate_play
from games.zhengfen.move_list import ZhengfenMoves

LEADING_CARD: Final = DECK.hand(["3h"])
FIVES: Final = 15 << 4 * FIVE
TENS_AND_KINGS: Final = 15 << 4 * TEN | 15 << 4 * KING


def points(cards: int) -> int:
    """Return the points of the cards in a hand: 5 for each five, 10 for each ten or king."""
    return 5 * (cards & FIVES).bit_count() + 10 * (cards & TENS_AND_KINGS).bit_count()


class ZhengfenPosition(ClimbingPosition):
    """The fields and rules that states and views share.

    `first` is the seat that leads the first trick. `trick` is a hand, and `taken` has a hand for
    each seat. `out` lists the seats that have gone out, in the order in which they did.
    """

    FIELDS: ClassVar[tuple[Field, ...]] = (
        *ClimbingPosition.FIELDS,
        Field("first"),
        hand_field("trick"),
        hands_field("taken"),
        list_field("out"),
    )
    first: int
    trick: int
    taken: tuple[int, ...]
    out: tuple[int, ...]

    def validate_play(self, play: Move, table: Move | None) -> Move:
        """Check a play, and return it (see `ClimbingPosition.validate_play`)."""
        return validate_play(play, table)

    def legal_moves(self, hand: int) -> LegalMoves:
        """Return the legal moves in the API contract's order (see `BasePosition.legal_moves`)."""
        table = self.table
        return ZhengfenMoves(hand, None if table is None else reading_of(table.move))

    def check_wire(self, problems: list[str], data: JsonDict) -> Table | None:
        """Check a wire form (see `BasePosition.check_wire`)."""
        counts = validation.hand_sizes(data)
        problems += validation.check_length("taken", data["taken"], data["players"])
        table = climbing.read_table(
            problems, data["table"], DECK, data["players"], lambda move: validate_play(move, None)
        )
        active = [seat for seat, count in enumerate(counts) if count > 0]
        problems += climbing.check_passing(data, table, active, len(active))
        problems += _check_out(data, active)
        if data["phase"] != "over":
            problems += _check_active(data, active)
        cards = list(data["trick"])
        if data["table"] is None and cards:
            problems.append("trick has cards, but without a play on the table it is empty.")
        elif table and not set(DECK.names_of(table.move.cards)) <= set(cards):
            problems.append("trick does not have all cards of the play on the table.")
        for names in data["taken"]:
            cards += names
        if "seat" in data:
            problems += validation.check_own_hand(data, DECK, len(cards))
        for names in validation.known_hands(data).values():
            cards += names
        problems += validation.check_cards(DECK, cards)
        return table

    def copy_shared(self, other: ZhengfenPosition) -> None:
        """Copy from `other` the fields that a view takes unchanged."""
        self.copy_climbing(other)
        self.first = other.first
        self.trick = other.trick
        self.taken = other.taken
        self.out = other.out


def _check_out(data: JsonDict, active: list[int]) -> Iterator[str]:
    out: list[int] = data["out"]
    players: int = data["players"]
    if len(out) > players:
        yield f"out has {len(out)} seats, but there are {players} players."
        return
    for seat in out:
        yield from validation.check_seat("out", seat, players)
    if len(set(out)) < len(out):
        yield "out names a seat twice."
    elif data["phase"] != "over" and set(out) <= set(range(players)):
        empty = [seat for seat in range(players) if seat not in active]
        if sorted(out) != empty:
            yield f"out is {out}, but the seats without cards are {empty}."


def _check_active(data: JsonDict, active: list[int]) -> Iterator[str]:
    table = data["table"]
    if not active:
        yield "Nobody holds cards, but the game is not over."
    elif len(active) == 1 and (table is None or table["seat"] == active[0]):
        yield (
            f"Only seat {active[0]} holds cards, which is possible only while another seat's play"
            " is on the table."
        )
    elif table is None and data["turn"] is not None and data["turn"] not in active:
        yield f"turn is {data['turn']}, but that seat has no cards to lead."


class ZhengfenState(ZhengfenPosition):
    """A complete position of Zheng Fen."""

    FIELDS: ClassVar[tuple[Field, ...]] = (*ZhengfenPosition.FIELDS, *STATE_FIELDS)

    def view(self, seat: int | None) -> ZhengfenView:
        """Return the view of a seat, or of the public if `seat` is None. Other hands are hidden.

        Raises:
            ValueError: if there is no such seat.
        """
        view = ZhengfenView()
        view.copy_shared(self)
        view.show_hand(self.hands, seat)
        return view

    def deal_cards(self, deal: int = 1, dealer: int = 0, cutter: int = 1) -> None:
        """Deal the cards of deal number `deal`, and set all fields that `Game.start` does not set.

        The seat `cutter` draws first and leads, except that the holder of 3h leads in deal 1.
        """
        order = Randomness(self.seed, deal).shuffle(DECK.order)
        self.start_deal(deal, dealer, order, cutter, DECK.size)
        first = cutter
        if deal == 1:
            first = [bool(hand & LEADING_CARD) for hand in self.hands].index(True)
        self.first = self.turn = first
        self.phase = "play"
        self.passes = 0
        self.trick = 0
        self.taken = (0,) * self.players
        self.out = ()

    def advance(self, move: str | Move) -> ZhengfenState:
        """Return the state after a move. If the move ends a deal but not the game, deal the next.

        Raises:
            IllegalMove: if the move is not legal (see `check`).
        """
        legal = self.check(move)
        after = ZhengfenState()
        after.copy_shared(self)
        after.seed = self.seed
        after.hands = self.hands
        after._apply(legal)
        return after

    def _apply(self, move: Move) -> None:
        turn = cast("int", self.turn)
        self.history = self.history.then(turn, move)
        is_last = self.players - self.hands.count(0) == 1  # only one seat has cards
        if move.kind == PLAY:
            left = self.play_cards(turn, move)
            self.trick |= move.cards
            if not left and not is_last:
                self.out += (turn,)
        else:
            self.passes += 1
        if is_last:
            self._finish(turn)
            return
        active = self.players - len(self.out)
        if self.passes == active and self.table is not None:
            leader = self.table.seat
            self._take_trick(leader)
            self.turn = leader if self.hands[leader] else self._next_active(leader)
        else:
            self.turn = self._next_active(turn)

    def _next_active(self, seat: int) -> int:
        seat = (seat + 1) % self.players
        while not self.hands[seat]:
            seat = (seat + 1) % self.players
        return seat

    def _take_trick(self, seat: int) -> None:
        taken = list(self.taken)
        taken[seat] |= self.trick
        self.taken = tuple(taken)
        self.trick = 0
        self.table = None
        self.passes = 0

    def _finish(self, last: int) -> None:
        if self.table is not None:
            self._take_trick(self.table.seat)
        first = self.out[0]
        taken = list(self.taken)
        taken[first] |= taken[last] | self.hands[last]
        taken[last] = 0
        self.taken = tuple(taken)
        self.hands = (0,) * self.players
        change = [points(cards) for cards in taken]
        if self.end_deal(change, {"first": first, "last": last}):
            self.deal_cards(self.deal + 1, last, first)


class ZhengfenView(ZhengfenPosition):
    """A position as one seat, or the public, may know it."""

    FIELDS: ClassVar[tuple[Field, ...]] = (*ZhengfenPosition.FIELDS, *VIEW_FIELDS)


class Zhengfen(Game):
    """The game Zheng Fen."""

    name: ClassVar[str] = "zhengfen"
    title: ClassVar[str] = "Zheng Fen"
    native: ClassVar[str] = "Um Punkte wetteifern (挣分)"
    min_players: ClassVar[int] = 3
    max_players: ClassVar[int] = 6
    options: ClassVar[tuple[Option, ...]] = (
        Option("target", "Reaching this score ends the game after the deal.", 500, 1, 100_000),
        Option("deals", "The most deals in a game; null for no limit.", None, 1, 1000, True),
    )
    phases: ClassVar[tuple[str, ...]] = ("play",)
    categories: ClassVar[tuple[Category, ...]] = CATEGORIES
    teams: ClassVar[bool] = False
    positions: ClassVar = (ZhengfenState, ZhengfenView)

    def deck(self, players: int) -> Deck:
        """Return one pack with both jokers."""
        return DECK

    def most_moves(self, players: int) -> int:
        """Return an upper bound (see `Game.most_moves`). A search found at most 31,122 moves."""
        return 32_000

    def max_difference(self, players: int, options: Options) -> int:
        """Return the points of the whole pack, all of which one seat may win in a deal."""
        return points(DECK.full)

    def facts(self, data: JsonDict) -> list[Fact]:
        """Return facts about the trick's points and the play to beat, or [] if there is no play."""
        if data["table"] is None:
            return []
        worth = points(DECK.hand(data["trick"]))
        return [Fact("points in the trick", str(worth)), *climbing.table_facts(data)]

    def roles(self, data: JsonDict, seat: int) -> list[Phrase]:
        """Return a phrase with the points that the seat has taken, and "out" if it has gone out."""
        taken = Phrase(
            "%(points)d points taken", {"points": points(DECK.hand(data["taken"][seat]))}
        )
        return [taken] + [Phrase("out")] * (seat in data["out"])


GAME: Final[Zhengfen] = Zhengfen()
