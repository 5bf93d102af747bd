"""Your bot. Everything it may know is in `view`, everything it may do in `moves`."""

from __future__ import annotations

from typing import Any

import kit  # the file beside this one: it speaks HTTP, so that this one need not


def cards(move: str) -> int:
    """The number of cards in a move: "play:3s3h" has two."""
    return len(move.partition(":")[2].partition("=")[0]) // 2


def choose(view: dict[str, Any], moves: list[str]) -> str:
    """Choose one of `moves`, letter by letter as it stands there.

    `view` is what your seat knows: game, phase, seat, hand, counts, table, history and more.
    `moves` are all legal moves: `pass` first, plays by number of cards, then rank. A third
    parameter `clock` gets {"move_ms", "bank_ms"}, one named `request` the whole request.
    """
    plays = [move for move in moves if move != "pass"]
    if not plays:
        return "pass"
    if view["phase"] == "auction":
        return "bid:1" if "bid:1" in plays else "pass"
    table = view.get("table")
    if table and table["seat"] == view["seat"]:
        return "pass"  # Zheng Fen: the trick is mine
    if table:
        return plays[0]  # follow with the least that wins
    most = max(cards(move) for move in plays)
    return next(move for move in plays if cards(move) == most)  # lead with as many as go


if __name__ == "__main__":
    kit.run(
        choose,
        name="my-python-bot",
        version="0.1",
        games=["doudizhu", "dasan", "zhengfen", "ninefivetwo"],
    )
