"""Dou Dizhu (Bekämpfe den Gutsherrn, 斗地主) for three and four players.

An auction decides who is the declarer, alone against the rest; it takes up the talon and leads.
Combinations climb; bombs and the rocket beat everything and double the score. Who goes out first
ends the deal: each opponent pays the declarer, or is paid, bid × 2^doublings.

Source: the German text of pagat.com's page on Dou Dizhu; what it leaves open is decided in
docs/rules/doudizhu.md. The combinations are in `doudizhu_plays`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
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
from games.deck import HIDDEN, Deck, deck
from games.doudizhu.combinations import Combinations, FourPlayers, ThreePlayers
from games.errors import InvalidState
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
from games.move import BID, PASS, PLAY, Move
from games.shuffle import Randomness, distribute

RANKS = "3456789TJQKA2"
HAND_SIZE = {3: 17, 4: 25}
MOST_DOUBLINGS = 100


def _deck(players: int) -> Deck:
    return deck(RANKS, jokers=True, packs=1 if players == 3 else 2)


@cache
def combinations(players: int, pair_as_solos: bool) -> Combinations:
    """The combinations of a number of players, made once."""
    if players == 3:
        return ThreePlayers(_deck(3), pair_as_solos)
    return FourPlayers(_deck(4))


class _Doudizhu(ClimbingPosition):
    """What state and view share."""

    __slots__ = ("bid", "declarer", "doublings", "exposed", "first", "plays")
    plays: Combinations
    first: int
    exposed: str | None
    bid: int
    declarer: int | None
    doublings: int

    @property
    def game(self) -> Game:
        """The game this is a position of."""
        return GAME

    def decide(self, move: Move, hand: int) -> Move:
        """Decide on a well-formed move; IllegalMove from `wrong-phase` on."""
        if self.phase == "auction":
            return auction.decide(move, self.bid)
        table = self.table
        if move.kind == PASS:
            if table is None:
                raise must_lead()
            return move
        if move.kind != PLAY:
            raise wrong_phase(move, "play", "pass and play")
        if move.cards < 0 or not self.deck.holds(hand, move.cards):
            raise not_held(move)
        read = self.plays.read(move)
        if table is not None:
            self.plays.check_beats(read, table.move)
        return read

    def moves(self) -> LegalMoves:
        """The legal moves in the contract's order; suits play no part, the lowest are named."""
        if self.turn is None:
            return MoveList()
        hand = self.mover_hand()
        if hand is None:
            return MoveList()
        if self.phase == "auction":
            return MoveList(auction.moves(self.deck, self.bid))
        if self.table is None:
            return self.plays.leads(hand)
        return self.plays.follows(hand, self.table.move)

    def _shared(self) -> dict[str, Any]:
        """The wire form of what state and view share."""
        wire = self.climbing_dict()
        wire["first"] = self.first
        wire["exposed"] = self.exposed
        wire["bid"] = self.bid
        wire["declarer"] = self.declarer
        wire["doublings"] = self.doublings
        return wire

    def _load_shared(self, data: JsonDict, table: Table | None) -> None:
        self.load_climbing(data, table)
        self.plays = combinations(self.players, bool(self.options["quad_pair_as_solos"]))
        self.first = data["first"]
        self.exposed = data["exposed"]
        self.bid = data["bid"]
        self.declarer = data["declarer"]
        self.doublings = data["doublings"]

    def _copy_shared(self, other: _Doudizhu) -> None:
        """The allow-list: every field that a view may take from a state as it is."""
        self.copy_climbing(other)
        self.plays = other.plays
        self.first = other.first
        self.exposed = other.exposed
        self.bid = other.bid
        self.declarer = other.declarer
        self.doublings = other.doublings


