"""A bot that searches: ``python -m bots.search``.

For each decision except a bid, a determinized Monte Carlo search of depth one deals the unseen
cards at random, as the view allows, and plays out every promising move with a fast player in all
seats. All moves share the same determinizations, so their results can be compared in pairs.
"""

import argparse
import math
import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import games
from bots import kit, sensible
from bots.cards import ORDER, View, position_hash
from bots.thinking import determinization
from bots.thinking.bidding import WIN_MODELS, Bidding

TIME_SHARE = 0.4  # the share of `move_ms` to search for; the rest covers a busy machine
MAX_SECONDS = 2.0  # the longest search for a move
MAX_MOVES = 10  # search only this many moves, those that the sensible bot ranks highest
PRUNE_EVERY = 8  # after this many determinizations, drop the moves that have fallen behind
MAX_SAMPLES = 4  # draw up to this many samples to find one that fits the bidding
DROP_BEHIND = 2.5  # drop a move that is this many standard errors worse than the best
REPLACE_AHEAD = 1.0  # replace the sensible bot's choice if a move is this many errors better


def move(view: View, moves: Sequence[str], clock: Mapping[str, int]) -> str:
    """Return the sensible bot's choice, or a move that a search finds clearly better.

    The search takes `TIME_SHARE` of `move_ms`, at most `MAX_SECONDS`. Bids are not searched.
    """
    until = time.monotonic() + min(MAX_SECONDS, TIME_SHARE * clock["move_ms"] / 1000)
    return choose(view, moves, lambda done: time.monotonic() < until)


def search(view: View, moves: Sequence[str], *, iterations: int) -> str:
    """Return the move that `move` would choose after up to `iterations` determinizations.

    The same position always gets the same move.
    """
    return choose(view, moves, lambda done: done < iterations)


class Lead(NamedTuple):
    """How many more points one move makes in the deal than another: mean and standard error."""

    points: float
    error: float


def measure_lead(view: View, move: str, other: str, *, iterations: int) -> Lead | None:
    """Return how many more points `move` makes than `other`, on average.

    The average is over `iterations` determinizations, or over those before the first that is not a
    valid state. They are not those of `search`, so that the move chosen there has no advantage.
    Return None if there are fewer than two.
    """
    rng = random.Random(~position_hash(view))  # noqa: S311 (no secret)
    module = sensible.load(view["game"])
    leads: list[float] = []
    for state in islice(_determinizations(view, rng), iterations):
        score, other_score = (
            module.finish(state.advance(text)).results[-1]["scores"][view["seat"]]
            for text in (move, other)
        )
        leads.append(score - other_score)
    if len(leads) < 2:
        return None
    return Lead(_mean(leads), statistics.stdev(leads) / math.sqrt(len(leads)))


def choose(view: View, moves: Sequence[str], continues: Callable[[int], bool]) -> str:
    """Return the first move of the shortlist, or a move that a search finds clearly better.

    The search ends when one move is left, or when `continues` returns false for the number of
    determinizations so far. If a determinization is not a valid state, return the first move.
    """
    alive = shortlist(view, moves)
    first, done = alive[0], 0
    values: dict[str, list[float]] = {text: [] for text in alive}
    states = _determinizations(view, random.Random(position_hash(view)))  # noqa: S311 (no secret)
    module = sensible.load(view["game"])
    while len(alive) > 1 and continues(done):
        state = next(states, None)
        if state is None:
            return first
        for text in alive:
            end = module.finish(state.advance(text))
            values[text].append(module.value(end, view["seat"]))
        done += 1
        if done % PRUNE_EVERY == 0:
            best = max((values[text] for text in alive), key=_mean)
            alive = [text for text in alive if _lead(best, values[text]) < DROP_BEHIND]
    if not done:
        return first
    leader = max(alive, key=lambda text: _mean(values[text]))
    replaced = first not in alive or _lead(values[leader], values[first]) >= REPLACE_AHEAD
    return leader if replaced else first


def _determinizations(view: View, rng: random.Random) -> Iterator[games.State]:
    """Yield determinizations without end, or until one is not a valid state."""
    bidding = None
    if view["phase"] == "play" and "declarer" in view:
        bidding = Bidding(view, WIN_MODELS[view["game"], view["players"]])
    constraints = determinization.infer_constraints(view)
    game = games.get(view["game"])
    sample = partial(determinization.sample_state, view, constraints, rng)
    with suppress(games.InvalidState):
        while True:
            yield game.state(sample() if bidding is None else _best_fit(bidding, sample))


def _best_fit(bidding: Bidding, sample: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Draw up to `MAX_SAMPLES` random states, in wire form. Return the best fit to the bids."""
    best: dict[str, Any] = {}
    least = math.inf
    for _ in range(MAX_SAMPLES):
        state = sample()
        mismatch = bidding.mismatch(state["hands"])
        if mismatch < least:
            best, least = state, mismatch
        if not mismatch:
            break
    return best


def _lead(better: Sequence[float], worse: Sequence[float]) -> float:
    """Return how many standard errors `better` is ahead of `worse`, or 0 if it is not ahead.

    Both hold the values of a move, one for each determinization, in the same order. With fewer than
    two values, return 0.
    """
    differences = [a - b for a, b in zip(better, worse, strict=True)]
    count = len(differences)
    mean = _mean(differences)
    if mean <= 0 or count < 2:
        return 0.0
    spread = sum((value - mean) ** 2 for value in differences) / (count - 1)
    # The second term keeps a few equal differences from counting as certainty.
    return mean / math.sqrt((spread + 0.25 * mean * mean) / count)


def shortlist(view: View, moves: Sequence[str]) -> list[str]:
    """Return the moves to search, at most `MAX_MOVES`, with the sensible bot's choice first.

    In an auction, this choice is the only move. In the phase `play`, the moves are best first. In
    other phases, the moves after the first stay in their order.
    """
    if len(moves) == 1:
        return list(moves)
    if view["phase"] == "play":
        ranked = sensible.load(view["game"]).rank_moves(view, moves)
        return [text for _, text in ranked[:MAX_MOVES]]
    choice = sensible.move(view, moves)
    if view["phase"] == "auction":
        # The fitted win probabilities judge a bid better than playouts do.
        return [choice]
    others = [text for text in moves if text != choice]
    return [choice, *others[: MAX_MOVES - 1]]


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def main() -> None:
    """Serve the bot. With `--worlds N`, a search has N determinizations and no time limit."""
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--worlds", type=int)
    worlds: int | None = parser.parse_known_args()[0].worlds
    chosen = move if worlds is None else partial(search, iterations=worlds)
    kit.run(chosen, name="search", version="1.0", games=list(ORDER))


if __name__ == "__main__":
    main()
