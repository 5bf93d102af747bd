"""Dasan, Die Grosse Drei (大三). docs/rules/dasan.md has the rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Final, cast

from games import climbing, validation
from games.climbing import AuctionGame, ClimbingPosition
from games.dasan import combinations
from games.dasan.combinations import CALLABLE, DECK
from games.deck import Deck
from games.errors import IllegalMove, Reason
from games.game import Category, Fact, JsonDict, LegalMoves, Option, Options, Phrase
from games.move import BID, CALL, PASS, PLAY, Move
from games.position import (
    STATE_FIELDS,
    VIEW_FIELDS,
    Field,
    Table,
    hand_field,
    masked_field,
    wrong_phase,
)
from games.shuffle import Randomness

HAND_SIZE: Final = {3: 16, 4: 13}
HEART: Final = 2
CARDS_CALLABLE: Final = (1 << (4 * CALLABLE)) - 1


class DasanPosition(ClimbingPosition):
    """The fields and rules that states and views share. `called` is one card as a hand, or 0."""

    FIELDS: ClassVar[tuple[Field, ...]] = (
        *ClimbingPosition.FIELDS,
        Field("first"),
        Field("bid"),
        Field("declarer"),
        Field(
            "called",
            lambda deck, card: deck.text(card) or None,
            lambda deck, name: deck.hand([name]) if name else 0,
        ),
    )
    first: int
    bid: int
    declarer: int | None
    called: int
    partner: int | None

    def validate(self, move: Move, hand: int) -> Move:
        """Check a move, and return it (see `BasePosition.validate`)."""
        if self.phase == "auction":
            return self._validate_bid(move)
        if self.phase == "call":
            return _validate_call(move, hand)
        return super().validate(move, hand)

    def validate_play(self, play: Move, table: Move | None) -> Move:
        """Check a play, and return it (see `ClimbingPosition.validate_play`)."""
        play = combinations.identify(play)
        if table is not None:
            combinations.check_beats(play, table)
        return play

    def _validate_bid(self, move: Move) -> Move:
        opening = self.bid == 0 and move.kind in (PASS, BID)
        if opening and not 1 <= move.value <= self._highest_opening():
            raise IllegalMove(
                Reason.MUST_BID,
                "The holder of the lowest heart must open the auction with "
                + ("a bid." if self.options["open_higher"] else "bid:1."),
            )
        return climbing.validate_bid(move, self.bid)

    def _highest_opening(self) -> int:
        return climbing.HIGHEST_BID if self.options["open_higher"] else 1

    def legal_moves(self, hand: int) -> LegalMoves:
        """Return the legal moves of the seat to move, in the API contract's order.

        `hand` must be that seat's hand. Plays are listed in the lowest suits held (see
        `combinations.legal_plays`), but `validate` also accepts plays in other suits.
        """
        if self.phase == "auction":
            if self.bid == 0:
                return LegalMoves(climbing.bids(DECK, 1, self._highest_opening()))
            return LegalMoves(climbing.auction_moves(DECK, self.bid))
        if self.phase == "call":
            callable_cards = DECK.numbers(CARDS_CALLABLE & ~hand)
            return LegalMoves([Move(CALL, DECK, DECK.units[card]) for card in callable_cards])
        table = None if self.table is None else self.table.move
        listed = [] if table is None else [Move(PASS, DECK)]
        return LegalMoves(listed + combinations.legal_plays(hand, table, self.called & hand))

    def check_wire(self, problems: list[str], data: JsonDict) -> Table | None:
        """Check a wire form (see `BasePosition.check_wire`)."""
        players: int = data["players"]
        table = climbing.read_table(problems, data["table"], DECK, players, combinations.identify)
        if data["phase"] == "auction":
            problems += climbing.check_auction(data, 0)
        else:
            problems += climbing.check_declared(data)
            problems += climbing.check_passing(data, table, range(players), players - 1)
        if data["phase"] == "call":
            if players != 4:
                problems.append("The phase call exists only with four players.")
            if data["table"] is not None:
                problems.append("table must be null in the phase call.")
            if data["turn"] != data["declarer"]:
                problems.append("turn must be the declarer in the phase call.")
        if data["called"] is None:
            if players == 4 and data["phase"] in ("play", "over"):
                problems.append("called must be set once four players have started to play.")
            if data["partner"] is not None:
                problems.append("partner must be null if no card is called.")
        elif players == 3 or data["phase"] in ("auction", "call"):
            problems.append("called must be null with three players, and before the call.")
        else:
            problems += _check_called(data)
        problems += climbing.check_cards_with_talon(data, DECK, table)
        return table

    def copy_shared(self, other: DasanPosition) -> None:
        """Copy from `other` the fields that a view takes unchanged, but not the partner."""
        self.copy_climbing(other)
        self.first = other.first
        self.bid = other.bid
        self.declarer = other.declarer
        self.called = other.called


def _validate_call(move: Move, hand: int) -> Move:
    if move.kind != CALL:
        raise wrong_phase(move, "call", "call")
    if move.cards < 0 or not move.cards & CARDS_CALLABLE or move.cards & hand:
        raise IllegalMove(
            Reason.NOT_CALLABLE,
            "Only a card of rank 4 to T that is not in the declarer's hand can be called.",
        )
    return move


def _check_called(data: JsonDict) -> Iterator[str]:
    hands = validation.known_hands(data)
    called, declarer, partner = data["called"], data["declarer"], data["partner"]
    if called not in DECK.number or DECK.number[called] >= 4 * CALLABLE:
        yield f"called is {called}, but only the ranks 4 to T can be called."
        return
    holder = next((seat for seat, hand in hands.items() if called in hand), None)
    if declarer is not None and called in hands.get(declarer, ()):
        yield "The declarer holds the called card, but another seat must hold it."
    if partner is not None and partner == declarer:
        yield "partner is the declarer, but must be another seat."
    if holder is not None and partner != holder:
        seat = "null" if partner is None else partner
        yield f"partner is {seat}, but seat {holder} holds {called}."


class DasanState(DasanPosition):
    """A complete position of Dasan. `talon` and the items of `hands` are hands of `deck`."""

    FIELDS: ClassVar[tuple[Field, ...]] = (
        *DasanPosition.FIELDS,
        *STATE_FIELDS,
        hand_field("talon"),
        Field("partner"),
    )
    talon: int

    def view(self, seat: int | None) -> DasanView:
        """Return the view of a seat, or of the public if `seat` is None.

        The view hides other hands, and the talon if the seat may not see it. Until the partner has
        played the called card or the game is over, only the partner's own view names the partner.

        Raises:
            ValueError: if there is no such seat.
        """
        view = DasanView()
        view.copy_shared(self)
        view.show_hand(self.hands, seat)
        reveal = self.options["reveal_talon"]
        view.talon = climbing.shown_talon(DECK, self.talon, seat, self.declarer, reveal)
        partner = self.partner
        secret = (
            partner is not None
            and partner != seat
            and self.turn is not None
            and self.hands[partner] & self.called
        )
        view.partner = None if secret else partner
        return view

    def deal_cards(self, deal: int = 1, dealer: int = 0) -> None:
        """Deal the cards of deal number `deal`, and set all fields that `Game.start` does not set.

        The first card goes to the seat `dealer`, and the first turn to the holder of the lowest
        heart that was dealt.
        """
        players = self.players
        order = Randomness(self.seed, deal).shuffle(DECK.order)
        drawn = HAND_SIZE[players] * players
        self.talon = self.start_deal(deal, dealer, order, dealer, drawn)
        lowest = next(unit for unit in DECK.units[HEART::4] if not unit & self.talon)
        self.first = self.turn = next(seat for seat in range(players) if self.hands[seat] & lowest)
        self.phase = "auction"
        self.passes = 0
        self.bid = 0
        self.declarer = None
        self.called = 0
        self.partner = None

    def advance(self, move: str | Move) -> DasanState:
        """Return the state after a move. If the move ends a deal but not the game, deal the next.

        Raises:
            IllegalMove: if the move is not legal (see `check`).
        """
        legal = self.check(move)
        after = DasanState()
        after.copy_shared(self)
        after.partner = self.partner
        after.seed = self.seed
        after.hands = self.hands
        after.talon = self.talon
        after._apply(legal)
        return after

    def _apply(self, move: Move) -> None:
        turn = cast("int", self.turn)
        self.history = self.history.then(turn, move)
        self.turn = (turn + 1) % self.players
        if move.kind == PLAY:
            if not self.play_cards(turn, move):
                self._go_out(turn)
        elif move.kind == CALL:
            self._call(move.cards)
        elif move.kind == BID:
            self.bid = move.value
            self.passes = 0
            if move.value == climbing.HIGHEST_BID:
                self._declare(turn)
        else:
            self._pass(turn)

    def _pass(self, turn: int) -> None:
        self.passes += 1
        if self.passes == self.players - 1:
            if self.phase == "auction":
                self._declare(climbing.bidder(turn, self.passes - 1, self.players))
            self.table = None
            self.passes = 0

    def _declare(self, declarer: int) -> None:
        self.declarer = declarer
        self.passes = 0
        if self.players == 3:
            self.add_to_hand(declarer, self.talon)
            self.phase = "play"
            self.turn = self.first
        else:
            self.phase = "call"
            self.turn = declarer

    def _call(self, card: int) -> None:
        self.called = card
        self.partner = next((seat for seat, hand in enumerate(self.hands) if hand & card), None)
        self.phase = "play"
        self.turn = self.first

    def _go_out(self, out: int) -> None:
        side = (self.declarer, self.partner)
        stake = self.bid if out in side else -self.bid
        change = [stake if seat in side else -stake for seat in range(self.players)]
        if self.partner is None and self.declarer is not None:
            change[self.declarer] = stake * (self.players - 1)
        result = {
            "declarer": self.declarer,
            "bid": self.bid,
            "out": out,
            "called": DECK.text(self.called) or None,
            "partner": self.partner,
        }
        if self.end_deal(change, result):
            self.deal_cards(self.deal + 1, out)


class DasanView(DasanPosition):
    """A position as one seat, or the public, may know it.

    `talon` has card names, and `??` for hidden cards. `partner` is None if there is no partner, or
    if the view hides who it is.
    """

    FIELDS: ClassVar[tuple[Field, ...]] = (
        *DasanPosition.FIELDS,
        masked_field("talon"),
        Field("partner"),
        *VIEW_FIELDS,
    )
    talon: tuple[str, ...]


class Dasan(AuctionGame):
    """The game Dasan, Die Grosse Drei."""

    name: ClassVar[str] = "dasan"
    title: ClassVar[str] = "Dasan"
    native: ClassVar[str] = "Die Grosse Drei (大三), Grube graben (挖坑)"
    min_players: ClassVar[int] = 3
    max_players: ClassVar[int] = 4
    options: ClassVar[tuple[Option, ...]] = (
        Option("deals", "The number of deals in a game.", 1, 1, 1000),
        Option("reveal_talon", "Everybody sees the talon once the declarer takes it."),
        Option("open_higher", "The opening bid may be higher than 1."),
    )
    phases: ClassVar[tuple[str, ...]] = ("auction", "call", "play")
    categories: ClassVar[tuple[Category, ...]] = (
        Category("single", "play:3c", "One card."),
        Category("pair", "play:4c4d", "Two cards of a rank."),
        Category("triple", "play:4c4d4h", "Three cards of a rank."),
        Category("quad", "play:4c4d4h4s", "Four cards of a rank."),
        Category("run", "play:8c9dThJsQcKd", "Three or more consecutive ranks, 4 to K."),
        Category("pair-run", "play:6c6d7c7d8c8d", "Three or more consecutive pairs, 4 to K."),
        Category("triple-run", "play:6c6d6h7c7d7h8c8d8h", "Three or more consecutive triples."),
        Category("quad-run", "play:4c4d4h4s5c5d5h5s6c6d6h6s", "Three or more consecutive quads."),
    )
    positions: ClassVar = (DasanState, DasanView)

    def deck(self, players: int) -> Deck:
        """Return one pack without jokers, in which 4 is low and 3 is high."""
        return DECK

    def facts(self, data: JsonDict) -> list[Fact]:
        """Return facts about the talon, the called card and the play to beat, if they exist."""
        called = [Fact("called", cards=(data["called"],))] if data["called"] else []
        return climbing.talon_facts(data) + called + climbing.table_facts(data)

    def roles(self, data: JsonDict, seat: int) -> list[Phrase]:
        """Return one phrase for the declarer or a known partner, or [] for other seats."""
        if data["declarer"] == seat:
            return [Phrase("declarer, bid %(bid)d", {"bid": data["bid"]})]
        return [Phrase("partner")] if data["partner"] == seat else []

    def most_moves(self, players: int) -> int:
        """Return an upper bound (see `Game.most_moves`). A search found at most 92 legal moves."""
        return 128

    def max_difference(self, players: int, options: Options) -> int:
        """Return the points by which the declarer and an opponent differ after a bid of 3."""
        return climbing.HIGHEST_BID * (3 if players == 3 else 2)  # 6 and -3 points, or 3 and -3


GAME: Final[Dasan] = Dasan()