class DoudizhuState(_Doudizhu):
    """A whole position of Dou Dizhu; `hands` and `talon` are hands of `deck`."""

    __slots__ = ("hands", "seed", "talon")
    seed: str
    hands: tuple[int, ...]
    talon: int

    def mover_hand(self) -> int | None:
        """The hand of the seat to move."""
        return None if self.turn is None else self.hands[self.turn]

    def to_dict(self) -> dict[str, Any]:
        """The wire form, ready for JSON."""
        wire = self._shared()
        wire["seed"] = self.seed
        wire["hands"] = [self.deck.names_of(hand) for hand in self.hands]
        wire["talon"] = self.deck.names_of(self.talon)
        return wire

    def view(self, seat: int) -> DoudizhuView:
        """What one seat may know: not the seed, not other hands, not a talon it did not see."""
        if not 0 <= seat < self.players:
            raise ValueError(f"There is no seat {seat}: the seats are 0 to {self.players - 1}.")
        view = DoudizhuView()
        view._copy_shared(self)
        view.seat = seat
        view.hand = self.hands[seat]
        view.counts = tuple(self.deck.count(hand) for hand in self.hands)
        shown = self.declarer is not None and (
            seat == self.declarer or bool(self.options["reveal_talon"])
        )
        cards = self.deck.names_of(self.talon)
        view.talon = tuple(cards if shown else [HIDDEN] * len(cards))
        return view

    def advance(self, move: str | Move) -> DoudizhuState:
        """The state after a move; IllegalMove if it is not legal."""
        done = self.check(move)
        after = self._copy()
        after._apply(done)
        return after

    def _copy(self) -> DoudizhuState:
        after = DoudizhuState()
        after._copy_shared(self)
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
        elif self.phase == "play":
            self._pass()
        elif move.kind == BID:
            self.bid = move.value
            self.passes = 0
            if move.value == auction.HIGHEST:
                self._take_up(turn)
        else:
            self.passes += 1
            if self.bid and self.passes == self.players - 1:
                self._take_up((turn - self.passes) % self.players)
            elif self.passes == self.players:
                self._passed_out()

    def _take_up(self, declarer: int) -> None:
        self.declarer = declarer
        hands = list(self.hands)
        hands[declarer] += self.talon
        self.hands = tuple(hands)
        self.phase = "play"
        self.turn = declarer
        self.passes = 0

    def _passed_out(self) -> None:
        """Nobody bid: deal again, or count the deal after `redeals` of them in a row."""
        last = self.results[-1]["deal"] if self.results else 0
        redeals = self.options["redeals"]
        self.passes = 0
        if redeals is not None and self.deal - last - 1 < redeals:
            _deal(self, self.deal + 1, self.dealer)
        else:
            self._finish(tuple([0] * self.players), None)

    def _play(self, seat: int, move: Move) -> None:
        hands = list(self.hands)
        left = hands[seat] = hands[seat] - move.cards
        self.hands = tuple(hands)
        self.table = Table(seat, move)
        self.passes = 0
        if self.plays.doubles(move):
            self._double()
        if not left:
            self._go_out(seat)

    def _double(self) -> None:
        """One doubling more. Only a set-up position gets near the limit, and it stops there."""
        self.doublings = min(self.doublings + 1, MOST_DOUBLINGS)

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
        opponents = self.players - 1
        change = tuple(
            stake * opponents if seat == self.declarer else -stake for seat in range(self.players)
        )
        self._finish(change, out)

    def _is_spring(self, out: int) -> bool:
        """The declarer wins and no opponent played, or loses and played once at most."""
        plays = [seat for seat, move in self.history if move.startswith("play:")]
        if out == self.declarer:
            return all(seat == out for seat in plays)
        return plays.count(self.declarer or 0) <= 1

    def _finish(self, change: tuple[int, ...], out: int | None) -> None:
        result = {
            "deal": self.deal,
            "scores": list(change),
            "declarer": self.declarer,
            "bid": self.bid,
            "doublings": self.doublings,
            "out": out,
        }
        self.results += (result,)
        self.scores = tuple(a + b for a, b in zip(self.scores, change, strict=True))
        deals = self.options["deals"]
        if deals is not None and len(self.results) >= deals:
            self.phase = "over"
            self.turn = None
        else:
            _deal(self, self.deal + 1, (self.dealer + 1) % self.players)


