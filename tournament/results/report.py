"""`stich report`: one page that needs nothing but itself, not even a network."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib.resources import files
from typing import Any, Protocol

import numpy as np
from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

import games
from tournament.records import FaultRecord, MatchRecord, MatchSummary
from tournament.results import plots
from tournament.results.ratings import compare
from tournament.results.replay_steps import chosen, packed
from tournament.results.standings import (
    Results,
    Standings,
    blamed,
    collect,
    elo,
    of,
    pace,
    points,
    span,
)
from tournament.text import plural

REPLAYS = 200
"""How many matches a page shows move by move, unless told otherwise."""

_MOVES_EACH = 300  # of all replays together on the mean: for 200 of them some three megabytes
_FAULTS = 100
_CROSS = 24  # bots in the table of who beat whom


class Source(Protocol):
    """What a report reads of a store."""

    def facts(self) -> dict[str, Any]:
        """What the run is."""

    def summaries(self) -> Iterable[MatchSummary]:
        """The finished matches, in the order of the schedule."""

    def match(self, match: str) -> MatchRecord:
        """One match, whole."""

    def faults(self) -> Iterable[tuple[str, FaultRecord]]:
        """Every fault with the id of its match."""


@dataclass(frozen=True, slots=True)
class Replay:
    """One match on the page."""

    match: MatchSummary
    faults: int
    steps: str


def report(store: Source, replays: int = REPLAYS) -> str:
    """The page, HTML. ``replays`` is how many matches it shows move by move at most.

    Raises nothing of its own; what the store raises goes through.
    """
    facts = store.facts()
    matches = list(store.summaries())
    results = collect(matches, facts.get("bots", ()))
    table = of(results, facts)
    shown = _replays(store, matches, replays)
    return (
        _environment()
        .get_template("report.html")
        .render(
            facts=facts,
            table=table,
            results=results,
            game=games.get(table.game).title,
            plots=_plots(results, table),
            cross=_cross(results, table),
            replays=shown,
            left_out=len(matches) - len(shown),
            faults=_faults(store, {replay.match.match for replay in shown}),
            fault_count=int(results.faults.sum()),
            seatings={match.match: match.seating for match in matches},
            data={
                "game": table.game,
                "matches": {
                    replay.match.match: {
                        "seats": replay.match.seating,
                        "scores": replay.match.scores,
                        "adjusted": replay.match.adjusted,
                        "block": replay.match.block,
                        "seating": replay.match.number + 1,
                        "steps": replay.steps,
                    }
                    for replay in shown
                },
            },
        )
    )


def _replays(store: Source, matches: list[MatchSummary], most: int) -> list[Replay]:
    answer: list[Replay] = []
    moves = 0
    most_moves = _MOVES_EACH * max(most, REPLAYS)
    for match in chosen(matches, most):
        record = store.match(match.match)
        moves += len(record.moves)
        if moves > most_moves and answer:
            break
        answer.append(Replay(match, sum(map(sum, match.faults)), packed(record)))
    return answer


def _plots(results: Results, table: Standings) -> list[tuple[str, Markup]]:
    """Captions and SVG; none before there is anything to plot."""
    if not results.block.size:
        return []
    made = [
        ("Points a deal. Where two lines do not overlap, the order is settled.", plots.scores),
        ("Rating on the Elo scale. The dotted line is the mean of all bots.", plots.rating),
    ]
    drawn = [(caption, Markup(draw(table))) for caption, draw in made]  # noqa: S704 - made here
    course = Markup(plots.course(results, table))  # noqa: S704 - made here
    return [*drawn, ("Points a deal so far, block by block.", course)]


@dataclass(frozen=True, slots=True)
class Duel:
    """What one bot did against another: a share of half wins, and of how many comparisons."""

    share: float
    games: int


def _cross(results: Results, table: Standings) -> list[tuple[str, list[Duel | None]]]:
    """Rows and columns in the order of the table; empty where there are too many bots."""
    names = [line.bot for line in table.standings]
    if len(names) > _CROSS:
        return []
    size = len(results.bots)
    data = compare(results.seats, results.scores, results.sides, results.block, size)
    games, halves = np.zeros((2, size, size), dtype=np.int64)
    np.add.at(games, (data.first, data.second), data.games)
    np.add.at(games, (data.second, data.first), data.games)
    np.add.at(halves, (data.first, data.second), data.halves)
    np.add.at(halves, (data.second, data.first), 2 * data.games - data.halves)
    order = [results.bots.index(name) for name in names]
    return [
        (
            results.bots[row],
            [
                Duel(halves[row, column] / (2 * games[row, column]), int(games[row, column]))
                if games[row, column]
                else None
                for column in order
            ],
        )
        for row in order
    ]


def _faults(store: Source, replayed: set[str]) -> list[tuple[str, bool, FaultRecord]]:
    """The first faults, and whether their match can be seen on the page."""
    answer: list[tuple[str, bool, FaultRecord]] = []
    for match, fault in store.faults():
        if len(answer) == _FAULTS:
            break
        answer.append((match, match in replayed, fault))
    return answer


def signed(value: int) -> str:
    """Points with their sign: +3, -6, 0."""
    return f"{value:+d}" if value else "0"


def _environment() -> Environment:
    page = files("tournament.results") / "templates"
    environment = Environment(
        loader=FunctionLoader(lambda name: (page / name).read_text("utf-8")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["inline"] = lambda name: Markup(  # noqa: S704 - a file of this package
        (page / name).read_text("utf-8")
    )
    filters = (span, points, elo, blamed, pace, signed, plural)
    environment.filters.update({each.__name__: each for each in filters})
    return environment
