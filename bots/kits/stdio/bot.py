"""An example of a program for shim.py: a JSON line in, a JSON line out, in any language."""

import json
import sys


def cards(move):
    """The number of cards in a move: "play:3s3h" has two."""
    return len(move.partition(":")[2].partition("=")[0]) // 2


def choose(view, moves):
    """Choose one of `moves`, letter by letter as it stands there."""
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


for line in sys.stdin:
    request = json.loads(line)
    answer = {"move": choose(request["view"], request["moves"])}
    print(json.dumps(answer), flush=True)  # flush: a line kept in a buffer is a timeout
