"""Zheng Fen (Um Punkte wetteifern, 挣分) for three to six players.

Combinations climb, and who played highest takes the trick: fives, tens and kings count. The first
to be rid of its cards gets, in the end, all that the last one has.

Source: the German text of pagat.com's page on Zheng Fen; what it leaves open is decided in
docs/rules/zhengfen.md. The combinations are in `zhengfen_plays`, their list in `zhengfen_list`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar

from games import validation
from games.climbing.trick import (
    ClimbingPosition,
    Table,
    check_passing,
    must_lead,
    not_held,
    read_table,
    table_cards,
    table_facts,
    wrong_phase,
)
from games.deck import Deck
from games.errors import InvalidState
from games.game import Category, Fact, Game, JsonDict, LegalMoves, MoveList, Option
from games.history import History
from games.move import PASS, PLAY, Move
from games.shuffle import Randomness, distribute
from games.zhengfen.combinations import DECK, FIVE, KING, TEN, judge, reading_of
from games.zhengfen.move_list import TrickMoves

LEADING_CARD = DECK.hand(["3h"])
FIVES = 15 << 4 * FIVE
TENS_AND_KINGS = 15 << 4 * TEN | 15 << 4 * KING


def points(cards: int) -> int:
    """What cards count: fives 5, tens and kings 10."""
    return 5 * (cards & FIVES).bit_count() + 10 * (cards & TENS_AND_KINGS).bit_count()


class _Zhengfen(ClimbingPosition):
    """What state and view share; `trick` and each of `taken` are hands of `deck`."""

    __slots__ = ("first", "out", "taken", "trick")
    first: int
    trick: int
    taken: tuple[int, ...]
    out: tuple[int, ...]

    @property
    def game(self) -> Game:
        """The game this is a position of."""
        return GAME

    def decide(self, move: Move, hand: int) -> Move:
        """Decide on a well-formed move; IllegalMove from `wrong-phase` on."""
        table = self.table
        if move.kind == PASS:
            if table is None:
                raise must_lead()
            return move
        if move.kind != PLAY:
            raise wrong_phase(move, "play", "pass and play")
        if move.cards < 0 or hand & move.cards != move.cards:
            raise not_held(move)
        return judge(move, None if table is None else table.move)

    def moves(self) -> LegalMoves:
        """The legal moves in the contract's order."""
        hand = None if self.turn is None else self.mover_hand()
        if hand is None:
            return MoveList()
        table = self.table
        return TrickMoves(self.check, hand, None if table is None else reading_of(table.move))

    def _shared(self) -> dict[str, Any]:
        """The wire form of what state and view share."""
        wire = self.climbing_dict()
        wire["first"] = self.first
        wire["trick"] = DECK.names_of(self.trick)
        wire["taken"] = [DECK.names_of(cards) for cards in self.taken]
        wire["out"] = list(self.out)
        return wire

    def _load_shared(self, data: JsonDict, table: Table | None) -> None:
        self.load_climbing(data, table)
        self.first = data["first"]
        self.trick = DECK.hand(data["trick"])
        self.taken = tuple([DECK.hand(cards) for cards in data["taken"]])
        self.out = tuple(data["out"])

    def _copy_shared(self, other: _Zhengfen) -> None:
        """The allow-list: every field that a view may take from a state as it is."""
        self.copy_climbing(other)
        self.first = other.first
        self.trick = other.trick
        self.taken = other.taken
        self.out = other.out


