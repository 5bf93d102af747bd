"""The combinations of Dou Dizhu: how cards are read, what beats what, and what a hand can play.

A *kicker* is a single card or a pair that is attached to a triple or a quad. A *group* contains
the plays that differ only in suits and kickers.
"""

from dataclasses import dataclass
from functools import cache
from typing import Final

from games.climbing import not_a_combination, not_higher, same_kind, wrong_category
from games.deck import Deck
from games.game import Category
from games.move import PLAY, Move
from games.rank_masks import STRIDE, is_run, rank_masks, ranks_held, ranks_in, run_starts

DECKS: Final = {
    players: Deck("3456789TJQKA2", jokers=True, packs=players - 2) for players in (3, 4)
}
MOST_DOUBLINGS: Final = 100

CATEGORIES: Final = (
    Category("solo", "play:2s", "One card."),
    Category("pair", "play:3c3d", "Two cards of a rank."),
    Category("triple", "play:3c3d3h", "Three cards of a rank."),
    Category("triple+solo", "play:6c6d6h8s", "A triple and a card of another rank.", 3),
    Category("triple+pair", "play:6c6dQcQdQh", "A triple and a pair of another rank."),
    Category("run", "play:8c9dThJsQc", "Five or more consecutive ranks, 3 to A."),
    Category("pair-run", "play:TcTdJcJdQcQdKcKd", "Three or more consecutive pairs, 3 to A."),
    Category("triple-run", "play:4c4d4h5c5d5h", "Two or more consecutive triples, 3 to A."),
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
    Category("bomb", "play:5c5d5h5s", "Four cards of a rank; with two packs, four to eight."),
    Category("rocket", "play:BjRj", "All jokers: two, or four with two packs."),
)
NAMES: Final[tuple[str, ...]] = tuple([category.name for category in CATEGORIES])
SOLO: Final = 0
BOMB: Final = 12
ROCKET: Final = 13

SIZE: Final[tuple[int, ...]] = (1, 2, 3, 3, 3, 1, 2, 3, 3, 3, 4, 4, 0, 0)
"""By category: the number of cards of each rank without kickers (0 for bombs and the rocket)."""
RUNNING: Final[tuple[int, ...]] = (0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0)
"""By category: 1 for runs, otherwise 0."""
KICKER_SIZE: Final[tuple[int, ...]] = (0, 0, 0, 1, 2, 0, 0, 0, 1, 2, 1, 2, 0, 0)
"""By category: the number of cards of each kicker, or 0 without kickers."""
SHORTEST_RUN: Final[tuple[int, ...]] = (0, 5, 3, 2, 2)
"""By number of cards of each rank: the smallest number of ranks in a run."""

IN_RUNS: Final = 0xFFF  # 3 to A
BLACK: Final = 13
RED: Final = 14
JOKERS: Final = 0x6000

Group = int
"""A group of plays, packed into an integer. Groups sort in the API contract's order.

It holds the number of cards with kickers, the level, the category (an index into `NAMES`) and the
length. The level is the rank that decides, which in a run is the highest. The length is the number
of ranks of a run without its kickers, the number of cards of a bomb, and otherwise 1. Tuples would
make compiled games 10 % slower, and pure Python no faster.
"""


def _group_of(cards: int, level: int, category: int, length: int) -> Group:
    return cards << 16 | level << 12 | category << 8 | length


def level_of(group: Group) -> int:
    """Return the level of a group (see `Group`)."""
    return group >> 12 & 15


def category_of(group: Group) -> int:
    """Return the category of a group, an index into `NAMES`."""
    return group >> 8 & 15


def length_of(group: Group) -> int:
    """Return the length of a group (see `Group`)."""
    return group & 255


def _key(size: int, running: int, kicker_size: int) -> int:
    return 6 * size + 3 * running + kicker_size


_CATEGORY: Final[dict[int, int]] = {
    _key(SIZE[category], RUNNING[category], KICKER_SIZE[category]): category
    for category in range(BOMB)
}
_WITHOUT_TRIPLES: Final = tuple([category for category in range(BOMB) if SIZE[category] < 3])