class DoudizhuView(_Doudizhu):
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
        wire = self._shared()
        wire["talon"] = list(self.talon)
        wire["seat"] = self.seat
        wire["hand"] = self.deck.names_of(self.hand)
        wire["counts"] = list(self.counts)
        return wire


def _deal(state: DoudizhuState, deal: int, dealer: int) -> None:
    """Deal: the exposed card, somewhere among those drawn, decides who bids first."""
    players, cards = state.players, state.deck
    random = Randomness(state.seed, deal)
    order = random.shuffle(cards.order)
    drawn = HAND_SIZE[players] * players
    exposed = random.below(drawn)
    hands, talon = distribute(order, players, dealer, drawn)
    state.deal = deal
    state.dealer = dealer
    state.hands = tuple(cards.hand_of_numbers(hand) for hand in hands)
    state.talon = cards.hand_of_numbers(talon)
    state.exposed = cards.names[order[exposed]]
    state.first = state.turn = (dealer + exposed) % players
    state.phase = "auction"
    state.history = History()
    state.passes = 0
    state.table = None
    state.bid = 0
    state.declarer = None
    state.doublings = 0


def _check(data: JsonDict, hands: dict[int, list[str]], counts: list[int]) -> Table | None:
    """All clauses that state and view share; the table, understood. InvalidState with the rest."""
    problems: list[str] = []
    data = validation.judged(problems, GAME, data, len(counts))
    players: int = data["players"]
    cards = _deck(players)
    is_view = "seat" in data
    validation.frame(problems, GAME, data, ("counts" if is_view else "hands",))
    plays = combinations(players, bool(data["options"]["quad_pair_as_solos"]))
    table = read_table(problems, data["table"], cards, players, plays.read)
    if is_view:
        validation.own_hand(problems, data, cards, beside_hands(data, table))
    if data["phase"] == "auction":
        auction.check_auction(problems, data, players - 1)
    elif data["phase"] == "over" and data["declarer"] is None:
        if data["table"] is not None or data["bid"] != 0 or data["passes"] != 0:
            problems.append("After a passed-out last deal table is null, bid 0 and passes 0.")
    else:
        auction.check_declared(problems, data)
        check_passing(problems, data, table, range(players), players - 1)
    check_empty(problems, data, counts)
    if not 0 <= data["doublings"] <= MOST_DOUBLINGS:
        problems.append(f"doublings is {data['doublings']}, not 0 to {MOST_DOUBLINGS}.")
    check_talon(problems, cards, hands, data["talon"], data["declarer"], table)
    if problems:
        raise InvalidState(problems)
    return table


