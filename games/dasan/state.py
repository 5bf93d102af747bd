"""Dasan, Die Grosse Drei (大三), for three and four players.

Who holds the lowest heart must bid 1; the highest bidder is the declarer. With three players it
takes up the talon; with four it calls a card whose holder is its secret partner. Who held the
lowest heart leads. Who goes out first ends the deal and wins the bid for its side.

Source: the German rules told by Justin Davidson; what they leave open is decided in
docs/rules/dasan.md. The combinations are in `dasan_plays`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from games import validation
from games.climbing import auction
from games.climbing.trick import (
    ClimbingPosition,
    Table,
    auction_roles,
    beside_hands,
    check_empty,
    check_passing,
    check_talon,
    must_lead,
    not_held,
    read_table,
    table_facts,
    talon_facts,
    wrong_phase,
)
from games.dasan import combinations
from games.dasan.combinations import DECK
from games.deck import HIDDEN, Deck
from games.errors import IllegalMove, InvalidState, Reason
from games.game import (
    Category,
    Fact,
    Game,
    JsonDict,
    LegalMoves,
    MoveList,
    Option,
)
from games.history import History
from games.move import BID, CALL, PASS, PLAY, Move
from games.shuffle import Randomness, distribute

HAND_SIZE = {3: 16, 4: 13}
HEART = 2
CALLABLE = 7  # the ranks 4 to T
CARDS_CALLABLE = (1 << (4 * CALLABLE)) - 1


class _Dasan(ClimbingPosition):
    """What state and view share. `called` is a hand of one card, 0 before it is named."""

    __slots__ = ("bid", "called", "declarer", "first", "partner")
    first: int
    bid: int
    declarer: int | None
    called: int
    partner: int | None

    @property
    def game(self) -> Game:
        """The game this is a position of."""
        return GAME

    def decide(self, move: Move, hand: int) -> Move:
        """Decide on a well-formed move; IllegalMove from `wrong-phase` on."""
        if self.phase == "auction":
            return self._decide_bid(move)
        if self.phase == "call":
            return _decide_call(move, hand)
        table = self.table
        if move.kind == PASS:
            if table is None:
                raise must_lead()
            return move
        if move.kind != PLAY:
            raise wrong_phase(move, "play", "pass and play")
        if move.cards < 0 or not DECK.holds(hand, move.cards):
            raise not_held(move)
        read = combinations.read(move)
        if table is not None:
            combinations.check_beats(read, table.move)
        return read

    def _decide_bid(self, move: Move) -> Move:
        if self.bid == 0 and move.kind in (PASS, BID) and (move.kind, move.value) != (BID, 1):
            raise IllegalMove(
                Reason.MUST_BID, "Who holds the lowest heart must open with bid:1, and no other."
            )
        return auction.decide(move, self.bid)

    def moves(self) -> LegalMoves:
        """The legal moves in the contract's order; suits play no part, the lowest are named."""
        hand = None if self.turn is None else self.mover_hand()
        if hand is None:
            return MoveList()
        if self.phase == "auction":
            if self.bid == 0:
                return MoveList([Move(BID, DECK, value=1)])
            return MoveList(auction.moves(DECK, self.bid))
        if self.phase == "call":
            return MoveList(
                [
                    Move(CALL, DECK, DECK.units[card])
                    for card in DECK.numbers(CARDS_CALLABLE & ~hand)
                ]
            )
        table = None if self.table is None else self.table.move
        listed = [] if table is None else [Move(PASS, DECK)]
        return MoveList(listed + combinations.listed(hand, table, self.called & hand))

    def _shared_dict(self) -> dict[str, Any]:
        wire = self.climbing_dict()
        wire["first"] = self.first
        wire["bid"] = self.bid
        wire["declarer"] = self.declarer
        wire["called"] = DECK.text(self.called) or None
        return wire

    def _load_shared(self, data: JsonDict, table: Table | None) -> None:
        self.load_climbing(data, table)
        self.first = data["first"]
        self.bid = data["bid"]
        self.declarer = data["declarer"]
        self.called = DECK.hand([data["called"]]) if data["called"] else 0
        self.partner = data["partner"]

    def _copy_shared(self, other: _Dasan) -> None:
        """The allow-list: every field that a view may take from a state as it is.

        Not `partner`, which is a secret until the called card is played.
        """
        self.copy_climbing(other)
        self.first = other.first
        self.bid = other.bid
        self.declarer = other.declarer
        self.called = other.called


