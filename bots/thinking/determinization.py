"""Determinizations: complete states that a view allows, for the search to play out.

The unseen cards are dealt at random, in keeping with all that the view makes certain.
"""

import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from bots.cards import SUITS, VALUE, View, cards_of, played_by, unseen

Location = int  # a seat, or one of these
TALON: Final[Location] = -1
DISCARDS: Final[Location] = -2
MISSING: Final[Location] = -3  # the cards that a set-up position leaves out

Locations = frozenset[Location]
Limits = dict[str, Locations]  # the possible locations of each card whose location is limited

_RANDOM_DEALS: Final = 30


@dataclass(frozen=True)
class Constraints:
    """Where the unseen cards of a view may be."""

    capacity: Mapping[Location, int]  # the number of cards at each location
    limited: Sequence[tuple[str, Locations]]  # (card, locations), fewest locations first
    free: Sequence[str]  # the cards that may be at every location


def infer_constraints(view: View) -> Constraints:
    """Return the constraints of a view. A card whose constraints conflict may be anywhere."""
    hidden = unseen(view)
    capacity = _capacity(view, len(hidden))
    limits = _LIMITS[view["game"]](view, set(hidden))
    everywhere = frozenset(location for location, count in capacity.items() if count)
    limited: Limits = {}
    free: list[str] = []
    for card in hidden:
        locations = limits.get(card, everywhere) & everywhere
        # Only one card with a name is limited. Its copy in the second pack may be anywhere.
        if not locations or locations == everywhere or card in limited:
            free.append(card)
        else:
            limited[card] = locations
    return Constraints(capacity, sorted(limited.items(), key=lambda entry: len(entry[1])), free)


def _capacity(view: View, hidden: int) -> dict[Location, int]:
    capacity = {
        seat: count for seat, count in enumerate(view["counts"]) if seat != view["seat"] and count
    }
    if view["phase"] in ("auction", "exchange", "trump"):
        capacity[TALON] = len(view["talon"])
    if view["game"] == "ninefivetwo":
        capacity[DISCARDS] = view["discards"].count("??")
    capacity[MISSING] = max(0, hidden - sum(capacity.values()))
    return capacity


def sample_state(view: View, constraints: Constraints, rng: random.Random) -> dict[str, Any]:
    """Return a random state in wire form, in which the view's seat sees the same cards.

    `constraints` must be those of the view. The current deal becomes the last of the game, without
    redeals. Its history is kept only with the option `spring`. In a set-up position, the state may
    be invalid.
    """
    piles = _deal(constraints, rng)
    hands = [piles.get(seat, []) for seat in range(view["players"])]
    hands[view["seat"]] = list(view["hand"])
    state = {key: value for key, value in view.items() if key not in ("seat", "hand", "counts")}
    state["seed"] = "determinization"
    state["hands"] = hands
    state["options"] = {**view["options"], "deals": len(view["results"]) + 1}
    if "redeals" in state["options"]:
        state["options"]["redeals"] = 0
    if not view["options"].get("spring"):
        state["history"] = []
    if "talon" in state:
        state["talon"] = piles.get(TALON, [])
    if view["game"] == "dasan" and view["called"] is not None:
        holders = [seat for seat, hand in enumerate(hands) if view["called"] in hand]
        state["partner"] = holders[0] if holders else view["partner"]
    if view["game"] == "ninefivetwo":
        state["exchanged"] = []
        known = [card for card in view["discards"] if card != "??"]
        state["discards"] = known + piles.get(DISCARDS, [])
    return state


def _deal(constraints: Constraints, rng: random.Random) -> dict[Location, list[str]]:
    for _ in range(_RANDOM_DEALS):
        piles = _deal_at_random(constraints, rng)
        if piles is not None:
            return piles
    # 41,000 samples of whole games needed no more tries; in set-up positions limits may conflict.
    cards = [*(card for card, _ in constraints.limited), *constraints.free]
    return _deal_at_random(Constraints(constraints.capacity, (), cards), rng) or {}