@dataclass(frozen=True, eq=False)
class Combinations:
    """The combinations for one number of players.

    `categories` has the categories that exist, as indices into `NAMES`. Bombs and the rocket always
    exist, and are left out. If `pair_as_solos` is true, a quad may have a pair in place of two
    single cards as kickers. A bomb of at least `doubling_bomb` cards doubles the score.
    """

    deck: Deck
    categories: tuple[int, ...]
    pair_as_solos: bool
    doubling_bomb: int

    def identify(self, move: Move) -> Move:
        """Return a play with its category, rank and length.

        Raises:
            IllegalMove: if the cards form no combination, or if the play has a suffix.
        """
        reading = None if move.suffix or move.cards <= 0 else self.classify(move.cards)
        if reading is None:
            raise not_a_combination(move, "Dou Dizhu")
        return self._move(move.cards, *reading)

    def _move(self, cards: int, category: int, level: int, length: int) -> Move:
        return Move(PLAY, self.deck, cards, category, NAMES[category], level, length)

    def classify(self, cards: int) -> tuple[int, int, int] | None:
        """Return the category, level and length (see `Group`) of a play of these cards.

        Return None if the cards form no combination. `cards` must be a hand of at least one card.
        The ranks with the most cards decide, and all other cards are kickers.
        """
        number = self.deck.count(cards)
        if number == 1:
            return SOLO, (cards.bit_length() - 1) // (4 * self.deck.width), 1
        masks = rank_masks(self.deck, cards)
        singles, pairs = ranks_held(masks, 1), ranks_held(masks, 2)
        if number == 2 * self.deck.packs and ranks_held(masks, self.deck.packs) == JOKERS:
            return ROCKET, RED, 1
        size = 1
        while size < 4 and masks >> (STRIDE * size):
            size += 1
        core = ranks_held(masks, size)
        level = core.bit_length() - 1
        length = core.bit_count()
        if size == 4 and singles == core and length == 1:
            return BOMB, level, number
        if length > 1 and (length < SHORTEST_RUN[size] or core > IN_RUNS or not is_run(core)):
            return None
        kicker_size = 0
        rest = number - size * length
        if rest:
            kickers = length if size == 3 else 2
            others = singles ^ core
            if rest == kickers and pairs == core and others & JOKERS != JOKERS:
                kicker_size = 1
            elif rest == 2 * kickers and pairs == singles and others.bit_count() == kickers:
                kicker_size = 2
            elif rest == 2 and pairs == singles and size == 4 and self.pair_as_solos:
                kicker_size = 1
            else:
                return None
        category = _CATEGORY.get(_key(size, int(length > 1), kicker_size), -1)
        if category < 0 or (kicker_size and category not in self.categories):
            return None
        return category, level, length

    def check_beats(self, move: Move, table: Move) -> None:
        """Check that a play beats the play `table`. Both must be results of `identify`.

        Raises:
            IllegalMove: if the play does not beat `table`.
        """
        category = move.value
        if category >= BOMB:
            beats = _strength(category, move.level, move.length or 0) > _strength(
                table.value, table.level, table.length or 0
            )
        elif category != table.value or move.length != table.length:
            same = ["a higher bomb"] if table.value == BOMB else [same_kind(table), "a bomb"]
            answers = [] if table.value == ROCKET else [*same, "the rocket"]
            raise wrong_category(move.text, table, answers)
        else:
            beats = move.level > table.level
        if not beats:
            raise not_higher(move.text, table)

    def doubles(self, move: Move) -> bool:
        """Return whether a play doubles the score. The play must be a result of `identify`."""
        category = move.value
        return category == ROCKET or (category == BOMB and (move.length or 0) >= self.doubling_bomb)

    def leads(self, masks: int) -> list[Group]:
        """Return the groups that a hand with these rank masks can lead, in the contract's order.

        Some groups may have no plays, because it is not checked whether the hand has enough
        kickers.
        """
        groups: list[Group] = []
        for category in self.categories if masks >> (2 * STRIDE) else _WITHOUT_TRIPLES:
            ranks = ranks_held(masks, SIZE[category])
            if not ranks:
                continue
            if RUNNING[category]:
                _add_runs(groups, ranks, category)
            else:
                _add_groups(groups, ranks, _cards_in(category, 1), category, 1)
        self._add_bombs(groups, masks)
        groups.sort()
        return groups

    def follows(self, masks: int, table: Move) -> list[Group]:
        """Return the groups of `leads` that beat the play `table`, in the same order.

        `table` must be a result of `identify`.
        """
        category, level, length = table.value, table.level, table.length or 1
        groups: list[Group] = []
        self._add_bombs(groups, masks)
        if category < BOMB:
            ranks = ranks_held(masks, SIZE[category])
            if RUNNING[category]:
                ranks = run_starts(ranks & IN_RUNS, length) << (length - 1)
            ranks = ranks >> level + 1 << level + 1
            if ranks:
                _add_groups(groups, ranks, _cards_in(category, length), category, length)
        else:
            least = _strength(category, level, length)
            groups = [
                group
                for group in groups
                if _strength(category_of(group), level_of(group), length_of(group)) > least
            ]
        groups.sort()
        return groups

    def _add_bombs(self, groups: list[Group], masks: int) -> None:
        packs = self.deck.packs
        if masks >> (3 * STRIDE):
            for size in range(4, 4 * packs + 1):
                _add_groups(groups, ranks_held(masks, size), size, BOMB, size)
        if ranks_held(masks, packs) & JOKERS == JOKERS:
            groups.append(_group_of(2 * packs, RED, ROCKET, 1))

    def build(self, hand: int, group: Group, kickers: tuple[int, ...]) -> Move:
        """Return the play of a group with kickers of the ranks `kickers`, in the lowest suits held.

        `hand` must have the cards. The same rank twice stands for a pair in place of two single
        cards. If `kickers` is empty, the play has no kickers, even if its category needs them.
        """
        level, category, length = level_of(group), category_of(group), length_of(group)
        deck, size = self.deck, SIZE[category]
        if category == ROCKET:
            cards = deck.rank(hand, BLACK) | deck.rank(hand, RED)
        else:
            cards = deck.lowest(hand, level, length if category == BOMB else size)
        if RUNNING[category]:
            for rank in range(level - length + 1, level):
                cards += deck.lowest(hand, rank, size)
        if len(kickers) == 2 and kickers[0] == kickers[1]:
            cards += deck.lowest(hand, kickers[0], 2)
        else:
            for rank in kickers:
                cards += deck.lowest(hand, rank, KICKER_SIZE[category])
        return self._move(cards, category, level, length)


