"""Dou Dizhu (Bekämpfe den Gutsherrn, 斗地主). docs/rules/doudizhu.md has the rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final, cast

from games import climbing
from games.climbing import AuctionGame, ClimbingPosition
from games.deck import Deck
from games.doudizhu.combinations import (
    CATEGORIES,
    DECKS,
    MOST_DOUBLINGS,
    Combinations,
    combinations,
)
from games.doudizhu.move_list import DoudizhuMoves
from games.game import Category, Fact, JsonDict, LegalMoves, Option, Options, Phrase, Value
from games.move import BID, PLAY, Move
from games.position import STATE_FIELDS, VIEW_FIELDS, Field, Table, hand_field, masked_field
from games.shuffle import Randomness

HAND_SIZE: Final = {3: 17, 4: 25}


class DoudizhuPosition(ClimbingPosition):
    """The fields and rules that states and views share."""

    FIELDS: ClassVar[tuple[Field, ...]] = (
        *ClimbingPosition.FIELDS,
        Field("first"),
        Field("exposed"),
        Field("bid"),
        Field("declarer"),
        Field("doublings"),
    )
    plays: Combinations
    first: int
    exposed: str | None
    bid: int
    declarer: int | None
    doublings: int

    def validate(self, move: Move, hand: int) -> Move:
        """Check a move, and return it (see `BasePosition.validate`)."""
        if self.phase == "auction":
            return climbing.validate_bid(move, self.bid)
        return super().validate(move, hand)

    def validate_play(self, play: Move, table: Move | None) -> Move:
        """Check a play, and return it (see `ClimbingPosition.validate_play`)."""
        play = self.plays.identify(play)
        if table is not None:
            self.plays.check_beats(play, table)
        return play

    def legal_moves(self, hand: int) -> LegalMoves:
        """Return the legal moves of the seat to move, in the API contract's order.

        `hand` must be that seat's hand. Plays are listed in the lowest suits held, but `validate`
        also accepts plays in other suits.
        """
        if self.phase == "auction":
            return LegalMoves(climbing.auction_moves(self.deck, self.bid))
        table = self.table
        return DoudizhuMoves(self.plays, hand, None if table is None else table.move)

    def check_wire(self, problems: list[str], data: JsonDict) -> Table | None:
        """Check a wire form (see `BasePosition.check_wire`)."""
        players: int = data["players"]
        identify = combinations(players, bool(data["options"]["quad_pair_as_solos"])).identify
        table = climbing.read_table(problems, data["table"], self.deck, players, identify)
        if data["phase"] == "auction":
            problems += climbing.check_auction(data, players - 1)
        elif data["phase"] == "over" and data["declarer"] is None:
            if data["table"] is not None or data["bid"] != 0 or data["passes"] != 0:
                problems.append("After a passed-out last deal table is null, bid 0 and passes 0.")
        else:
            problems += climbing.check_declared(data)
            problems += climbing.check_passing(data, table, range(players), players - 1)
        if not 0 <= data["doublings"] <= MOST_DOUBLINGS:
            problems.append(f"doublings is {data['doublings']}, not 0 to {MOST_DOUBLINGS}.")
        problems += climbing.check_cards_with_talon(data, self.deck, table)
        return table

    def load(self, data: JsonDict) -> None:
        """Validate a wire form, and set all fields (see `BasePosition.load`)."""
        super().load(data)
        self.plays = combinations(self.players, bool(self.options["quad_pair_as_solos"]))

    def copy_shared(self, other: DoudizhuPosition) -> None:
        """Copy from `other` the fields that a view takes unchanged."""
        self.copy_climbing(other)
        self.plays = other.plays
        self.first = other.first
        self.exposed = other.exposed
        self.bid = other.bid
        self.declarer = other.declarer
        self.doublings = other.doublings


class DoudizhuState(DoudizhuPosition):
    """A complete position of Dou Dizhu. `talon` and the items of `hands` are hands of `deck`."""

    FIELDS: ClassVar[tuple[Field, ...]] = (
        *DoudizhuPosition.FIELDS,
        *STATE_FIELDS,
        hand_field("talon"),
    )
    talon: int

    def view(self, seat: int | None) -> DoudizhuView:
        """Return the view of a seat, or of the public if `seat` is None.

        The view hides other hands, and the talon if the seat may not see it.

        Raises:
            ValueError: if there is no such seat.
        """
        view = DoudizhuView()
        view.copy_shared(self)
        view.show_hand(self.hands, seat)
        reveal = self.options["reveal_talon"]
        view.talon = climbing.shown_talon(self.deck, self.talon, seat, self.declarer, reveal)
        return view

    def deal_cards(self, deal: int = 1, dealer: int = 0) -> None:
        """Deal the cards of deal number `deal`, and set all fields that `Game.start` does not set.

        The first card goes to the seat `dealer`, and the first turn to the seat that draws the
        exposed card.
        """
        players, cards = self.players, self.deck
        self.plays = combinations(players, bool(self.options["quad_pair_as_solos"]))
        random = Randomness(self.seed, deal)
        order = random.shuffle(cards.order)
        drawn = HAND_SIZE[players] * players
        exposed = random.below(drawn)
        self.talon = self.start_deal(deal, dealer, order, dealer, drawn)
        self.exposed = cards.names[order[exposed]]
        self.first = self.turn = (dealer + exposed) % players
        self.phase = "auction"
        self.passes = 0
        self.bid = 0
        self.declarer = None
        self.doublings = 0

    def advance(self, move: str | Move) -> DoudizhuState:
        """Return the state after a move. If the move ends a deal but not the game, deal the next.

        A deal also ends, without a result, if all seats pass and the option `redeals` allows it.

        Raises:
            IllegalMove: if the move is not legal (see `check`).
        """
        legal = self.check(move)
        after = DoudizhuState()
        after.copy_shared(self)
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
            self._play(turn, move)
        elif self.phase == "play":
            self._pass()
        else:
            self._call(move, self.turn)

    def _call(self, move: Move, following: int) -> None:
        if move.kind == BID:
            self.bid = move.value
            self.passes = 0
        else:
            self.passes += 1
        others_passed = self.passes == self.players - 1
        all_called = bool(self.options["single_round"]) and following == self.first
        if self.bid == climbing.HIGHEST_BID or (self.bid and (others_passed or all_called)):
            self.declarer = self.turn = climbing.bidder(following, self.passes, self.players)
            self.add_to_hand(self.declarer, self.talon)
            self.phase = "play"
            self.passes = 0
        elif self.passes == self.players:
            self._passed_out()

    def _passed_out(self) -> None:
        last = self.results[-1]["deal"] if self.results else 0
        redeals = self.options["redeals"]
        self.passes = 0
        if redeals is not None and self.deal - last - 1 < redeals:
            self.deal_cards(self.deal + 1, self.dealer)
        else:
            self._finish((0,) * self.players, None)

    def _play(self, seat: int, move: Move) -> None:
        left = self.play_cards(seat, move)
        if self.plays.doubles(move):
            self._double()
        if not left:
            self._go_out(seat)

    def _double(self) -> None:
        self.doublings = min(self.doublings + 1, MOST_DOUBLINGS)  # a limit for set-up positions

    def _pass(self) -> None:
        self.passes += 1
        if self.passes == self.players - 1:
            self.table = None
            self.passes = 0

    def _go_out(self, out: int) -> None:
        if self.options["spring"] and self._is_spring(out):
            self._double()
        stake = self.bid << self.doublings
        if out != self.declarer:
            stake = -stake
        change = [-stake] * self.players
        change[self.declarer or 0] = stake * (self.players - 1)
        self._finish(change, out)

    def _is_spring(self, out: int) -> bool:
        """Return whether the losing side never played, or a losing declarer played at most once.

        `out` is the seat that has gone out.
        """
        plays = [seat for seat, move in self.history if move.startswith("play:")]
        if out == self.declarer:
            return all(seat == out for seat in plays)
        return plays.count(self.declarer or 0) <= 1

    def _finish(self, change: Sequence[int], out: int | None) -> None:
        result = {
            "declarer": self.declarer,
            "bid": self.bid,
            "doublings": self.doublings,
            "out": out,
        }
        if self.end_deal(change, result):
            self.deal_cards(self.deal + 1, (self.dealer + 1) % self.players)


class DoudizhuView(DoudizhuPosition):
    """A position as one seat, or the public, may know it. `talon` has `??` for hidden cards."""

    FIELDS: ClassVar[tuple[Field, ...]] = (
        *DoudizhuPosition.FIELDS,
        masked_field("talon"),
        *VIEW_FIELDS,
    )
    talon: tuple[str, ...]


class Doudizhu(AuctionGame):
    """The game Dou Dizhu."""

    name: ClassVar[str] = "doudizhu"
    title: ClassVar[str] = "Dou Dizhu"
    native: ClassVar[str] = "Bekämpfe den Gutsherrn (斗地主)"
    min_players: ClassVar[int] = 3
    max_players: ClassVar[int] = 4
    options: ClassVar[tuple[Option, ...]] = (
        Option("deals", "The number of deals in a game, not counting redeals.", 1, 1, 1000),
        Option(
            "redeals",
            "The most redeals in a row; the next passed-out deal counts, with 0 points for all.",
            9,
            0,
            1000,
        ),
        Option(
            "quad_pair_as_solos",
            "Three players: a quad may take a pair in place of two cards of different ranks.",
        ),
        Option(
            "spring",
            "One extra doubling if the losing side never played (the declarer: at most once).",
        ),
        Option("reveal_talon", "Everybody sees the talon once the declarer takes it."),
        Option("single_round", "Each seat bids or passes once in an auction."),
    )
    option_sets: ClassVar[Mapping[str, Mapping[str, Value]]] = {
        "botzone": {"single_round": True, "reveal_talon": True, "spring": True}
    }
    phases: ClassVar[tuple[str, ...]] = ("auction", "play")
    categories: ClassVar[tuple[Category, ...]] = CATEGORIES
    positions: ClassVar = (DoudizhuState, DoudizhuView)
    bounded: ClassVar[bool] = False

    def deck(self, players: int) -> Deck:
        """Return one pack for three players, or two packs for four."""
        return DECKS[players]

    def roles(self, data: JsonDict, seat: int) -> list[Phrase]:
        """Return one phrase, such as "landlord, bid 2", for the declarer, or [] for other seats."""
        if data["declarer"] != seat:
            return []
        return [Phrase("landlord, bid %(bid)d", {"bid": data["bid"]})]

    def facts(self, data: JsonDict) -> list[Fact]:
        """Return facts about the exposed card, talon, doublings and play to beat, if they exist."""
        facts = []
        if data["exposed"]:
            facts.append(Fact("face-up card", cards=(data["exposed"],), seat=data["first"]))
        facts += climbing.talon_facts(data)
        if data["doublings"]:
            facts.append(Fact("doublings", str(data["doublings"])))
        return facts + climbing.table_facts(data)

    def most_moves(self, players: int) -> int:
        """Return an upper bound (see `Game.most_moves`).

        With three players a search found at most 497 moves, and with four at most 1,845.
        """
        return {3: 600, 4: 2_000}[players]

    def max_difference(self, players: int, options: Options) -> int:
        """Return the points by which the declarer and an opponent differ at a high stake.

        The stake is a bid of 3 with 3 doublings (2 with four players), and one more doubling if the
        option `spring` is on. In 99.4 % of 40,000 deals (99.7 % with four players), the hands do
        not have enough bombs and rockets for more doublings, whoever takes the talon.
        """
        doublings = {3: 3, 4: 2}[players] + bool(options.get("spring"))
        return climbing.HIGHEST_BID * players * (1 << doublings)


GAME: Final[Doudizhu] = Doudizhu()