class ZhengfenState(_Zhengfen):
    """A whole position of Zheng Fen; `hands` are hands of `deck`."""

    __slots__ = ("hands", "seed")
    seed: str
    hands: tuple[int, ...]

    def mover_hand(self) -> int | None:
        """The hand of the seat to move."""
        return None if self.turn is None else self.hands[self.turn]

    def to_dict(self) -> dict[str, Any]:
        """The wire form, ready for JSON."""
        wire = self._shared()
        wire["seed"] = self.seed
        wire["hands"] = [DECK.names_of(hand) for hand in self.hands]
        return wire

    def view(self, seat: int) -> ZhengfenView:
        """What one seat may know: all but the seed and other hands."""
        if not 0 <= seat < self.players:
            raise ValueError(f"There is no seat {seat}: the seats are 0 to {self.players - 1}.")
        view = ZhengfenView()
        view._copy_shared(self)
        view.seat = seat
        view.hand = self.hands[seat]
        view.counts = tuple([hand.bit_count() for hand in self.hands])
        return view

    def advance(self, move: str | Move) -> ZhengfenState:
        """The state after a move; IllegalMove if it is not legal."""
        done = self.check(move)
        after = ZhengfenState()
        after._copy_shared(self)
        after.seed = self.seed
        after.hands = self.hands
        after._apply(done)
        return after

    def _apply(self, move: Move) -> None:
        """Carry out a legal move on this fresh copy."""
        turn = self.turn
        if turn is None:
            return
        self.history = self.history.then(turn, move)
        alone = self.players - self.hands.count(0) == 1  # the Last is asked once
        if move.kind == PLAY:
            hands = list(self.hands)
            hands[turn] ^= move.cards
            self.hands = tuple(hands)
            self.trick |= move.cards
            self.table = Table(turn, move)
            self.passes = 0
            if not hands[turn] and not alone:
                self.out += (turn,)
        else:
            self.passes += 1
        if alone:
            self._finish(turn)
            return
        inside = self.players - len(self.out)
        if self.passes == inside and self.table is not None:
            leader = self.table.seat
            self._take_trick(leader)
            self.turn = leader if self.hands[leader] else self._next_inside(leader)
        else:
            self.turn = self._next_inside(turn)

    def _next_inside(self, seat: int) -> int:
        """The next seat after this one that still has cards."""
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
        """The Last has been asked: the trick is taken, the First gets what the Last has."""
        if self.table is not None:
            self._take_trick(self.table.seat)
        first = self.out[0]
        taken = list(self.taken)
        taken[first] |= taken[last] | self.hands[last]
        taken[last] = 0
        self.taken = tuple(taken)
        self.hands = (0,) * self.players
        change = [points(cards) for cards in taken]
        self.results += ({"deal": self.deal, "scores": change, "first": first, "last": last},)
        self.scores = tuple([a + b for a, b in zip(self.scores, change, strict=True)])
        target, deals = self.options["target"], self.options["deals"]
        if (target is not None and max(self.scores) >= target) or (
            deals is not None and len(self.results) >= deals
        ):
            self.phase = "over"
            self.turn = None
        else:
            _deal(self, self.deal + 1, last, first)


class ZhengfenView(_Zhengfen):
    """What one seat may know."""

    __slots__ = ("counts", "hand", "seat")
    seat: int
    hand: int
    counts: tuple[int, ...]

    def mover_hand(self) -> int | None:
        """The hand of the seat to move; None if that is another seat."""
        return self.hand if self.turn == self.seat else None

    def to_dict(self) -> dict[str, Any]:
        """The wire form, ready for JSON."""
        wire = self._shared()
        wire["seat"] = self.seat
        wire["hand"] = DECK.names_of(self.hand)
        wire["counts"] = list(self.counts)
        return wire


def _deal(state: ZhengfenState, deal: int, dealer: int, cutter: int) -> None:
    """Deal all cards, the cutter drawing first; it leads too, but in deal 1 who holds the 3h."""
    players = state.players
    order = Randomness(state.seed, deal).shuffle(DECK.order)
    hands, _ = distribute(order, players, cutter, DECK.size)
    state.deal = deal
    state.dealer = dealer
    state.hands = tuple([DECK.hand_of_numbers(hand) for hand in hands])
    first = cutter
    if deal == 1:
        first = [bool(hand & LEADING_CARD) for hand in state.hands].index(True)
    state.first = state.turn = first
    state.phase = "play"
    state.history = History()
    state.passes = 0
    state.table = None
    state.trick = 0
    state.taken = (0,) * players
    state.out = ()


def _check(data: JsonDict, hands: list[list[str]], counts: list[int]) -> Table | None:
    """All clauses that state and view share; the table, understood. InvalidState with the rest."""
    problems: list[str] = []
    data = validation.judged(problems, GAME, data, len(counts))
    players: int = data["players"]
    is_view = "seat" in data
    validation.frame(problems, GAME, data, ("counts" if is_view else "hands", "taken"))
    if is_view:
        validation.own_hand(problems, data, DECK)
    table = read_table(problems, data["table"], DECK, players, lambda move: judge(move, None))
    inside = [seat for seat, count in enumerate(counts) if count > 0]
    check_passing(problems, data, table, inside, len(inside))
    _check_out(problems, data, inside, players)
    if data["phase"] != "over":
        _check_inside(problems, data, inside)
    trick: Counter[str] = Counter(data["trick"])
    if data["table"] is None:
        if trick:
            problems.append("trick has cards, but with nothing on the table it is empty.")
    elif table_cards(table) - trick:
        problems.append("trick does not have all the cards that lie on the table.")
    known = Counter(trick)
    for cards in (*hands, *data["taken"]):
        known.update(cards)
    validation.fits_deck(problems, DECK, known)
    if is_view:
        open_cards = sum(known.values()) - len(data["hand"])
        if sum(counts) <= DECK.size < sum(counts) + open_cards:
            problems.append(
                f"counts, trick and taken make {sum(counts) + open_cards} cards,"
                f" but the deck has {DECK.size}."
            )
    if problems:
        raise InvalidState(problems)
    return table


def _check_out(problems: list[str], data: JsonDict, inside: list[int], players: int) -> None:
    """Before the end `out` is exactly the seats without cards; each of its entries is a seat."""
    out: list[int] = data["out"]
    sane = [validation.seat(problems, "out", seat, players) for seat in out]
    if len(set(out)) < len(out):
        problems.append("out names a seat twice.")
    elif data["phase"] != "over" and all(sane):
        missing = [seat for seat in range(players) if seat not in inside]
        if sorted(out) != missing:
            problems.append(f"out is {out}, but the seats without cards are {missing}.")