def _decide_call(move: Move, hand: int) -> Move:
    if move.kind != CALL:
        raise wrong_phase(move, "call", "call")
    if move.cards < 0 or not move.cards & CARDS_CALLABLE or move.cards & hand:
        raise IllegalMove(
            Reason.NOT_CALLABLE,
            "Only a card of rank 4 to T that is not in the declarer's hand can be called.",
        )
    return move


class DasanState(_Dasan):
    """A whole position of Dasan; `hands` and `talon` are hands of its deck."""

    __slots__ = ("hands", "seed", "talon")
    seed: str
    hands: tuple[int, ...]
    talon: int

    def mover_hand(self) -> int | None:
        """The hand of the seat to move."""
        return None if self.turn is None else self.hands[self.turn]

    def to_dict(self) -> dict[str, Any]:
        """The wire form, ready for JSON."""
        wire = self._shared_dict()
        wire["seed"] = self.seed
        wire["hands"] = [DECK.names_of(hand) for hand in self.hands]
        wire["talon"] = DECK.names_of(self.talon)
        wire["partner"] = self.partner
        return wire

    def view(self, seat: int) -> DasanView:
        """What one seat may know: not the seed, other hands, an unseen talon, a secret partner."""
        if not 0 <= seat < self.players:
            raise ValueError(f"There is no seat {seat}: the seats are 0 to {self.players - 1}.")
        view = DasanView()
        view._copy_shared(self)
        view.seat = seat
        view.hand = self.hands[seat]
        view.counts = tuple(hand.bit_count() for hand in self.hands)
        shown = self.declarer is not None and (
            seat == self.declarer or bool(self.options["reveal_talon"])
        )
        cards = DECK.names_of(self.talon)
        view.talon = tuple(cards if shown else [HIDDEN] * len(cards))
        partner = self.partner
        secret = (
            partner is not None
            and partner != seat
            and self.turn is not None
            and self.hands[partner] & self.called
        )
        view.partner = None if secret else partner
        return view

    def advance(self, move: str | Move) -> DasanState:
        """The state after a move; IllegalMove if it is not legal."""
        done = self.check(move)
        after = self._copy()
        after._apply(done)
        return after

    def _copy(self) -> DasanState:
        after = DasanState()
        after._copy_shared(self)
        after.partner = self.partner
        after.seed = self.seed
        after.hands = self.hands
        after.talon = self.talon
        return after

    def _apply(self, move: Move) -> None:
        """Carry out a legal move on this fresh copy."""
        turn = self.turn
        if turn is None:
            return
        self.history = self.history.then(turn, move)
        self.turn = (turn + 1) % self.players
        if move.kind == PLAY:
            self._play(turn, move)
        elif move.kind == CALL:
            self._call(move.cards)
        elif move.kind == BID:
            self.bid = move.value
            self.passes = 0
            if move.value == auction.HIGHEST:
                self._declare(turn)
        else:
            self._pass(turn)

    def _pass(self, turn: int) -> None:
        self.passes += 1
        if self.passes < self.players - 1:
            return
        if self.phase == "auction":
            self._declare(auction.bidder(turn, self.passes - 1, self.players))
        else:
            self.table = None
            self.passes = 0

    def _declare(self, declarer: int) -> None:
        self.declarer = declarer
        self.passes = 0
        if self.players == 3:
            hands = list(self.hands)
            hands[declarer] |= self.talon
            self.hands = tuple(hands)
            self.phase = "play"
            self.turn = self.first
        else:
            self.phase = "call"
            self.turn = declarer

    def _call(self, card: int) -> None:
        self.called = card
        for seat, hand in enumerate(self.hands):
            if hand & card:
                self.partner = seat
        self.phase = "play"
        self.turn = self.first

    def _play(self, seat: int, move: Move) -> None:
        hands = list(self.hands)
        left = hands[seat] = hands[seat] & ~move.cards
        self.hands = tuple(hands)
        self.table = Table(seat, move)
        self.passes = 0
        if not left:
            self._go_out(seat)

    def _go_out(self, out: int) -> None:
        side = (self.declarer, self.partner)
        stake = self.bid if out in side else -self.bid
        change = [stake if seat in side else -stake for seat in range(self.players)]
        if self.partner is None and self.declarer is not None:
            change[self.declarer] = stake * (self.players - 1)
        self.results += (
            {
                "deal": self.deal,
                "scores": change,
                "declarer": self.declarer,
                "bid": self.bid,
                "out": out,
                "called": DECK.text(self.called) or None,
                "partner": self.partner,
            },
        )
        self.scores = tuple(a + b for a, b in zip(self.scores, change, strict=True))
        deals = self.options["deals"]
        if deals is not None and len(self.results) >= deals:
            self.phase = "over"
            self.turn = None
        else:
            _deal(self, self.deal + 1, out)


