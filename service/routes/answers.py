"""The answers that plain and sealed operations give about a position."""

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

# Counting the legal moves of a hand with more cards, or more pairs of equal rank, may take
# milliseconds. One in twenty dealt hands of 18 cards has more than 14 pairs.
_LONG_HAND: Final = 20
_LONG_PAIRS: Final = 14
_LONG_LIST: Final = 300  # writing more moves is long work
_DETAILED_SLOTS: Final = 3  # for a list of moves with details: the longest has 4.6 MB
_LONG_GAME: Final = 200  # making more moves is long work: a thousand take 4 ms


def json_response(body: dict[str, Any]) -> Response:
    """Return `body` as JSON, in a response with status 200 that caches must not store."""
    # The body may show hidden cards.
    headers = [("Content-Type", "application/json"), ("Cache-Control", "no-store")]
    return Response(encode(body), 200, headers)


def moves_answer(position: Position, *, details: bool) -> dict[str, Any]:
    """Return the answer of `/v1/moves`: the seat to move (or None at the end), and its legal moves.

    There are no moves if the game is over, or if `position` is the public view or the view of a
    seat that is not to move. `details` adds the category, rank, length and cards of each move.

    Raises:
        Problem: if there are more than `MAX_LISTED_MOVES` moves.
        LongWork, TooManyRequests: if listing the moves needs slots that the request does not hold.
    """
    listed = _listed(position, _DETAILED_SLOTS if details else 1)
    answer: dict[str, Any] = {"seat": position.turn, "moves": listed.texts()}
    if details:
        answer["details"] = [_detail(move) for move in listed]
    return answer


def _detail(move: Move) -> dict[str, Any]:
    cards = move.deck.names_of(move.cards) if move.cards else None
    return {"category": move.category, "rank": move.rank, "length": move.length, "cards": cards}


def described(view: View, *, list_moves: bool) -> dict[str, Any]:
    """Return the answer of `/v1/describe`: the path of the rules, and a text that describes a view
    in plain English and, if `list_moves` is True, lists the legal moves.

    Raises:
        Problem, LongWork, TooManyRequests: as in `moves_answer`, if moves are listed.
    """
    text = games.describe(view, _listed(view) if list_moves else None)
    return {"text": text, "rules": f"/docs/rules/{view.game.name}.md"}


def verdict(position: Position, text: str) -> dict[str, Any]:
    """Return the answer of `/v1/validate`: whether the move `text` is legal, with category, rank
    and length of a legal move, or the reason why the move is illegal."""
    try:
        move = position.check(text)
    except IllegalMove as error:
        return {"legal": False, "reason": error.reason, "detail": error.detail}
    answer: dict[str, Any] = {"legal": True, "move": move.text}
    if move.category is not None:
        answer |= {"category": move.category, "rank": move.rank, "length": move.length}
    return answer


def advanced(state: State, moves: Sequence[str], seat: int | None = None) -> State:
    """Return the state after `moves`. If `seat` is given, every move must be made by that seat.

    Raises:
        Problem: if a move is illegal or made by another seat, or if the deal, scores, history or
            results of the state after all moves exceed their limits.
        LongWork, TooManyRequests: if there are more than 200 moves and the request holds no slot.
    """
    if len(moves) > _LONG_GAME:
        need_long_work()
    for index, move in enumerate(moves):
        try:
            if seat is not None:  # an error must not reveal more than this seat may know
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
    if _takes_long_to_count(position):
        need_long_work(slots)
    listed = position.moves()
    if len(listed) > MAX_LISTED_MOVES:
        problem = (
            f"There are {len(listed)} legal moves; at most {MAX_LISTED_MOVES} are listed."
            " /v1/validate and /v1/advance still accept any of them."
        )
        raise invalid_state([problem])
    if len(listed) > _LONG_LIST:
        need_long_work(slots)
    return listed


def _takes_long_to_count(position: Position) -> bool:
    hand = position.hand_to_move()
    if hand < 0:  # the game is over, or the view does not show the hand
        return False
    cards = position.deck.names_of(hand)
    ranks = Counter([card[0] for card in cards])
    pairs = sum([n * (n - 1) // 2 for n in ranks.values()])
    return len(cards) > _LONG_HAND or pairs > _LONG_PAIRS