class Doudizhu(Game):
    """Dou Dizhu."""

    name: ClassVar[str] = "doudizhu"
    title: ClassVar[str] = "Dou Dizhu"
    native: ClassVar[str] = "Bekämpfe den Gutsherrn (斗地主)"
    min_players: ClassVar[int] = 3
    max_players: ClassVar[int] = 4
    options: ClassVar[tuple[Option, ...]] = (
        Option("deals", 1, 1, 1000, False, "How many deals with a result a game has."),
        Option(
            "redeals",
            9,
            0,
            1000,
            False,
            "After so many passed-out deals in a row the next one counts, with 0 for all.",
        ),
        Option(
            "quad_pair_as_solos",
            False,
            None,
            None,
            False,
            "Three players: a quad may carry a pair in place of two cards of different ranks.",
        ),
        Option(
            "spring",
            False,
            None,
            None,
            False,
            "One more doubling if the losing side never played (the declarer: once at most).",
        ),
        Option(
            "reveal_talon",
            False,
            None,
            None,
            False,
            "Everybody sees the talon once the declarer has taken it up.",
        ),
    )
    phases: ClassVar[tuple[str, ...]] = ("auction", "play")
    categories: ClassVar[tuple[Category, ...]] = (
        Category("solo", "play:2s", "One card."),
        Category("pair", "play:3c3d", "Two cards of a rank."),
        Category("triple", "play:3c3d3h", "Three cards of a rank."),
        Category("triple+solo", "play:6c6d6h8s", "A triple and a card of another rank.", 3),
        Category("triple+pair", "play:6c6dQcQdQh", "A triple and a pair of another rank."),
        Category("run", "play:8c9dThJsQc", "Five or more ranks in a row, 3 to A."),
        Category("pair-run", "play:TcTdJcJdQcQdKcKd", "Three or more pairs in a row, 3 to A."),
        Category("triple-run", "play:4c4d4h5c5d5h", "Two or more triples in a row, 3 to A."),
        Category(
            "triple-run+solos",
            "play:3s6c7c7d7h8c8d8h",
            "A run of triples and one card for each, all of different ranks.",
            3,
        ),
        Category(
            "triple-run+pairs",
            "play:4c4d8c8d8h9c9d9hJcJd",
            "A run of triples and one pair for each, of different ranks.",
        ),
        Category("quad+solos", "play:6c6d6h6s8c9c", "A quad and two cards of different ranks.", 3),
        Category("quad+pairs", "play:9c9dJcJdJhJsQcQd", "A quad and two pairs.", 3),
        Category("bomb", "play:5c5d5h5s", "Four of a rank; with two packs four to eight."),
        Category("rocket", "play:BjRj", "All jokers: two, with two packs four."),
    )
    teams: ClassVar[bool] = True

    def deck(self, players: int) -> Deck:
        """One pack for three players, two for four."""
        return _deck(players)

    def start(self, players: int | None, seed: str, options: Mapping[str, object]) -> DoudizhuState:
        """The first state of a game; OptionError if an argument is out of range."""
        players, filled = self.agreed(players, seed, options)
        state = DoudizhuState()
        state.players = players
        state.options = filled
        state.deck = _deck(players)
        state.plays = combinations(players, bool(filled["quad_pair_as_solos"]))
        state.seed = seed
        state.scores = (0,) * players
        state.results = ()
        _deal(state, 1, 0)
        return state

    def facts(self, data: JsonDict) -> list[Fact]:
        """The exposed card, the talon, the doublings and the play to beat."""
        facts = []
        if data["exposed"]:
            facts.append(Fact("turned up", "drawn", (data["exposed"],), data["first"]))
        facts += talon_facts(data)
        if data["doublings"]:
            facts.append(Fact("doublings", str(data["doublings"])))
        return facts + table_facts(data)

    def roles(self, data: JsonDict, seat: int) -> list[str]:
        """The declarer."""
        return auction_roles(data, seat)

    def state(self, data: JsonDict) -> DoudizhuState:
        """The state that this wire form describes; InvalidState with all that is wrong."""
        hands: list[list[str]] = data["hands"]
        table = _check(data, dict(enumerate(hands)), [len(hand) for hand in hands])
        state = DoudizhuState()
        state._load_shared(data, table)
        state.seed = data["seed"]
        state.hands = tuple(state.deck.hand(hand) for hand in hands)
        state.talon = state.deck.hand(data["talon"])
        return state

    def view(self, data: JsonDict) -> DoudizhuView:
        """The view that this wire form describes; InvalidState with all that is wrong."""
        table = _check(data, {data["seat"]: data["hand"]}, data["counts"])
        view = DoudizhuView()
        view._load_shared(data, table)
        view.seat = data["seat"]
        view.hand = view.deck.hand(data["hand"])
        view.counts = tuple(data["counts"])
        view.talon = tuple(view.deck.in_order(data["talon"]))
        return view


GAME = Doudizhu()
