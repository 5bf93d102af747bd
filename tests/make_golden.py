"""Write our own golden games: `python -m tests.make_golden`, from the root of the project.

They cover what the others leave out: options, ends and rare plays. Each plan tries random games
until one shows what the plan is for. Golden games fix behaviour: write them again only if the rules
were wrong, and review what changed.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import games
from games import State
from tests.golden import VECTORS

LISTED = 50
"""The list of moves is recorded if it is not longer than this."""

Steps = Sequence[dict[str, Any]]


@dataclass(frozen=True)
class Plan:
    """A golden game to generate.

    `shows` tells whether its steps and its last state show what the plan is for. In an auction a
    seat passes with probability `pass_rate`; `passive` is the side, "declarer" or "opponents", that
    passes whenever it can. `bulk` is the probability that gives and discards of 9-5-2 are made all
    at once. Every `every`-th step has the state and all views.
    """

    name: str
    players: int
    options: dict[str, Any]
    shows: Callable[[Steps, dict[str, Any]], bool]
    pass_rate: float = 0.4
    bulk: float = 0.0
    passive: str = ""
    every: int = 12
    game: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "game", self.name.split("-")[0])


def results_of(final: dict[str, Any], **wanted: Any) -> bool:
    """Whether some result has these values."""
    return any(
        all(result[name] == value for name, value in wanted.items()) for result in final["results"]
    )


def moves_of(steps: Steps) -> list[str]:
    return [step["move"] for step in steps]


def spring_won(steps: Steps, final: dict[str, Any]) -> bool:
    """The declarer went out and nobody else played: one doubling more than bombs and rockets."""
    (result,) = final["results"]
    players = {step["turn"] for step in steps if step["move"].startswith("play:")}
    return players == {result["declarer"]} and result["doublings"] > 1


def spring_lost(steps: Steps, final: dict[str, Any]) -> bool:
    """An opponent went out, and the declarer played just once."""
    (result,) = final["results"]
    players = [step["turn"] for step in steps if step["move"].startswith("play:")]
    return players.count(result["declarer"]) == 1 and result["out"] != result["declarer"]


def passed_out_at_last(steps: Steps, final: dict[str, Any]) -> bool:
    """Some deals were dealt again; the last one was passed out and counts."""
    last, before = final["results"][-1], final["results"][:-1]
    return (
        last["declarer"] is None
        and any(result["declarer"] is not None for result in before)
        and last["deal"] > len(final["results"])
    )


def quad_with_pair(steps: Steps, final: dict[str, Any]) -> bool:
    """A quad was played with a pair in place of two cards."""
    for move in moves_of(steps):
        ranks = sorted(move[5::2])
        counts = sorted(ranks.count(rank) for rank in set(ranks))
        if move.startswith("play:") and counts == [2, 4]:
            return True
    return False


def both_parties_won(steps: Steps, final: dict[str, Any]) -> bool:
    """The partner went out, and so did an opponent; the called card was shown before."""
    outs = [(r["out"], r["declarer"], r["partner"]) for r in final["results"]]
    return any(out == partner for out, _, partner in outs) and any(
        out not in (declarer, partner) for out, declarer, partner in outs
    )


def auctions(steps: Steps) -> list[list[str]]:
    """The bids and passes of each deal's auction."""
    deals: dict[int, list[str]] = {step["deal"]: [] for step in steps}
    for step in steps:
        if step["auction"]:
            deals[step["deal"]].append(step["move"])
    return list(deals.values())


def all_called_once(steps: Steps, final: dict[str, Any]) -> bool:
    """An auction ended although a seat could have bid again, and another was passed out."""
    calls = auctions(steps)
    players = final["players"]
    return any(call[-1] in ("bid:1", "bid:2") for call in calls) and ["pass"] * players in calls


def opened_with_two(steps: Steps, final: dict[str, Any]) -> bool:
    """One auction began with bid:2 and went on; another began with bid:1."""
    calls = auctions(steps)
    return any(call[0] == "bid:2" and "bid:3" in call for call in calls) and any(
        call[0] == "bid:1" for call in calls
    )


def ended_by_target(steps: Steps, final: dict[str, Any]) -> bool:
    reached = max(final["scores"]) >= final["options"]["target"]
    return reached and len(final["results"]) > 1


def doubly_read(steps: Steps, final: dict[str, Any]) -> bool:
    """A play that needs its suffix, and two specials of different kinds."""
    moves = moves_of(steps)
    fives = [m for m in moves if m.startswith("play:") and sorted(m[5::2]) == sorted("5TK")]
    return any("=" in move for move in moves) and bool(fives)


def always(steps: Steps, final: dict[str, Any]) -> bool:
    return True


def given_together(steps: Steps, final: dict[str, Any]) -> bool:
    return any(move.startswith("give:") and len(move) > 7 for move in moves_of(steps))