class DasanView(_Dasan):
    """What one seat may know; `talon` has names, `??` for a masked card."""

    __slots__ = ("counts", "hand", "seat", "talon")
    seat: int
    hand: int
    counts: tuple[int, ...]
    talon: tuple[str, ...]

    def mover_hand(self) -> int | None:
        """The hand of the seat to move; None if that is another seat."""
        return self.hand if self.turn == self.seat else None

    def to_dict(self) -> dict[str, Any]:
        """The wire form, ready for JSON."""
        wire = self._shared_dict()
        wire["talon"] = list(self.talon)
        wire["partner"] = self.partner
        wire["seat"] = self.seat
        wire["hand"] = DECK.names_of(self.hand)
        wire["counts"] = list(self.counts)
        return wire


def _deal(state: DasanState, deal: int, dealer: int) -> None:
    """Deal; who holds the lowest heart in hand bids and leads first."""
    players = state.players
    order = Randomness(state.seed, deal).shuffle(DECK.order)
    hands, talon = distribute(order, players, dealer, HAND_SIZE[players] * players)
    state.deal = deal
    state.dealer = dealer
    state.hands = tuple(DECK.hand_of_numbers(hand) for hand in hands)
    state.talon = DECK.hand_of_numbers(talon)
    lowest = min(card for hand in hands for card in hand if card & 3 == HEART)
    state.first = state.turn = next(seat for seat, hand in enumerate(hands) if lowest in hand)
    state.phase = "auction"
    state.history = History()
    state.passes = 0
    state.table = None
    state.bid = 0
    state.declarer = None
    state.called = 0
    state.partner = None


def _check(data: JsonDict, hands: dict[int, list[str]], counts: list[int]) -> Table | None:
    """All clauses that state and view share; the table, understood. InvalidState with the rest."""
    problems: list[str] = []
    data = validation.judged(problems, GAME, data, len(counts))
    players: int = data["players"]
    is_view = "seat" in data
    validation.frame(problems, GAME, data, ("counts" if is_view else "hands",))
    table = read_table(problems, data["table"], DECK, players, combinations.read)
    if is_view:
        validation.own_hand(problems, data, DECK, beside_hands(data, table))
    if data["phase"] == "auction":
        auction.check_auction(problems, data, 0)
    else:
        auction.check_declared(problems, data)
        check_passing(problems, data, table, range(players), players - 1)
    check_empty(problems, data, counts)
    _check_call(problems, data, hands)
    check_talon(problems, DECK, hands, data["talon"], data["declarer"], table)
    if problems:
        raise InvalidState(problems)
    return table


def _check_call(problems: list[str], data: JsonDict, hands: dict[int, list[str]]) -> None:
    """The called card and the partner, of which a view may know less."""
    phase, called, partner = data["phase"], data["called"], data["partner"]
    if phase == "call":
        if data["players"] != 4:
            problems.append("Only with four players there is a phase call.")
        if data["table"] is not None:
            problems.append("table must be null while a card is called.")
        if data["turn"] != data["declarer"]:
            problems.append("turn must be declarer while a card is called.")
    if called is None:
        if data["players"] == 4 and phase in ("play", "over"):
            problems.append("called must be set in the play of four.")
        if partner is not None:
            problems.append("partner must be null where no card is called.")
        return
    if data["players"] == 3 or phase in ("auction", "call"):
        problems.append("called must be null with three players, and before the call.")
        return
    if called not in DECK.number or DECK.number[called] >= 4 * CALLABLE:
        problems.append(f"called is {called}, but only the ranks 4 to T can be called.")
        return
    declarer = data["declarer"]
    if called in hands.get(-1 if declarer is None else declarer, ()):
        problems.append("The declarer holds the called card, which must be another's.")
    if partner is not None and partner == declarer:
        problems.append("partner is the declarer, but must be another seat.")
    holders = [seat for seat, hand in hands.items() if called in hand]
    if holders and partner != holders[0]:
        named = "null" if partner is None else partner
        problems.append(f"partner is {named}, but seat {holders[0]} holds {called}.")