def _strength(category: int, level: int, length: int) -> int:
    return category << 16 | length << 8 | level if category >= BOMB else 0


@cache
def combinations(players: int, pair_as_solos: bool) -> Combinations:
    """Return the combinations for three or four players.

    With four players, the only kickers are pairs attached to triples, and `pair_as_solos` is
    ignored.
    """
    if players == 3:
        return Combinations(DECKS[3], tuple(range(BOMB)), pair_as_solos, 4)
    categories = tuple([c for c in range(BOMB) if KICKER_SIZE[c] != 1 and SIZE[c] < 4])
    return Combinations(DECKS[4], categories, False, 6)


def _cards_in(category: int, length: int) -> int:
    """Return the number of cards in a play, kickers included. `category` must be below `BOMB`."""
    size = SIZE[category]
    return (size + KICKER_SIZE[category] * (2 if size == 4 else 1)) * length


def _add_groups(groups: list[Group], ranks: int, cards: int, category: int, length: int) -> None:
    base = _group_of(cards, 0, category, length)
    groups += [base | rank << 12 for rank in ranks_in(ranks)]


def _add_runs(groups: list[Group], ranks: int, category: int) -> None:
    ranks &= IN_RUNS
    length = SHORTEST_RUN[SIZE[category]]
    starts = run_starts(ranks, length)
    while starts:
        _add_groups(groups, starts << length - 1, _cards_in(category, length), category, length)
        starts &= ranks >> length
        length += 1
