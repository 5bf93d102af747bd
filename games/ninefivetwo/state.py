"""9-5-2 for three players: take more tricks than your target, which is nine, five or two.

After an exchange of cards that follows from the deal before, the 9-player names trump, takes up
four cards, lays four away, and sixteen tricks are played: follow suit if you can, trump wins.

Source: the German text "9-5-2 - ein Kartenspiel"; what it leaves open is decided in
docs/rules/ninefivetwo.md. The exchange is in `ninefivetwo_exchange`, what a posted position must
keep in `ninefivetwo_checks`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from games.climbing.trick import not_held, wrong_phase
from games.deck import HIDDEN, SUITS, Deck
from games.errors import IllegalMove, InvalidState, Reason
from games.game import BasePosition, Category, Fact, Game, JsonDict, LegalMoves, MoveList, Option
from games.history import History
from games.move import DISCARD, GIVE, PLAY, TRUMP, Move
from games.ninefivetwo.exchange import (
    Exchanged,
    Pairing,
    give_back,
    history_for,
    pairings,
    read_exchanged,
    read_pairing,
)
from games.ninefivetwo.trick import (
    DECK,
    DISCARDS,
    GIVES,
    PLAYS,
    TRUMPS,
    Trick,
    card_of,
    playable,
    read_play,
    suit_of,
    winner,
)
from games.ninefivetwo.validation import TALON, TRICKS, problems_of
from games.shuffle import Randomness, distribute

PLAYERS = 3
SUIT_NAMES = {"c": "clubs ♣", "d": "diamonds ♦", "h": "hearts ♥", "s": "spades ♠"}
FIRST_TARGETS = (9, 5, 2)
_KINDS = {"exchange": GIVE, "trump": TRUMP, "discard": DISCARD, "play": PLAY}


class _Ninefivetwo(BasePosition):
    """What state and view share."""

    __slots__ = ("exchanged", "owed", "targets", "trick", "tricks", "trump")
    targets: tuple[int, ...]
    trump: int | None
    owed: tuple[Pairing, ...]
    exchanged: tuple[Exchanged, ...]
    trick: Trick
    tricks: tuple[int, ...]

    @property
    def game(self) -> Game:
        """The game this is a position of."""
        return GAME

    @abstractmethod
    def cards_owed(self) -> int:
        """How many cards the seat to move has still to give in this pairing or to lay away."""

    def decide(self, move: Move, hand: int) -> Move:
        """Decide on a well-formed move; IllegalMove from `wrong-phase` on."""
        kind = _KINDS[self.phase]
        if move.kind != kind:
            raise wrong_phase(move, self.phase, kind)
        if kind == TRUMP:
            return move
        if move.cards < 0 or hand & move.cards != move.cards:
            raise not_held(move)
        number = move.cards.bit_count()
        if kind != PLAY:
            owed = self.cards_owed()
            if number not in (1, owed):
                raise IllegalMove(
                    Reason.WRONG_NUMBER,
                    f"{kind} names one card, or all {owed} that are still owed; not {number}.",
                )
            return move
        if number != 1:
            raise IllegalMove(Reason.WRONG_NUMBER, f"One card is played, not {number}.")
        if move.suffix:
            raise IllegalMove(
                Reason.NOT_A_COMBINATION, f"A card in 9-5-2 has no {move.suffix} to it."
            )
        if not move.cards & playable(hand, self.trick):
            suit = SUITS[suit_of(self.trick[0][1])]
            raise IllegalMove(
                Reason.MUST_FOLLOW, f"Suit {suit} was led, and there are cards of it in the hand."
            )
        return PLAYS[card_of(move)]

    def moves(self) -> LegalMoves:
        """The legal moves in deck order; gives and discards are offered one card at a time."""
        if self.turn is None:
            return MoveList()
        hand = self.mover_hand()
        if hand is None:
            return MoveList()
        if self.phase == "trump":
            return MoveList(TRUMPS)
        if self.phase == "play":
            named = PLAYS
            hand = playable(hand, self.trick)
        else:
            named = GIVES if self.phase == "exchange" else DISCARDS
        return MoveList([named[card] for card in self.deck.numbers(hand)])

    def _shared(self) -> dict[str, Any]:
        """The wire form of what state and view share."""
        wire = self.common_dict()
        wire["targets"] = list(self.targets)
        wire["trump"] = None if self.trump is None else SUITS[self.trump]
        wire["owed"] = [pairing.to_dict() for pairing in self.owed]
        wire["exchanged"] = [pairing.to_dict() for pairing in self.exchanged]
        wire["trick"] = [{"seat": seat, "move": move.text} for seat, move in self.trick]
        wire["tricks"] = list(self.tricks)
        return wire

    def _load_shared(self, data: JsonDict) -> None:
        self.load_common(data)
        self.targets = tuple(data["targets"])
        self.trump = None if data["trump"] is None else SUITS.index(data["trump"])
        self.owed = tuple([read_pairing(entry, self.deck) for entry in data["owed"]])
        self.exchanged = tuple([read_exchanged(entry, self.deck) for entry in data["exchanged"]])
        self.trick = tuple([(entry["seat"], read_play(entry["move"])) for entry in data["trick"]])
        self.tricks = tuple(data["tricks"])

    def _copy_open(self, other: _Ninefivetwo) -> None:
        """The allow-list: every field that a view may take from a state as it is."""
        self.copy_common(other)
        self.targets = other.targets
        self.trump = other.trump
        self.trick = other.trick
        self.tricks = other.tricks


class NinefivetwoState(_Ninefivetwo):
    """A whole position of 9-5-2; `hands`, `talon` and `discards` are hands of `deck`."""

    __slots__ = ("discards", "hands", "seed", "talon")
    seed: str
    hands: tuple[int, ...]
    talon: int
    discards: int

    def mover_hand(self) -> int | None:
        """The hand of the seat to move."""
        return None if self.turn is None else self.hands[self.turn]

    def cards_owed(self) -> int:
        """How many cards the seat to move has still to give in this pairing or to lay away."""
        return self.owed[0].open if self.owed else TALON - self.discards.bit_count()

    def to_dict(self) -> dict[str, Any]:
        """The wire form, ready for JSON."""
        wire = self._shared()
        wire["seed"] = self.seed
        wire["hands"] = [self.deck.names_of(hand) for hand in self.hands]
        wire["talon"] = self.deck.names_of(self.talon)
        wire["discards"] = self.deck.names_of(self.discards)
        return wire

    def view(self, seat: int) -> NinefivetwoView:
        """What one seat may know: not the seed, other hands, the talon, nor others' exchanges."""
        if not 0 <= seat < self.players:
            raise ValueError(f"There is no seat {seat}: the seats are 0 to {self.players - 1}.")
        view = NinefivetwoView()
        view._copy_open(self)
        view.history = history_for(self.history, seat, self.exchanged, self.owed)
        view.owed = tuple([pairing.seen_by(seat) for pairing in self.owed])
        view.exchanged = tuple([pairing.seen_by(seat) for pairing in self.exchanged])
        view.seat = seat
        view.hand = self.hands[seat]
        view.counts = tuple([hand.bit_count() for hand in self.hands])
        view.talon = (HIDDEN,) * self.talon.bit_count()
        laid = tuple(self.deck.names_of(self.discards))
        view.discards = laid if seat == self.dealer else (HIDDEN,) * len(laid)
        return view

    def advance(self, move: str | Move) -> NinefivetwoState:
        """The state after a move; IllegalMove if it is not legal."""
        done = self.check(move)
        after = NinefivetwoState()
        after._copy_open(self)
        after.owed = self.owed
        after.exchanged = self.exchanged
        after.seed = self.seed
        after.hands = self.hands
        after.talon = self.talon
        after.discards = self.discards
        after._apply(done)
        return after

    def _apply(self, move: Move) -> None:
        """Carry out a legal move on this fresh copy."""
        turn = self.turn
        if turn is None:
            return
        self.history = self.history.then(turn, move)
        if move.kind == TRUMP:
            self._name_trump(turn, move)
            return
        self._move_cards(turn, -move.cards)
        if move.kind == PLAY:
            self._play(turn, move)
        elif move.kind == GIVE:
            self._give(move)
        else:
            self.discards |= move.cards
            self._start_play_once_laid_away()

    def _move_cards(self, seat: int, cards: int) -> None:
        """Put cards into a hand, or take them out of it where they are negative."""
        hands = list(self.hands)
        hands[seat] += cards
        self.hands = tuple(hands)

    def _name_trump(self, seat: int, move: Move) -> None:
        self.trump = move.value
        self._move_cards(seat, self.talon)
        self.talon = 0
        self.phase = "discard"
        self._start_play_once_laid_away()

    def _start_play_once_laid_away(self) -> None:
        """The 9-player is done when its hand is what it will play: at once without a talon."""
        if self.hands[self.dealer].bit_count() <= TRICKS - sum(self.tricks):
            self.phase = "play"
            self.turn = self.targets.index(5)

    def _give(self, move: Move) -> None:
        due = self.owed[0]
        chosen = self.deck.hand(due.given) | move.cards
        due = Pairing(due.giver, due.debtor, due.count, tuple(self.deck.names_of(chosen)))
        if due.open:
            self.owed = (due, *self.owed[1:])
            return
        self._move_cards(due.debtor, chosen)
        left, returned = give_back(self.deck, self.hands[due.debtor], due.given)
        back = self.hands[due.debtor] - left
        self._move_cards(due.debtor, -back)
        self._move_cards(due.giver, back)
        self.owed = self.owed[1:]
        self.exchanged += (Exchanged(due.giver, due.debtor, due.given, returned),)
        self._start_exchange_or_trump()

    def _start_exchange_or_trump(self) -> None:
        self.phase = "exchange" if self.owed else "trump"
        self.turn = self.owed[0].giver if self.owed else self.dealer

    def _play(self, seat: int, move: Move) -> None:
        self.trick += ((seat, move),)
        if len(self.trick) < PLAYERS or self.trump is None:
            self.turn = (seat + 1) % PLAYERS
            return
        won = winner(self.trick, self.trump)
        self.tricks = tuple([n + (s == won) for s, n in enumerate(self.tricks)])
        self.trick = ()
        self.turn = won
        if sum(self.tricks) == TRICKS:
            self._finish()

    def _finish(self) -> None:
        change = [max(0, won - n) for won, n in zip(self.tricks, self.targets, strict=True)]
        result = {
            "deal": self.deal,
            "scores": change,
            "tricks": list(self.tricks),
            "targets": list(self.targets),
        }
        self.results += (result,)
        self.scores = tuple(a + b for a, b in zip(self.scores, change, strict=True))
        target, deals = self.options["target"], self.options["deals"]
        reached = target is not None and max(self.scores) >= target
        if reached or (deals is not None and len(self.results) >= deals):
            self.phase = "over"
            self.turn = None
            return
        debts = pairings(self.targets, self.tricks)
        targets = (self.targets[-1], *self.targets[:-1])
        _deal(self, self.deal + 1, targets, debts)


