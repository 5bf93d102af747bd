"""9-5-2: a strategy, and playouts in which every seat follows it, using what it can know.

The strategy makes a long, strong suit trump, discards short suits, and wins tricks cheaply. Cards
are numbers, and sets of cards are integers, as in `games.deck`. Suits (`suit`, `led`, `trump`) are
indices into `SUITS`.
"""

from collections.abc import Sequence
from typing import Final

from bots.cards import SUITS, View, cards_of, unseen
from bots.thinking import determinization
from games.move import PLAY, Move
from games.ninefivetwo.state import NinefivetwoState
from games.ninefivetwo.trick import DECK, SUIT_CARDS, best_of, card_of

JACK, QUEEN, KING, ACE = 9, 10, 11, 12

HELD_BY_DEBTOR: Final = 16 / 36  # the debtor holds 16 of the 36 unseen cards
TRICK_VALUE: Final = 0.25  # in points: a trick may avoid an exchange, and nobody else gets it


def move(view: View, moves: Sequence[str]) -> str:
    """Return the move that this strategy ranks best."""
    return rank_moves(view, moves)[0][1]


def rank_moves(view: View, moves: Sequence[str]) -> list[tuple[float, str]]:
    """Return the moves as (score, move), best first.

    The scale depends on the phase. In the phase `play`, the best move is followed by the others in
    ascending order of `keep_value`.
    """
    hand = DECK.hand(view["hand"])
    phase = view["phase"]
    if phase == "trump":
        scored = [(suit_strength(hand, SUITS.index(text[-1])), text) for text in moves]
    elif phase == "exchange":
        scored = [(_exchange_gain(view, hand, cards_of(text)[0]), text) for text in moves]
    elif phase == "discard":
        scored = [(-_discard_cost(view, hand, cards_of(text)[0]), text) for text in moves]
    else:
        scored = _plays(view, moves, hand)
    # The sort is stable: equal scores stay in the order of the deck.
    return sorted(scored, key=lambda entry: -entry[0])


def _discard_cost(view: View, hand: int, name: str) -> float:
    card, trump = DECK.number[name], SUITS.index(view["trump"])
    value = keep_value(card, hand, trump)
    held = hand & SUIT_CARDS[card & 3]
    if card & 3 != trump and _highest(held) >> 2 < KING:  # discard the whole suit
        value += held.bit_count() - 4.0
    return value


def _exchange_gain(view: View, hand: int, card: str) -> float:
    given = DECK.number[card]
    skipped = float(sum(other[1] == card[1] for other in view["owed"][0]["given"]))
    higher = DECK.hand(unseen(view)) & _above(given)
    expected, missed = 0.0, 1.0
    while higher:
        top = _highest(higher)
        higher ^= 1 << top
        if skipped >= 1:
            skipped -= HELD_BY_DEBTOR
            continue
        expected += missed * HELD_BY_DEBTOR * _card_value(top >> 2)
        missed *= 1 - HELD_BY_DEBTOR
    length = (hand & SUIT_CARDS[given & 3]).bit_count()
    return expected + missed * _card_value(given >> 2) - _card_value(given >> 2) + 0.1 * length


def _card_value(rank: int) -> float:
    return {ACE: 10.0, KING: 7.0, QUEEN: 4.5, JACK: 2.5}.get(rank, 0.15 * rank)


def _plays(view: View, moves: Sequence[str], hand: int) -> list[tuple[float, str]]:
    trick = [DECK.number[cards_of(entry["move"])[0]] for entry in view["trick"]]
    trump = SUITS.index(view["trump"])
    hidden = DECK.hand(unseen(view))
    after = (view["seat"] + 1) % view["players"]
    void = sum(
        1 << SUITS.index(suit)
        for suit, seats in determinization.voids(view).items()
        if after in seats
    )
    chosen = choose_card(hand, trick, trump, hidden, void)
    cards = [DECK.number[cards_of(text)[0]] for text in moves]
    return [
        (1000.0 if card == chosen else -keep_value(card, hand, trump), text)
        for card, text in zip(cards, moves, strict=True)
    ]


def _lowest(held: int) -> int:
    return (held & -held).bit_length() - 1


def _highest(held: int) -> int:
    return held.bit_length() - 1


def _above(card: int) -> int:
    return SUIT_CARDS[card & 3] & ~((2 << card) - 1)


def choose_card(hand: int, trick: Sequence[int], trump: int, unseen: int, voids: int) -> int:
    """Return the card to play.

    `trick` holds the cards in the trick so far, oldest first. `unseen` is the set of cards that may
    be in other hands. Bit s of `voids` is set if the next seat is known to have no card of suit s.
    """
    if not trick:
        return _lead(hand, trump, unseen)
    led = trick[0] & 3
    following = hand & SUIT_CARDS[led]
    best = best_of(trick, trump)
    beating = _above(best) if best & 3 == trump else _above(best) | SUIT_CARDS[trump]
    winners = (following or hand & SUIT_CARDS[trump]) & beating
    if not winners and not following:
        return min(DECK.numbers(hand), key=lambda card: keep_value(card, hand, trump))
    if not winners:
        return _lowest(following)
    if len(trick) == 2 or not following:
        return _lowest(winners)
    return _play_second(winners, following, unseen, led, trump, voids)