def _check_inside(problems: list[str], data: JsonDict, inside: list[int]) -> None:
    """Before the end somebody holds cards, and one alone only to answer another's play."""
    table = data["table"]
    if not inside:
        problems.append("Nobody holds cards, but the game is not over.")
    elif len(inside) == 1 and (table is None or table["seat"] == inside[0]):
        problems.append(
            f"Seat {inside[0]} alone holds cards: that is only while it is asked about"
            " another seat's play on the table."
        )
    elif table is None and data["turn"] is not None and data["turn"] not in inside:
        problems.append(f"turn is {data['turn']}, but that seat has no cards to lead.")


class Zhengfen(Game):
    """Zheng Fen."""

    name: ClassVar[str] = "zhengfen"
    title: ClassVar[str] = "Zheng Fen"
    native: ClassVar[str] = "Um Punkte wetteifern (挣分)"
    min_players: ClassVar[int] = 3
    max_players: ClassVar[int] = 6
    options: ClassVar[tuple[Option, ...]] = (
        Option("target", 500, 1, 100_000, False, "The points that end the game, after a deal."),
        Option("deals", None, 1, 1000, True, "The most deals a game has; null for no limit."),
    )
    phases: ClassVar[tuple[str, ...]] = ("play",)
    categories: ClassVar[tuple[Category, ...]] = (
        Category("single", "play:Kh", "One card (Einzelkarte)."),
        Category("pair", "play:AsBj", "Two cards of a rank (Paar); the jokers are the highest."),
        Category("triple", "play:JcJdJh", "Three cards of a rank (Drilling)."),
        Category("quad", "play:9c9d9h9s", "Four cards of a rank (Vierling), but four 2s."),
        Category(
            "pair-run",
            "play:KcKdAhAs2c2h",
            "Three or more pairs in a row, 3 to 2 (Paarsequenz).",
        ),
        Category(
            "triple-run",
            "play:3c3d3h4c4d4s5d5h5s",
            "Three or more triples in a row, 3 to 2 (Drillingssequenz).",
        ),
        Category(
            "quad-run",
            "play:9c9d9h9sTcTdThTsJcJdJhJsQcQdQhQs",
            "Three or more quads in a row, 3 to 2 (Vierlingssequenz).",
        ),
        Category(
            "fullhouse",
            "play:5c5d5hQcQs",
            "A triple and a pair, two neighbours of one suit, a 3 and any card, or two of 5 T K.",
        ),
        Category("flush", "play:JsQsKsAs2s", "Five or more in a row in one suit (Farbsequenz)."),
        Category(
            "510k", "play:5cTdKh", "A 5, a 10 and a king of any suits; beats all but the next two."
        ),
        Category(
            "510k-suited", "play:5hThKh", "A 5, a 10 and a king of one suit; beats all but 2222."
        ),
        Category("2222", "play:2c2d2h2s", "All four 2s, the highest of all."),
    )
    teams: ClassVar[bool] = False

    def deck(self, players: int) -> Deck:
        """One pack with both jokers."""
        return DECK

    def start(self, players: int | None, seed: str, options: Mapping[str, object]) -> ZhengfenState:
        """The first state of a game; OptionError if an argument is out of range."""
        players, filled = self.agreed(players, seed, options)
        state = ZhengfenState()
        state.players = players
        state.options = filled
        state.deck = DECK
        state.seed = seed
        state.scores = (0,) * players
        state.results = ()
        _deal(state, 1, 0, 1)
        return state

    def facts(self, data: JsonDict) -> list[Fact]:
        """The points of the trick and the play to beat."""
        if data["table"] is None:
            return []
        worth = points(DECK.hand(data["trick"]))
        return [Fact("points in the trick", str(worth)), *table_facts(data)]

    def roles(self, data: JsonDict, seat: int) -> list[str]:
        """Points taken, and who is out."""
        taken = f"{points(DECK.hand(data['taken'][seat]))} points taken"
        return [taken, *["out"] * (seat in data["out"])]

    def state(self, data: JsonDict) -> ZhengfenState:
        """The state that this wire form describes; InvalidState with all that is wrong."""
        hands: list[list[str]] = data["hands"]
        table = _check(data, hands, [len(hand) for hand in hands])
        state = ZhengfenState()
        state._load_shared(data, table)
        state.seed = data["seed"]
        state.hands = tuple([DECK.hand(hand) for hand in hands])
        return state

    def view(self, data: JsonDict) -> ZhengfenView:
        """The view that this wire form describes; InvalidState with all that is wrong."""
        table = _check(data, [data["hand"]], data["counts"])
        view = ZhengfenView()
        view._load_shared(data, table)
        view.seat = data["seat"]
        view.hand = DECK.hand(data["hand"])
        view.counts = tuple(data["counts"])
        return view


GAME = Zhengfen()