PLANS = (
    Plan("doudizhu-3-spring-won", 3, {"spring": True}, spring_won, passive="opponents"),
    Plan("doudizhu-3-spring-lost", 3, {"spring": True}, spring_lost, passive="declarer"),
    Plan(
        "doudizhu-3-passed-out",
        3,
        {"deals": 3, "redeals": 1, "reveal_talon": True},
        passed_out_at_last,
        pass_rate=0.8,
    ),
    Plan(
        "doudizhu-3-first-passed-out",
        3,
        {"redeals": 0},
        lambda steps, final: len(steps) == 3 and results_of(final, declarer=None),
        pass_rate=0.9,
        every=1,
    ),
    Plan("doudizhu-3-quad-with-pair", 3, {"quad_pair_as_solos": True}, quad_with_pair),
    Plan(
        "doudizhu-4-all-options",
        4,
        {"deals": 2, "spring": True, "reveal_talon": True},
        always,
        every=40,
    ),
    Plan(
        "doudizhu-4-single-round",
        4,
        {"deals": 2, "single_round": True},
        all_called_once,
        pass_rate=0.6,
        every=40,
    ),
    Plan("dasan-3-reveal-talon", 3, {"deals": 3, "reveal_talon": True}, always, every=40),
    Plan("dasan-4-both-parties", 4, {"deals": 4}, both_parties_won, every=40),
    Plan("dasan-4-open-higher", 4, {"deals": 2, "open_higher": True}, opened_with_two, every=40),
    Plan("zhengfen-3-target", 3, {"target": 150}, ended_by_target, every=30),
    Plan("zhengfen-4-two-readings", 4, {"deals": 1}, doubly_read, every=15),
    Plan("zhengfen-6-target", 6, {"target": 70}, ended_by_target, every=50),
    Plan(
        "ninefivetwo-3-eight-deals",
        3,
        {"target": 1000, "deals": 8},
        given_together,
        bulk=0.3,
        every=25,
    ),
    Plan("ninefivetwo-3-target", 3, {"target": 4}, ended_by_target, every=15),
)


def choose(plan: Plan, state: State, rng: random.Random) -> str:
    moves = state.moves()
    if state.phase == "auction" and "pass" in moves and rng.random() < plan.pass_rate:
        return "pass"
    wire = state.to_dict()
    if plan.bulk and state.phase in ("exchange", "discard") and rng.random() < plan.bulk:
        kind = "give" if state.phase == "exchange" else "discard"
        due = wire["owed"][0] if wire["owed"] else {"count": 4, "given": wire["discards"]}
        cards = rng.sample(wire["hands"][wire["turn"]], due["count"] - len(due["given"]))
        return str(state.check(f"{kind}:{''.join(cards)}"))
    side = "declarer" if wire.get("declarer") == wire["turn"] else "opponents"
    if state.phase == "play" and side == plan.passive and "pass" in moves:
        return "pass"
    # Half of the plays have many cards, so that games are short and show more.
    if rng.random() < 0.5:
        return str(moves[max(rng.randrange(len(moves)) for _ in range(4))])
    return str(moves[rng.randrange(len(moves))])


def trace_of(state: State, move: str) -> dict[str, Any]:
    """What the plans look at in a step."""
    auction = state.phase == "auction"
    return {"deal": state.deal, "turn": state.turn, "move": move, "auction": auction}


def play(plan: Plan, attempt: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """One game of a plan, and its steps with the number of the deal."""
    seed = f"own-{plan.name}-{attempt}"
    rng = random.Random(seed)
    start = {"game": plan.game, "players": plan.players, "seed": seed, "options": plan.options}
    state = games.get(plan.game).start(plan.players, seed, plan.options)
    golden: dict[str, Any] = {"start": start, "first": state.to_dict(), "steps": []}
    trace: list[dict[str, Any]] = []
    while state.turn is not None:
        moves = state.moves()
        move = choose(plan, state, rng)
        step: dict[str, Any] = {"turn": state.turn, "count": len(moves), "move": move}
        if len(moves) <= LISTED:
            step["moves"] = moves.texts()
        if len(trace) % plan.every == 0:
            step["state"] = state.to_dict()
            step["views"] = [state.view(seat).to_dict() for seat in range(plan.players)]
        golden["steps"].append(step)
        trace.append(trace_of(state, move))
        state = state.advance(move)
    golden["final"] = state.to_dict()
    return golden, trace


def make(plan: Plan) -> dict[str, Any]:
    """The first game that shows what a plan is for."""
    for attempt in range(20_000):
        golden, trace = play(plan, attempt)
        if plan.shows(trace, golden["final"]):
            return golden
        if attempt % 500 == 499:
            print(f"{plan.name}: {attempt + 1} games, none of them yet")
    raise LookupError(f"No game shows what {plan.name} is for.")


def main() -> None:
    for plan in PLANS:
        golden = make(plan)
        path = VECTORS / f"own-{plan.name}.json"
        path.write_text(json.dumps(golden, separators=(",", ":"), ensure_ascii=False))
        print(f"{path.name}: {len(golden['steps'])} moves, {path.stat().st_size // 1024} KiB")


if __name__ == "__main__":
    main()
