"""The answers about a position, which plain and sealed operations share."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from flask import Response

import games
from games import IllegalMove, LegalMoves, Move, Position, State, View
from service.json_codec import encode
from service.problems import Problem, invalid_state
from service.schemas.fields import (
    MAX_LISTED_MOVES,
    MAX_MOVES,
    MAX_RESULTS,
    MAX_SAFE_INTEGER,
    MAX_SCORE,
)
from serving.work import need_long_work

LONG_HAND: Final = 20
"""The most cards in a hand whose moves are quick to count; a larger one may take milliseconds."""
LONG_PAIRS: Final = 14
"""The most pairs of equal rank in a hand whose moves are quick to count. One of twenty dealt hands
of 18 cards has more."""
LONG_LIST: Final = 300
"""The longest list of moves that is quick to write."""
DETAILED_SLOTS: Final = 3
"""The slots that a list with details needs; the longest has 4.6 MB."""
LONG_GAME: Final = 200
"""The most moves that are quick to make in one request; a thousand take 4 ms."""


def json_response(body: dict[str, Any]) -> Response:
    """A response with a JSON body and status 200 that caches must not store."""
    # The answer may have hidden cards.
    headers = [("Content-Type", "application/json"), ("Cache-Control", "no-store")]
    return Response(encode(body), 200, headers)


def rules_path(game: games.Game) -> str:
    """The path of the rules of a game, in Markdown."""
    return f"/docs/rules/{game.name}.md"


def moves_answer(position: Position, *, details: bool) -> dict[str, Any]:
    """The seat to move and its legal moves. With `details`, also the category and cards of each
    move.

    Raises:
        Problem: if there are too many moves to list.
    """
    listed = _listed(position, DETAILED_SLOTS if details else 1)
    answer: dict[str, Any] = {"seat": position.turn, "moves": listed.texts()}
    if details:
        answer["details"] = [_detail(move) for move in listed]
    return answer


def _detail(move: Move) -> dict[str, Any]:
    cards = move.deck.names_of(move.cards) if move.cards else None
    return {
        "category": move.category,
        "rank": move.rank,
        "length": move.length,
        "cards": cards,
    }


def described(view: View, *, list_moves: bool) -> dict[str, Any]:
    """A view in plain English.

    Raises:
        Problem: if there are too many legal moves to list.
    """
    text = games.describe(view, _listed(view) if list_moves else None)
    return {"text": text, "rules": rules_path(view.game)}


def verdict(position: Position, text: str) -> dict[str, Any]:
    """The answer of `/v1/validate`: whether a move is legal, with its details or the reason why
    not."""
    try:
        move = position.check(text)
    except IllegalMove as error:
        return {"legal": False, "reason": error.reason, "detail": error.detail}
    answer: dict[str, Any] = {"legal": True, "move": move.text}
    if move.category is not None:
        answer |= {"category": move.category, "rank": move.rank, "length": move.length}
    return answer


def advanced(state: State, moves: Sequence[str], seat: int | None = None) -> State:
    """The state after some moves. If `seat` is given, all of them must be moves of this seat.

    Raises:
        Problem: if a move is illegal, or the state after them exceeds a limit.
    """
    if len(moves) > LONG_GAME:
        need_long_work()
    for index, move in enumerate(moves):
        try:
            if seat is not None:  # what is wrong must follow from what this seat may know
                state.view(seat).check(move)
            state = state.advance(move)
        except IllegalMove as error:
            raise Problem("illegal-move", error.detail, reason=error.reason, index=index) from None
    if (
        state.deal > MAX_SAFE_INTEGER
        or max(map(abs, state.scores)) > MAX_SCORE
        or len(state.history) > MAX_MOVES
        or len(state.results) > MAX_RESULTS
    ):
        exceeded = "`deal`, `scores`, `history` or `results` would exceed their limits"
        raise invalid_state([f"After these moves {exceeded}."])
    return state


def _listed(position: Position, slots: int = 1) -> LegalMoves:
    """The legal moves of a position.

    Raises:
        Problem: if there are too many to list.
    """
    if _takes_long_to_count(position):
        need_long_work(slots)
    listed = position.moves()
    if len(listed) > MAX_LISTED_MOVES:
        problem = (
            f"There are {len(listed)} legal moves; at most {MAX_LISTED_MOVES} are listed."
            " /v1/validate and /v1/advance still accept any of them."
        )
        raise invalid_state([problem])
    if len(listed) > LONG_LIST:
        need_long_work(slots)
    return listed


def _takes_long_to_count(position: Position) -> bool:
    """Whether counting the legal moves may take 15 ms: the hand is large or has many equal
    ranks."""
    hand = position.hand_to_move()
    if hand < 0:
        return False
    cards = position.deck.names_of(hand)
    ranks = Counter([card[0] for card in cards])
    return len(cards) > LONG_HAND or sum([n * (n - 1) // 2 for n in ranks.values()]) > LONG_PAIRS