class Dasan(Game):
    """Dasan, Die Grosse Drei."""

    name: ClassVar[str] = "dasan"
    title: ClassVar[str] = "Dasan"
    native: ClassVar[str] = "Die Grosse Drei (大三), Grube graben (挖坑)"
    min_players: ClassVar[int] = 3
    max_players: ClassVar[int] = 4
    options: ClassVar[tuple[Option, ...]] = (
        Option("deals", 1, 1, 1000, False, "How many deals a game has."),
        Option(
            "reveal_talon",
            False,
            None,
            None,
            False,
            "Everybody sees the talon once the declarer has taken it up.",
        ),
    )
    phases: ClassVar[tuple[str, ...]] = ("auction", "call", "play")
    categories: ClassVar[tuple[Category, ...]] = (
        Category("single", "play:3c", "One card."),
        Category("pair", "play:4c4d", "Two cards of a rank."),
        Category("triple", "play:4c4d4h", "Three cards of a rank."),
        Category("quad", "play:4c4d4h4s", "Four cards of a rank."),
        Category("run", "play:8c9dThJsQcKd", "Three or more ranks in a row, 4 to K."),
        Category("pair-run", "play:6c6d7c7d8c8d", "Three or more pairs in a row, 4 to K."),
        Category("triple-run", "play:6c6d6h7c7d7h8c8d8h", "Three or more triples in a row."),
        Category(
            "quad-run",
            "play:4c4d4h4s5c5d5h5s6c6d6h6s",
            "Three or more quads in a row.",
        ),
    )
    teams: ClassVar[bool] = True

    def deck(self, players: int) -> Deck:
        """One pack without jokers, 4 low and 3 high."""
        return DECK

    def start(self, players: int | None, seed: str, options: Mapping[str, object]) -> DasanState:
        """The first state of a game; OptionError if an argument is out of range."""
        players, filled = self.agreed(players, seed, options)
        state = DasanState()
        state.players = players
        state.options = filled
        state.deck = DECK
        state.seed = seed
        state.scores = (0,) * players
        state.results = ()
        _deal(state, 1, 0)
        return state

    def facts(self, data: JsonDict) -> list[Fact]:
        """The talon, the called card and the play to beat."""
        called = [Fact("called", cards=(data["called"],))] if data["called"] else []
        return talon_facts(data) + called + table_facts(data)

    def roles(self, data: JsonDict, seat: int) -> list[str]:
        """Declarer and partner."""
        return auction_roles(data, seat) + ["partner"] * (data["partner"] == seat)

    def state(self, data: JsonDict) -> DasanState:
        """The state that this wire form describes; InvalidState with all that is wrong."""
        hands: list[list[str]] = data["hands"]
        table = _check(data, dict(enumerate(hands)), [len(hand) for hand in hands])
        state = DasanState()
        state._load_shared(data, table)
        state.seed = data["seed"]
        state.hands = tuple(DECK.hand(hand) for hand in hands)
        state.talon = DECK.hand(data["talon"])
        return state

    def view(self, data: JsonDict) -> DasanView:
        """The view that this wire form describes; InvalidState with all that is wrong."""
        table = _check(data, {data["seat"]: data["hand"]}, data["counts"])
        view = DasanView()
        view._load_shared(data, table)
        view.seat = data["seat"]
        view.hand = DECK.hand(data["hand"])
        view.counts = tuple(data["counts"])
        view.talon = tuple(DECK.in_order(data["talon"]))
        return view


GAME = Dasan()