class NinefivetwoView(_Ninefivetwo):
    """What one seat may know; `talon` and `discards` have names, `??` for a masked card."""

    __slots__ = ("counts", "discards", "hand", "seat", "talon")
    seat: int
    hand: int
    counts: tuple[int, ...]
    talon: tuple[str, ...]
    discards: tuple[str, ...]

    def mover_hand(self) -> int | None:
        """The hand of the seat to move; None if that is another seat."""
        return self.hand if self.turn == self.seat else None

    def cards_owed(self) -> int:
        """How many cards the seat to move has still to give in this pairing or to lay away."""
        return self.owed[0].open if self.owed else TALON - len(self.discards)

    def to_dict(self) -> dict[str, Any]:
        """The wire form, ready for JSON."""
        wire = self._shared()
        wire["talon"] = list(self.talon)
        wire["discards"] = list(self.discards)
        wire["seat"] = self.seat
        wire["hand"] = self.deck.names_of(self.hand)
        wire["counts"] = list(self.counts)
        return wire


def _deal(
    state: NinefivetwoState, deal: int, targets: tuple[int, ...], owed: tuple[Pairing, ...]
) -> None:
    """Deal from the 5-player on; an exchange comes first where somebody owes."""
    order = Randomness(state.seed, deal).shuffle(DECK.order)
    hands, talon = distribute(order, PLAYERS, targets.index(5), TRICKS * PLAYERS)
    state.deal = deal
    state.dealer = targets.index(9)
    state.targets = targets
    state.hands = tuple([DECK.hand_of_numbers(hand) for hand in hands])
    state.talon = DECK.hand_of_numbers(talon)
    state.trump = None
    state.discards = 0
    state.owed = owed
    state.exchanged = ()
    state.trick = ()
    state.tricks = (0,) * PLAYERS
    state.history = History()
    state._start_exchange_or_trump()