def _deal_at_random(
    constraints: Constraints, rng: random.Random
) -> dict[Location, list[str]] | None:
    """Return the cards at each location in a random deal, or None if the deal fails because a
    limited card finds no room at any of its locations. Another attempt may succeed."""
    left = dict(constraints.capacity)
    piles: dict[Location, list[str]] = defaultdict(list)
    for card, locations in constraints.limited:
        order = sorted(locations)
        weights = [left[location] for location in order]
        if not any(weights):
            return None
        location = rng.choices(order, weights)[0]
        piles[location].append(card)
        left[location] -= 1
    free = list(constraints.free)
    rng.shuffle(free)
    for location, count in left.items():
        if count:
            piles[location] += free[:count]
            del free[:count]
    return piles


def _open_talon(view: View, hidden: set[str]) -> Limits:
    declarer = view["declarer"]
    if declarer is None or declarer == view["seat"]:
        return {}
    gone = played_by(view, declarer)
    talon = [card for card in view["talon"] if card in hidden and card not in gone]
    return dict.fromkeys(talon, frozenset({declarer}))


def _doudizhu(view: View, hidden: set[str]) -> Limits:
    limits: Limits = {}
    first, exposed = view["first"], view["exposed"]
    if exposed in hidden and exposed not in played_by(view, first) and first != view["seat"]:
        limits[exposed] = frozenset({first})
    return limits | _open_talon(view, hidden)


def _dasan(view: View, hidden: set[str]) -> Limits:
    limits: Limits = {}
    declarer, first, called = view["declarer"], view["first"], view["called"]
    # `first` was dealt the lowest heart of all hands: any lower one was in the talon.
    own_cards = [*view["hand"], *played_by(view, view["seat"])]
    for heart in [rank + "h" for rank in VALUE["dasan"]]:
        if first != view["seat"]:
            if heart in hidden:
                limits[heart] = frozenset({first})
            break
        if heart in own_cards:
            break
        if heart in hidden:
            limits[heart] = frozenset({TALON} if declarer is None else {declarer})
    limits |= _open_talon(view, hidden)
    if called in hidden and view["partner"] != view["seat"]:
        limits[called] = frozenset(range(view["players"])) - {view["seat"], declarer}
    return limits


def _zhengfen(view: View, hidden: set[str]) -> Limits:
    if view["deal"] == 1 and "3h" in hidden:
        return {"3h": frozenset({view["first"]})}
    return {}


def _ninefivetwo(view: View, hidden: set[str]) -> Limits:
    limits: Limits = {}
    others = frozenset(range(view["players"])) - {view["seat"]}
    face_down = frozenset({TALON, DISCARDS, MISSING})
    for suit, void in voids(view).items():
        if void:
            locations = (others - void) | face_down
            limits.update({card: locations for card in hidden if card[1] == suit})
    # Only the cards of the last pairing are sure to be where it moved them.
    for pairing in view["exchanged"][-1:] if not view["owed"] else []:
        for cards, holder in (
            (pairing["given"], pairing["debtor"]),
            (pairing["returned"], pairing["giver"]),
        ):
            # The dealer, whose target is 9, may have discarded the card.
            locations = frozenset({holder, DISCARDS} if holder == view["dealer"] else {holder})
            limits.update({card: locations for card in cards if card in hidden})
    return limits


def voids(view: View) -> dict[str, set[int]]:
    """Return, for each suit, the seats that have not followed it in this deal of 9-5-2."""
    plays = [
        (entry["seat"], cards_of(entry["move"])[0])
        for entry in view["history"]
        if entry["move"].startswith("play:")
    ]
    void_seats: dict[str, set[int]] = {suit: set() for suit in SUITS}
    for start in range((len(plays) - len(view["trick"])) % 3, len(plays), 3):
        led = plays[start][1][1]
        void_seats[led] |= {seat for seat, card in plays[start + 1 : start + 3] if card[1] != led}
    return void_seats


_LIMITS: Final = {
    "doudizhu": _doudizhu,
    "dasan": _dasan,
    "zhengfen": _zhengfen,
    "ninefivetwo": _ninefivetwo,
}
