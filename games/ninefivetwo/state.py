"""9-5-2. docs/rules/ninefivetwo.md has the rules."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Final, cast

from games.deck import HIDDEN, SUITS, Deck
from games.errors import IllegalMove, Reason
from games.game import Category, Fact, Game, JsonDict, LegalMoves, Option, Options, Phrase
from games.move import DISCARD, GIVE, PLAY, TRUMP, Move
from games.ninefivetwo.exchange import (
    EXCHANGED_FIELD,
    OWED_FIELD,
    ExchangePair,
    give_back,
    history_for,
    pairings,
)
from games.ninefivetwo.trick import (
    DECK,
    DISCARDS,
    GIVES,
    PLAYS,
    TRICK_FIELD,
    TRUMP_FIELD,
    TRUMPS,
    Trick,
    best_of,
    card_of,
    playable,
    suit_of,
)
from games.ninefivetwo.validation import TALON, TRICKS, check_position
from games.position import (
    STATE_FIELDS,
    VIEW_FIELDS,
    BasePosition,
    Field,
    hand_field,
    list_field,
    masked_field,
    not_held,
    wrong_phase,
)
from games.shuffle import Randomness

PLAYERS: Final = 3
SUIT_NAMES: Final = {"c": "clubs ♣", "d": "diamonds ♦", "h": "hearts ♥", "s": "spades ♠"}
FIRST_TARGETS: Final = (9, 5, 2)
_KINDS: Final = {"exchange": GIVE, "trump": TRUMP, "discard": DISCARD, "play": PLAY}


class NinefivetwoPosition(BasePosition):
    """The fields and rules that states and views share."""

    FIELDS: ClassVar[tuple[Field, ...]] = (
        *BasePosition.FIELDS,
        list_field("targets"),
        TRUMP_FIELD,
        OWED_FIELD,
        EXCHANGED_FIELD,
        TRICK_FIELD,
        list_field("tricks"),
    )
    targets: tuple[int, ...]
    trump: int | None
    owed: tuple[ExchangePair, ...]
    exchanged: tuple[ExchangePair, ...]
    trick: Trick
    tricks: tuple[int, ...]

    def validate(self, move: Move, hand: int) -> Move:
        """Check a move, and return it (see `BasePosition.validate`)."""
        kind = _KINDS[self.phase]
        if move.kind != kind:
            raise wrong_phase(move, self.phase, kind)
        if kind == TRUMP:
            return move
        if move.cards < 0 or hand & move.cards != move.cards:
            raise not_held()
        number = move.cards.bit_count()
        if kind != PLAY:
            owed = self.cards_owed(hand.bit_count())
            if number not in (1, owed):
                raise IllegalMove(
                    Reason.WRONG_NUMBER,
                    f"{kind} takes one card, or all {owed} that are still owed, not {number}.",
                )
            return move
        if number != 1:
            raise IllegalMove(Reason.WRONG_NUMBER, f"A play is one card, not {number}.")
        if move.suffix:
            raise IllegalMove(
                Reason.NOT_A_COMBINATION, f"A play of 9-5-2 has no suffix {move.suffix}."
            )
        if not move.cards & playable(hand, self.trick):
            suit = SUITS[suit_of(self.trick[0][1])]
            raise IllegalMove(
                Reason.MUST_FOLLOW, f"Suit {suit} was led, and the hand has cards of it."
            )
        return PLAYS[card_of(move)]

    def cards_owed(self, held: int) -> int:
        """Return how many cards the seat to move owes (see `BasePosition.cards_owed`)."""
        if self.owed:
            return self.owed[0].open
        return held + sum(self.tricks) - TRICKS if self.phase == "discard" else 0

    def legal_moves(self, hand: int) -> LegalMoves:
        """Return the legal moves of the seat to move, in deck order.

        `hand` must be that seat's hand. In the phase `trump`, there is a move for each suit.
        `validate` also accepts a single move that gives or discards all owed cards.
        """
        if self.phase == "trump":
            return LegalMoves(TRUMPS)
        if self.phase == "play":
            moves = PLAYS
            hand = playable(hand, self.trick)
        else:
            moves = GIVES if self.phase == "exchange" else DISCARDS
        return LegalMoves([moves[card] for card in self.deck.numbers(hand)])

    def check_wire(self, problems: list[str], data: JsonDict) -> None:
        """Check a wire form (see `BasePosition.check_wire`). There is never a play to beat."""
        check_position(problems, data)

    def copy_shared(self, other: NinefivetwoPosition) -> None:
        """Copy from `other` the fields that a view takes unchanged, and the unmasked history."""
        self.copy_common(other)
        self.targets = other.targets
        self.trump = other.trump
        self.trick = other.trick
        self.tricks = other.tricks


class NinefivetwoState(NinefivetwoPosition):
    """A complete position of 9-5-2. `talon`, `discards` and the items of `hands` are hands."""

    FIELDS: ClassVar[tuple[Field, ...]] = (
        *NinefivetwoPosition.FIELDS,
        *STATE_FIELDS,
        hand_field("talon"),
        hand_field("discards"),
    )
    talon: int
    discards: int

    def view(self, seat: int | None) -> NinefivetwoView:
        """Return the view of a seat, or of the public if `seat` is None.

        The view hides other hands, the talon, another seat's discards, and the cards of exchanges
        between other seats.

        Raises:
            ValueError: if there is no such seat.
        """
        view = NinefivetwoView()
        view.copy_shared(self)
        view.history = history_for(self.history, seat, self.exchanged, self.owed)
        view.owed = tuple([pairing.seen_by(seat) for pairing in self.owed])
        view.exchanged = tuple([pairing.seen_by(seat) for pairing in self.exchanged])
        view.show_hand(self.hands, seat)
        view.talon = (HIDDEN,) * self.talon.bit_count()
        discards = tuple(self.deck.names_of(self.discards))
        view.discards = discards if seat == self.dealer else (HIDDEN,) * len(discards)
        return view

    def deal_cards(
        self,
        deal: int = 1,
        targets: tuple[int, ...] = FIRST_TARGETS,
        owed: tuple[ExchangePair, ...] = (),
    ) -> None:
        """Deal the cards of deal number `deal`, and set all fields that `Game.start` does not set.

        `targets` has the target of each seat, and `owed` the open pairings, in the order of
        exchange. The seat with the target 9 is the dealer, and the first card goes to the seat with
        the target 5. The first turn goes to the first giver in `owed`, or to the dealer.
        """
        order = Randomness(self.seed, deal).shuffle(DECK.order)
        start, drawn = targets.index(5), TRICKS * PLAYERS
        self.talon = self.start_deal(deal, targets.index(9), order, start, drawn)
        self.targets = targets
        self.trump = None
        self.discards = 0
        self.owed = owed
        self.exchanged = ()
        self.trick = ()
        self.tricks = (0,) * PLAYERS
        self._start_exchange_or_trump()

    def advance(self, move: str | Move) -> NinefivetwoState:
        """Return the state after a move. If the move ends a deal but not the game, deal the next.

        Raises:
            IllegalMove: if the move is not legal (see `check`).
        """
        legal = self.check(move)
        after = NinefivetwoState()
        after.copy_shared(self)
        after.owed = self.owed
        after.exchanged = self.exchanged
        after.seed = self.seed
        after.hands = self.hands
        after.talon = self.talon
        after.discards = self.discards
        after._apply(legal)
        return after

    def _apply(self, move: Move) -> None:
        turn = cast("int", self.turn)
        self.history = self.history.then(turn, move)
        self.add_to_hand(turn, -move.cards)
        if move.kind == PLAY:
            self._play(turn, move)
        elif move.kind == GIVE:
            self._give(move)
        elif move.kind == TRUMP:
            self.trump = move.value
            self.add_to_hand(turn, self.talon)
            self.talon = 0
            self.phase = "discard"
            self._start_play_after_discards()
        else:
            self.discards |= move.cards
            self._start_play_after_discards()

    def _start_play_after_discards(self) -> None:
        if self.cards_owed(self.hands[self.dealer].bit_count()) <= 0:
            self.phase = "play"
            self.turn = self.targets.index(5)

    def _give(self, move: Move) -> None:
        due = self.owed[0]
        chosen = self.deck.hand(due.given) | move.cards
        given = tuple(self.deck.names_of(chosen))
        due = ExchangePair(due.giver, due.debtor, due.count, given)
        if due.open:
            self.owed = (due, *self.owed[1:])
            return
        with_given = self.hands[due.debtor] + chosen
        left, returned = give_back(self.deck, with_given, given)
        self.add_to_hand(due.debtor, left - self.hands[due.debtor])
        self.add_to_hand(due.giver, with_given - left)
        self.owed = self.owed[1:]
        self.exchanged += (ExchangePair(due.giver, due.debtor, due.count, given, returned),)
        self._start_exchange_or_trump()

    def _start_exchange_or_trump(self) -> None:
        self.phase = "exchange" if self.owed else "trump"
        self.turn = self.owed[0].giver if self.owed else self.dealer

    def _play(self, seat: int, move: Move) -> None:
        self.trick += ((seat, move),)
        if len(self.trick) < PLAYERS or self.trump is None:
            self.turn = (seat + 1) % PLAYERS
            return
        cards = [card_of(played) for _, played in self.trick]
        won = self.trick[cards.index(best_of(cards, self.trump))][0]
        self.tricks = tuple([n + (s == won) for s, n in enumerate(self.tricks)])
        self.trick = ()
        self.turn = won
        if sum(self.tricks) == TRICKS:
            self._finish()

    def _finish(self) -> None:
        change = [max(0, won - n) for won, n in zip(self.tricks, self.targets, strict=True)]
        if self.end_deal(change, {"tricks": list(self.tricks), "targets": list(self.targets)}):
            debts = pairings(self.targets, self.tricks)
            targets = (self.targets[-1], *self.targets[:-1])
            self.deal_cards(self.deal + 1, targets, debts)


class NinefivetwoView(NinefivetwoPosition):
    """A position as one seat, or the public, may know it, with `??` for hidden cards."""

    FIELDS: ClassVar[tuple[Field, ...]] = (
        *NinefivetwoPosition.FIELDS,
        masked_field("talon"),
        masked_field("discards"),
        *VIEW_FIELDS,
    )
    talon: tuple[str, ...]
    discards: tuple[str, ...]


class Ninefivetwo(Game):
    """The game 9-5-2."""

    name: ClassVar[str] = "ninefivetwo"
    title: ClassVar[str] = "9-5-2"
    native: ClassVar[str] = "9-5-2"
    min_players: ClassVar[int] = PLAYERS
    max_players: ClassVar[int] = PLAYERS
    options: ClassVar[tuple[Option, ...]] = (
        Option("target", "Reaching this score ends the game after the deal.", 15, 1, 100_000),
        Option("deals", "The most deals in a game.", 100, 1, 1000),
    )
    phases: ClassVar[tuple[str, ...]] = ("exchange", "trump", "discard", "play")
    categories: ClassVar[tuple[Category, ...]] = (
        Category("card", "play:Qh", "One card, of the suit led if possible."),
    )
    teams: ClassVar[bool] = False
    positions: ClassVar = (NinefivetwoState, NinefivetwoView)
    clockwise: ClassVar[bool] = True
    keeps_trick: ClassVar[bool] = True

    def deck(self, players: int) -> Deck:
        """Return one pack without jokers, in which 2 is low."""
        return DECK

    def groups(self, cards: Sequence[str]) -> list[list[str]]:
        """Return the cards of each suit held, in the order clubs, diamonds, spades, hearts."""
        suits = [[card for card in cards if card[1] == suit] for suit in "cdsh"]
        return [suit for suit in suits if suit]

    def most_moves(self, players: int) -> int:
        """Return the size of a hand with the talon. The dealer may discard any of these cards."""
        return TRICKS + TALON

    def max_difference(self, players: int, options: Options) -> int:
        """Return the points for winning all 16 tricks with a target of 2. The others then get 0."""
        return TRICKS - min(FIRST_TARGETS)

    def facts(self, data: JsonDict) -> list[Fact]:
        """Return facts about the talon, discards, trumps, exchanges and trick, if they exist."""
        talon, discards = tuple(data["talon"]), tuple(data["discards"])
        facts = [Fact("talon", cards=talon)] if talon else []
        if discards:
            facts.append(Fact("discarded", cards=discards))
        if data["trump"]:
            facts.append(Fact("trumps", SUIT_NAMES[data["trump"]]))
        for owed in data["owed"]:
            count, debtor = owed["count"], owed["debtor"]
            due = Phrase("%(count)d to seat %(seat)d", {"count": count, "seat": debtor})
            facts.append(Fact("to give", due, seat=owed["giver"]))
        for done in data["exchanged"]:
            values = {"seat": done["debtor"], "cards": " ".join(done["returned"])}
            returned = Phrase("to seat %(seat)d, for %(cards)s", values)
            facts.append(Fact("given", returned, tuple(done["given"]), done["giver"]))
        for play in data["trick"]:
            card = play["move"].removeprefix("play:")
            facts.append(Fact("trick", cards=(card,), seat=play["seat"], on_table=True))
        return facts

    def roles(self, data: JsonDict, seat: int) -> list[Phrase]:
        """Return one phrase with the number of tricks that the seat has won, and its target."""
        tricks, target = data["tricks"][seat], data["targets"][seat]
        return [Phrase("%(tricks)d of %(target)d tricks", {"tricks": tricks, "target": target})]


GAME: Final[Ninefivetwo] = Ninefivetwo()