class Ninefivetwo(Game):
    """9-5-2."""

    name: ClassVar[str] = "ninefivetwo"
    title: ClassVar[str] = "9-5-2"
    native: ClassVar[str] = "9-5-2"
    min_players: ClassVar[int] = PLAYERS
    max_players: ClassVar[int] = PLAYERS
    options: ClassVar[tuple[Option, ...]] = (
        Option("target", 15, 1, 100_000, False, "The points that end the game after a deal."),
        Option("deals", 100, 1, 1000, False, "The game ends after so many deals at the latest."),
    )
    phases: ClassVar[tuple[str, ...]] = ("exchange", "trump", "discard", "play")
    categories: ClassVar[tuple[Category, ...]] = (
        Category("card", "play:Qh", "One card: follow suit if you can, otherwise any card."),
    )
    teams: ClassVar[bool] = False

    def deck(self, players: int) -> Deck:
        """One pack without jokers, 2 low."""
        return DECK

    def start(
        self, players: int | None, seed: str, options: Mapping[str, object]
    ) -> NinefivetwoState:
        """The first state of a game; OptionError if an argument is out of range."""
        players, filled = self.agreed(players, seed, options)
        state = NinefivetwoState()
        state.players = players
        state.options = filled
        state.deck = DECK
        state.seed = seed
        state.scores = (0,) * players
        state.results = ()
        _deal(state, 1, FIRST_TARGETS, ())
        return state

    def facts(self, data: JsonDict) -> list[Fact]:
        """Talon, discards, trumps, cards still to be given, and the trick."""
        facts = []
        if data["talon"]:
            facts.append(Fact("talon", cards=tuple(data["talon"])))
        if data["discards"]:
            facts.append(Fact("laid away", cards=tuple(data["discards"])))
        if data["trump"]:
            facts.append(Fact("trumps", SUIT_NAMES[data["trump"]]))
        for owed in data["owed"]:
            count, debtor = owed["count"], owed["debtor"]
            facts.append(Fact("to give", f"{count} to seat {debtor}", seat=owed["giver"]))
        for play in data["trick"]:
            card = play["move"].removeprefix("play:")
            facts.append(Fact("trick", cards=(card,), seat=play["seat"]))
        return facts

    def roles(self, data: JsonDict, seat: int) -> list[str]:
        """Tricks won, of the target."""
        return [f"{data['tricks'][seat]} of {data['targets'][seat]} tricks"]

    def state(self, data: JsonDict) -> NinefivetwoState:
        """The state that this wire form describes; InvalidState with all that is wrong."""
        hands: list[list[str]] = data["hands"]
        self._check(data, hands, [len(hand) for hand in hands])
        state = NinefivetwoState()
        state._load_shared(data)
        state.seed = data["seed"]
        state.hands = tuple([DECK.hand(hand) for hand in hands])
        state.talon = DECK.hand(data["talon"])
        state.discards = DECK.hand(data["discards"])
        return state

    def view(self, data: JsonDict) -> NinefivetwoView:
        """The view that this wire form describes; InvalidState with all that is wrong."""
        self._check(data, [data["hand"]], data["counts"])
        view = NinefivetwoView()
        view._load_shared(data)
        view.seat = data["seat"]
        view.hand = DECK.hand(data["hand"])
        view.counts = tuple(data["counts"])
        view.talon = tuple(DECK.in_order(data["talon"]))
        view.discards = tuple(DECK.in_order(data["discards"]))
        return view

    def _check(self, data: JsonDict, hands: list[list[str]], counts: list[int]) -> None:
        problems = problems_of(self, DECK, data, hands, counts)
        if problems:
            raise InvalidState(problems)


GAME = Ninefivetwo()
