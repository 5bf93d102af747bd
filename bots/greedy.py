"""A bot that does not plan ahead, and ignores teammates and points: ``python -m bots.greedy``."""

from collections.abc import Sequence

from bots import kit
from bots.cards import ORDER, VALUE, View, cards_of, count_ranks, rank_of


def move(view: View, moves: Sequence[str]) -> str:
    """Return the lowest play that beats the trick so far.

    If there is none, return the first move: a pass or, in 9-5-2, the lowest legal card. As a lead,
    return a play with as many cards as possible or, in 9-5-2, the highest card. Before the play,
    bid as in `_bid`, call the last card listed, make the longest suit trump, and give or discard
    the lowest card of a side suit.
    """
    if view["game"] == "ninefivetwo":
        return _nine_five_two(view, moves)
    if view["phase"] == "auction":
        return _bid(view, moves)
    if view["phase"] == "call":
        return moves[-1]
    if view["table"] is not None:
        # After `pass`, the list is in order of number of cards, then rank.
        return moves[1] if len(moves) > 1 else moves[0]
    most = len(cards_of(moves[-1]))
    return next(play for play in moves if len(cards_of(play)) == most)


def _bid(view: View, moves: Sequence[str]) -> str:
    """Return the highest bid that the number of high cards is worth, or else the first move."""
    top = sum(count_ranks(view["game"], view["hand"])[-4:])
    if view["game"] == "doudizhu" and view["players"] == 4:
        top //= 2  # two packs
    highest = min(3, (top - 2) // 2)
    affordable = [bid for bid in moves if bid != "pass" and int(bid[-1]) <= highest]
    return affordable[-1] if affordable else moves[0]


def _nine_five_two(view: View, moves: Sequence[str]) -> str:
    if view["phase"] == "trump":
        suits = [card[1] for card in view["hand"]]
        return max(moves, key=lambda choice: suits.count(choice[-1]))
    if view["phase"] in ("exchange", "discard"):
        side_suits = [text for text in moves if cards_of(text)[0][1] != view["trump"]]
        return (side_suits or moves)[0]
    if not view["trick"]:
        return moves[-1]
    led, value = cards_of(view["trick"][0]["move"])[0][1], VALUE["ninefivetwo"]

    def height(move: str) -> int:
        card = cards_of(move)[0]
        if card[1] == view["trump"]:
            return 100 + value[rank_of(card)]
        return value[rank_of(card)] if card[1] == led else -1

    highest = max(height(entry["move"]) for entry in view["trick"])
    return next((play for play in moves if height(play) > highest), moves[0])


if __name__ == "__main__":
    kit.run(move, name="greedy", version="1.0", games=list(ORDER))
