"""Bidding by the probability of winning as declarer, and inference from other players' bids."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from bots.cards import View, count_ranks, played_by
from bots.thinking.hand_plan import DASAN, DOUDIZHU_3, DOUDIZHU_4, ComboRules, Counts, worth

TALON_GAIN: Final = 0.06  # on average, in a declarer's probability of winning


@dataclass(frozen=True)
class WinModel:
    """A linear model of the declarer's probability of winning, fitted to self-play deals."""

    rules: ComboRules
    thresholds: tuple[float, ...]  # the lowest probabilities at which a hand bids 1, 2 and 3
    constant: float
    plan_weight: float  # of the hand's worth
    top_weights: tuple[float, ...]  # of a card of each top rank, highest first
    bomb_weight: float = 0.0  # of each bomb

    def probability(self, counts: Counts) -> float:
        """Return a rough probability that a seat with this hand wins as declarer.

        `counts` is the hand by rank, without the talon. The result may be below 0 or above 1.
        """
        tops = zip(self.top_weights, reversed(counts), strict=False)
        bombs = sum(count >= self.rules.bomb_size for count in counts)
        linear = self.constant + self.plan_weight * worth(self.rules, counts)
        return linear + sum(weight * count for weight, count in tops) + self.bomb_weight * bombs


_DOUDIZHU_BIDS: Final[tuple[float, ...]] = (0.42, 0.47, 0.53)
_DASAN_BIDS: Final[tuple[float, ...]] = (0.0, 0.47, 0.53)
# The model of the declarer's probability of winning, by game and number of players.
WIN_MODELS: Final[Mapping[tuple[str, int], WinModel]] = {
    # The top ranks are red joker, black joker, two and ace.
    ("doudizhu", 3): WinModel(
        DOUDIZHU_3, _DOUDIZHU_BIDS, 0.445, 0.0054, (0.24, 0.167, 0.077, 0.038), bomb_weight=0.12
    ),
    ("doudizhu", 4): WinModel(DOUDIZHU_4, _DOUDIZHU_BIDS, 0.78, 0.0057, (0.11, 0.03, 0.0, 0.0)),
    # The top ranks are 3, 2, ace and king.
    ("dasan", 3): WinModel(DASAN, _DASAN_BIDS, 0.46, 0.0079, (0.138, 0.076, 0.031, 0.016)),
    ("dasan", 4): WinModel(DASAN, _DASAN_BIDS, 0.73, 0.0082, (0.112, 0.053, 0.0, 0.0)),
}


def choose_bid(model: WinModel, counts: Counts, moves: Sequence[str]) -> str:
    """Return the highest bid that the hand is worth or, if that bid is illegal, the first move."""
    probability = model.probability(counts)
    bid = f"bid:{sum(probability >= threshold for threshold in model.thresholds)}"
    return bid if bid in moves else moves[0]


class Bidding:
    """Bounds on the other seats' probabilities of winning as declarer, inferred from their bids.

    Every seat is assumed to bid by the model's thresholds.
    """

    def __init__(self, view: View, model: WinModel) -> None:
        self._model = model
        self._game: str = view["game"]
        self._declarer: int | None = view["declarer"]
        self._bounds = _bounds(view, model.thresholds)
        self._played = {seat: played_by(view, seat) for seat in self._bounds}

    def mismatch(self, hands: Sequence[Sequence[str]]) -> float:
        """Return the total by which the probabilities of winning with `hands` are out of bounds.

        `hands` has, for each seat, the cards that it still holds. Cards already played are added.
        """
        total = 0.0
        for seat, (low, high) in self._bounds.items():
            counts = count_ranks(self._game, [*hands[seat], *self._played[seat]])
            seen = self._model.probability(tuple(counts))
            if seat == self._declarer:
                seen -= TALON_GAIN
            total += max(0.0, low - seen, seen - high)
        return total


def _bounds(view: View, thresholds: Sequence[float]) -> dict[int, tuple[float, float]]:
    """Return the bounds (low, high) that the bids of the other seats imply, keyed by seat. Seats
    whose bids imply no bounds are left out. `thresholds` is as in `WinModel`."""
    bounds_of: dict[int, tuple[float, float]] = {}
    highest = 0
    for entry in view["history"]:
        seat, move = entry["seat"], entry["move"]
        low, high = bounds_of.get(seat, (0.0, 1.0))
        if move.startswith("bid:"):
            # The opener of Dasan may not pass: its bid of 1 is forced, a higher one a choice.
            forced = view["game"] == "dasan" and highest == 0 and move == "bid:1"
            highest = int(move[4:])
            if not forced:
                low = thresholds[highest - 1]
        elif move == "pass" and highest < 3:
            high = thresholds[highest]
        else:
            break
        bounds_of[seat] = (low, high)
    bounds_of.pop(view["seat"], None)
    return {seat: bounds for seat, bounds in bounds_of.items() if bounds != (0.0, 1.0)}