def _play_second(
    winners: int, following: int, unseen: int, led: int, trump: int, voids: int
) -> int:
    """Return the card in `following` to play as the second card of a trick.

    `winners` holds the cards in `following` that beat the first card, at least one. If the highest
    of them is likely to win, return it, or a lower card that is as good. Otherwise return the
    lowest card. `led` is the suit led, as an index like `trump`. `unseen` and `voids` are as in
    `choose_card`.
    """
    ruffed = voids >> led & 1 and not voids >> trump & 1 and unseen & SUIT_CARDS[trump]
    if ruffed and led != trump:
        return _lowest(following)
    top = _highest(winners)
    over = (unseen & _above(top)).bit_count()
    if over == 0:
        # The lowest card that is as good as the top one: no unseen card is between them.
        for card in DECK.numbers(winners):
            if not unseen & _above(card):
                return card
    if over == 1 and top >> 2 >= JACK:
        return top
    return _lowest(following)


def _lead(hand: int, trump: int, unseen: int) -> int:
    trumps = hand & SUIT_CARDS[trump]
    their_trumps = (unseen & SUIT_CARDS[trump]).bit_count()
    if trumps and their_trumps and 2 * trumps.bit_count() >= their_trumps:
        top = _highest(trumps)
        if not unseen & _above(top):
            return top
    best, longest = -1, -1
    for suit in SUIT_CARDS:
        held = hand & suit & ~SUIT_CARDS[trump]
        out = (unseen & suit).bit_count()
        if held and not unseen & _above(_highest(held)) and (out >= 4 or not their_trumps):
            length = out if their_trumps else held.bit_count()
            if length > longest:
                best, longest = _highest(held), length
    if best >= 0:
        return best
    if trumps and trumps.bit_count() > their_trumps:
        return _highest(trumps)
    return _lead_low(hand, trump, unseen)


def _lead_low(hand: int, trump: int, unseen: int) -> int:
    """Return the lowest card of a short side suit or, if the hand has no trumps, of a long one.
    If the hand has only trumps, return the lowest."""
    trumps = hand & SUIT_CARDS[trump]
    side = hand ^ trumps
    if not side:
        return _lowest(hand)

    def score(held: int) -> int:
        over = (unseen & _above(_highest(held))).bit_count()
        at_risk = over in (1, 2) and _highest(held) >> 2 >= QUEEN
        return (-held.bit_count() if trumps else held.bit_count()) - 4 * at_risk

    return _lowest(max([side & suit for suit in SUIT_CARDS if side & suit], key=score))


def keep_value(card: int, hand: int, trump: int) -> float:
    """Return how valuable it is to keep a card of this hand. A trump is worth 100 or more."""
    suit, rank = card & 3, card >> 2
    if suit == trump:
        return 100.0 + rank
    held = hand & SUIT_CARDS[suit]
    length = held.bit_count()
    if rank == ACE:
        return 60.0
    if rank == KING:
        return 40.0 if length >= 2 else 12.0
    if rank == QUEEN and length >= 3:
        return 25.0
    top = _highest(held) >> 2
    guards = {KING: 2, QUEEN: 3}.get(top, 0)
    if guards and length <= guards:
        return 20.0 + rank
    return float(rank) + (0.3 * length if top < KING else 2.0)


def suit_strength(hand: int, suit: int) -> float:
    """Return how strong a hand's trumps are if this suit is trump."""
    total = 0.0
    for card in DECK.numbers(hand & SUIT_CARDS[suit]):
        total += 2.0 + {ACE: 1.2, KING: 0.9, QUEEN: 0.6, JACK: 0.3}.get(card >> 2, 0.0)
    return total


def finish(state: NinefivetwoState) -> NinefivetwoState:
    """Play the last deal of a game to its end, and return the final state. Every seat plays the
    cards that `choose_card` chooses. Before the play, moves are chosen more simply than by
    `move`."""
    while state.turn is not None and state.phase != "play":
        state = state.advance(_before_play(state, state.hands[state.turn]))
    trump = -1 if state.trump is None else state.trump
    hands = list(state.hands)
    # The cards in hands, and those discarded, which the other seats have not seen.
    unseen = state.discards
    for hand in hands:
        unseen |= hand
    voids = [0, 0, 0]
    trick = [card_of(move) for _, move in state.trick]
    while state.turn is not None:
        turn = state.turn
        hand = hands[turn]
        card = choose_card(hand, trick, trump, unseen & ~hand, voids[(turn + 1) % 3])
        state = state.advance(Move(PLAY, state.deck, 1 << card))
        hands[turn] = hand & ~(1 << card)
        unseen &= ~(1 << card)
        if trick and (card ^ trick[0]) & 3:
            voids[turn] |= 1 << (trick[0] & 3)
        if len(trick) == 2:
            trick = []
        else:
            trick.append(card)
    return state


def _before_play(state: NinefivetwoState, hand: int) -> str:
    if state.phase == "trump":
        suit = max(range(4), key=lambda suit: suit_strength(hand, suit))
        return "trump:" + "cdhs"[suit]
    texts: list[str] = state.moves().texts()
    if state.phase == "exchange":
        return texts[0]
    trump = -1 if state.trump is None else state.trump

    def cost(text: str) -> float:
        card = DECK.number[text[-2:]]
        length = (hand & SUIT_CARDS[card & 3]).bit_count()
        short = length - 4.0 if card & 3 != trump else 0.0
        return keep_value(card, hand, trump) + short

    return min(texts, key=cost)


def value(end: NinefivetwoState, seat: int) -> float:
    """Return the seat's points in the last deal, plus `TRICK_VALUE` for each trick it took."""
    result = end.results[-1]
    return float(result["scores"][seat]) + TRICK_VALUE * float(result["tricks"][seat])
