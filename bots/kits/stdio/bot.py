"""An example program for shim.py: it reads lines of JSON and answers each with one line."""

import json
import sys


def cards(move):
    """Return the number of cards in a move: 2 for "play:3s3h"."""
    return len(move.partition(":")[2].partition("=")[0]) // 2


def choose(view, moves):
    """Choose one of `moves`, exactly as written."""
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


for line in sys.stdin:
    request = json.loads(line)
    # An answer may also have "info": {"comment": "a bluff", "nodes": 480}.
    answer = {"move": choose(request["view"], request["moves"])}
    print(json.dumps(answer), flush=True)  # flush: a line left in a buffer ends in a timeout
