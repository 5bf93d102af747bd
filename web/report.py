"""`stich report`: one self-contained page that needs no network."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from itertools import islice, permutations

import numpy as np
from jinja2 import Environment, FunctionLoader
from markupsafe import Markup

import games
from tournament.decisions import disqualified
from tournament.records import FaultRecord, MatchSummary, RunRecords
from tournament.results.info_sums import info_sums
from tournament.results.integrity import integrity
from tournament.results.match_arrays import MatchArrays, collect
from tournament.results.standings import Standings, compute
from web.ui import plots
from web.ui.formatting import course_first
from web.ui.replay import clock
from web.ui.replay_steps import compressed, select
from web.ui.template_environment import prepare_templates

REPLAYS = 200
"""The default number of matches that a page shows move by move."""

_MEAN_MOVES = 300  # of a replay, at most: 200 of them take about 3 MB
_MAX_FAULTS = 100
_MAX_COMPARED = 3_000  # matches that are replayed to look for soft play, at 2 to 10 ms each
_MAX_PAIRS = 20  # in the table of soft play
_MAX_CROSS_BOTS = 64  # in the table of who beat whom
_Encounter = tuple[float, int]
"""One bot against another: the share of comparisons that it won, and their number."""


@dataclass(frozen=True, slots=True)
class Replay:
    """One match on the page."""

    match: MatchSummary
    faults: int
    steps: str


def report(store: RunRecords, replays: int = REPLAYS) -> str:
    """The page as HTML. ``replays`` is the most matches that it shows move by move."""
    facts = store.facts()
    matches = list(store.summaries())
    played = collect(matches, facts.get("bots", ()))
    table = compute(played, facts)
    arrays = played.without(disqualified(facts))
    authors = {bot["name"]: bot.get("author") for bot in facts["config"]["bots"]}
    soft_play = integrity(islice(store.matches(), _MAX_COMPARED), authors)
    flagged = {match for flag in soft_play.flags for match in flag.matches}
    shown = _replays(store, select(matches, replays, flagged), clock(facts["config"]))
    return (
        _environment()
        .get_template("report.html")
        .render(
            facts=facts,
            table=table,
            plain=any(line.plain != line.score for line in table.standings),
            game=games.get(table.game).title,
            plot=plots.course(arrays, table),
            cross=_cross(arrays, table),
            course_first=course_first(table),
            soft_play=soft_play,
            sums=info_sums(islice(store.matches(), _MAX_COMPARED)),
            compared=min(len(matches), _MAX_COMPARED),
            shown_pairs=_MAX_PAIRS,
            replays=shown,
            left_out=len(matches) - len(shown),
            faults=_faults(store, {replay.match.match for replay in shown}),
            fault_count=int(arrays.faults.sum()),
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
                        "clockwise": games.get(table.game).clockwise,
                    }
                    for replay in shown
                },
            },
        )
    )


def _replays(
    store: RunRecords, selected: list[MatchSummary], times: tuple[int, int]
) -> list[Replay]:
    """The selected matches, as far as their moves fit on the page."""
    replays: list[Replay] = []
    moves = 0
    max_moves = _MEAN_MOVES * max(len(selected), REPLAYS)
    for match in selected:
        record = store.match(match.match)
        moves += len(record.moves)
        if moves > max_moves and replays:
            break
        replays.append(Replay(match, sum(map(sum, match.faults)), compressed(record, *times)))
    return replays


def _cross(arrays: MatchArrays, table: Standings) -> list[tuple[str, list[_Encounter | None]]]:
    """Rows and columns in the order of the table; empty if there are too many bots."""
    names = [line.bot for line in table.standings]
    if len(names) > _MAX_CROSS_BOTS:
        return []
    size = len(arrays.bots)
    games, halves = np.zeros((2, size, size), dtype=np.int64)
    for one, two in permutations(range(arrays.seats.shape[1]), 2):
        first, second = arrays.seats[:, one], arrays.seats[:, two]
        rivals = (first != second) & (arrays.sides[:, one] != arrays.sides[:, two])
        outcome = 1 + np.sign(arrays.scores[:, one] - arrays.scores[:, two])
        np.add.at(games, (first[rivals], second[rivals]), 1)
        np.add.at(halves, (first[rivals], second[rivals]), outcome[rivals])
    order = [arrays.bots.index(name) for name in names]
    return [
        (
            arrays.bots[row],
            [
                (halves[row, column] / (2 * games[row, column]), int(games[row, column]))
                if games[row, column]
                else None
                for column in order
            ],
        )
        for row in order
    ]


def _faults(store: RunRecords, replayed: set[str]) -> list[tuple[str, bool, FaultRecord]]:
    """The first faults: id of the match, whether the page replays it, and the fault."""
    faults: list[tuple[str, bool, FaultRecord]] = []
    for match, fault in store.faults():
        if len(faults) == _MAX_FAULTS:
            break
        faults.append((match, match in replayed, fault))
    return faults


def _environment() -> Environment:
    page = files("web.ui") / "templates"
    environment = Environment(
        loader=FunctionLoader(lambda name: (page / name).read_text("utf-8")), autoescape=True
    )
    prepare_templates(environment)
    environment.globals["inline"] = lambda name: Markup(  # noqa: S704 - a file of this package
        (page / name).read_text("utf-8")
    )
    return environment
