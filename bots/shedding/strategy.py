"""Strategy for Dou Dizhu and Dasan, which ignores suits."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import games
from bots.cards import VALUE, View, cards_of, count_ranks, rank_of
from bots.cards import unseen as unseen_cards
from bots.thinking.bidding import WIN_MODELS, choose_bid
from bots.thinking.hand_plan import Combo, ComboRules, Counts, combo_of, plan, without, worth
from games.move import PASS


def move(view: View, moves: Sequence[str]) -> str:
    """Return the move that this strategy chooses."""
    if view["phase"] == "play":
        return rank_moves(view, moves)[0][1]
    counts = tuple(count_ranks(view["game"], view["hand"]))
    if view["phase"] == "call":
        return choose_call(moves, counts)
    return choose_bid(WIN_MODELS[view["game"], view["players"]], counts, moves)


def choose_call(moves: Sequence[str], counts: Counts) -> str:
    """Return the first call of the rank that is most common in the hand.

    The partner then has few other cards of that rank, and soon reveals itself by playing the card.
    """
    return max(moves, key=lambda text: counts[VALUE["dasan"][rank_of(cards_of(text)[0])]])


@dataclass(slots=True, eq=False)
class Turn:
    """What the seat to move knows."""

    rules: ComboRules
    seat: int
    counts: Counts  # the seat's hand by rank
    unseen: list[int]  # by rank, the cards in other hands or face down
    cards_left: list[int]  # the number of cards in each hand
    opponents: frozenset[int]  # the seats to play against, at least one
    table: Combo | None  # the play to beat
    owner: int  # the seat that made the play to beat, if there is one
    fewest_cards: int = field(init=False)  # in the opponents' smallest hand
    most_cards: int = field(init=False)  # in the opponents' largest hand

    def __post_init__(self) -> None:
        held = [self.cards_left[opponent] for opponent in self.opponents]
        self.fewest_cards = min(held)
        self.most_cards = max(held)

    @property
    def next_seat(self) -> int:
        """The seat that moves after this one."""
        return (self.seat + 1) % len(self.cards_left)

    @property
    def owner_cards(self) -> int:
        """The number of cards in the hand of `owner`. Use it only if there is a play to beat."""
        return self.cards_left[self.owner]

    def may_be_beaten(self, combo: Combo) -> bool:
        """Return whether an opponent may hold a higher play of the same kind.

        Kickers are ignored, and so are plays of other kinds, such as a bomb over a pair.
        """
        size, unseen, rules = len(combo.ranks), self.unseen, self.rules
        if combo.kind == "rocket" or size > self.most_cards:
            return False
        if combo.kind == "bomb":
            return any(
                count > size or (count == size and rank > combo.top)
                for rank, count in enumerate(unseen)
                if count >= rules.bomb_size
            )
        multiple = multiple_of(combo)
        if combo.length == 1:
            return max(unseen[combo.top + 1 :], default=0) >= multiple
        length = 0
        for rank in range(combo.top - combo.length + 2, rules.run_end):
            length = length + 1 if unseen[rank] >= multiple else 0
            if length >= combo.length:
                return True
        return False


def opponents_of(
    seat: int, players: int, declarer: int | None, partner: int | None = None
) -> frozenset[int]:
    """Return the seats that `seat` plays against, or no seats if `declarer` is None.

    `partner` is the declarer's partner, or None if `seat` knows of no partner. Without a partner,
    the declarer plays against all other seats, and each of them only against the declarer.
    """
    team = (declarer, partner)
    return frozenset(other for other in range(players) if (other in team) != (seat in team))


def is_bomb(combo: Combo) -> bool:
    """Return whether a play beats plays of other kinds."""
    return combo.kind in ("bomb", "rocket")


def multiple_of(combo: Combo) -> int:
    """Return how many cards of each rank a play has without kickers, or 1 for a bomb or rocket."""
    if combo.kind.startswith("quad"):
        return 4
    if combo.kind.startswith("triple"):
        return 3
    return 2 if combo.kind.startswith("pair") else 1


def rank_moves(view: View, moves: Sequence[str]) -> list[tuple[float, str]]:
    """Rank the moves of a view in the phase `play`. Return them as (score, move), best first. A
    pass scores 0."""
    seat, players = view["seat"], view["players"]
    rules = WIN_MODELS[view["game"], players].rules
    position = games.get(rules.game).view(view)
    table = position.table
    turn = Turn(
        rules=rules,
        seat=seat,
        counts=tuple(count_ranks(rules.game, view["hand"])),
        unseen=count_ranks(rules.game, unseen_cards(view)),
        cards_left=list(view["counts"]),
        opponents=opponents_of(seat, players, view["declarer"], view.get("partner")),
        table=None if table is None else combo_of(table.move),
        owner=seat if table is None else table.seat,
    )
    leads = turn.table is None
    score = _score_lead if leads else _score_follow
    ranked = [] if leads else [(0.0, "pass")]
    for move in moves:
        if move == PASS:
            continue
        combo = combo_of(position.check(move))
        left = without(turn.counts, combo.ranks)
        winning = _score_win(turn, combo, left)
        ranked.append((score(turn, combo, left) if winning is None else winning, move))
    # The sort is stable: equal scores stay in the order of the list, which is low to high.
    return sorted(ranked, key=lambda scored: -scored[0])


def _score_win(turn: Turn, combo: Combo, left: Counts) -> float | None:
    """Return a score above all others for a play that ends the deal or almost certainly wins it.

    `left` is the hand after the play. Return None for a play that may be beaten, or if the plan of
    `left` has at least two plays that may be beaten.
    """
    if not any(left):
        return 1000.0
    if turn.may_be_beaten(combo):
        return None
    combos = plan(turn.rules, left).combos
    if sum(turn.may_be_beaten(other) for other in combos) > 1:
        return None
    return 500.0 - 20 * len(combos) - 10 * is_bomb(combo)


def _score_lead(turn: Turn, combo: Combo, left: Counts) -> float:
    size = len(combo.ranks)
    score = worth(turn.rules, left) + 0.5 * size
    if is_bomb(combo):
        score -= 6
    fewest = turn.fewest_cards
    if fewest <= 2 and turn.may_be_beaten(combo):
        # An opponent may go out on this play: lead a play that it cannot follow, or a high one.
        if size == fewest:
            score -= 30 - 3 * combo.top
        elif fewest == 2 and size == 1:
            score -= 8 - combo.top
    if turn.next_seat not in turn.opponents and turn.cards_left[turn.next_seat] == size <= 2:
        score += 16 - combo.top
    return score


def _score_follow(turn: Turn, combo: Combo, left: Counts) -> float:
    gain = worth(turn.rules, left) - worth(turn.rules, turn.counts)
    if turn.owner not in turn.opponents:
        return _score_over_teammate(turn, combo, gain)
    score = gain + 1.5
    if is_bomb(combo):
        # A bomb also doubles the stake: play it from strength, or to stop an opponent.
        turns = len(plan(turn.rules, left).combos)
        score += 4.0 - 2.0 * turns if turns > 2 else 4.0
    if turn.owner_cards <= 2:
        score += 25
    elif turn.owner_cards <= 5:
        score += 8
    fewest = turn.fewest_cards
    if len(combo.ranks) == fewest <= 2 and turn.next_seat in turn.opponents:
        score += 1.5 * combo.top
    if not turn.may_be_beaten(combo):
        score += 1.0
    return score


def _score_over_teammate(turn: Turn, combo: Combo, gain: float) -> float:
    if turn.table is None or is_bomb(combo):
        return -50.0
    if turn.owner_cards <= 3 or turn.next_seat not in turn.opponents:
        return -20.0
    highest = turn.rules.rank_count - (4 if turn.rules.jokers else 3)
    too_high = turn.table.top > turn.rules.average_rank + 1 or combo.top > highest
    return -20.0 if too_high or len(combo.ranks) > 2 else gain - 6.0
