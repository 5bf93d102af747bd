"""Your bot: it chooses one of `moves`, given `view`."""

from typing import Any

import kit  # the HTTP server: the file next to this one


def cards(move: str) -> int:
    """Return the number of cards in a move: 2 for "play:3s3h"."""
    return len(move.partition(":")[2].partition("=")[0]) // 2


def choose(view: dict[str, Any], moves: list[str]) -> str:
    """Choose one of `moves`, exactly as written.

    `view` is what your seat knows: game, phase, seat, hand, counts, table, history and more.
    `moves` are all legal moves: `pass` first, then plays in order of number of cards and rank.
    A third parameter named `clock` gets {"move_ms", "bank_ms"}, and `request` the whole request.
    Return `move, {"comment": "a bluff", "nodes": 480}` to add a comment and numbers.
    """
    plays = [move for move in moves if move != "pass"]
    if not plays:
        return "pass"
    if view["phase"] == "auction":
        return "bid:1" if "bid:1" in plays else "pass"
    table = view.get("table")
    if table and table["seat"] == view["seat"]:
        return "pass"  # Zheng Fen: take my trick
    if table:
        return plays[0]  # the lowest play that wins
    most = max(cards(move) for move in plays)
    return next(move for move in plays if cards(move) == most)  # lead as many cards as possible


if __name__ == "__main__":
    kit.run(
        choose,
        name="my-python-bot",
        version="0.1",
        games=["doudizhu", "dasan", "zhengfen", "ninefivetwo"],
    )
