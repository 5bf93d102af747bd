"""The table of a ladder: who has a place, and who is settled above whom."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tournament.formats.ladder import NEW
from tournament.model import Run
from tournament.ranking.arrays import Booleans, Ints
from tournament.ranking.effects import Fit, fit
from tournament.ranking.ladder import LadderRecord
from tournament.ranking.observations import Observations, renumbered
from tournament.results.match_arrays import MatchArrays

Status = Literal["", "new", "left"]


def statuses(arrays: MatchArrays, data: Observations, run: Run) -> list[Status]:
    """Return why each bot has no place: it has fewer than ten blocks, or no longer plays; "" for
    the others."""
    blocks = np.bincount(data.bot, minlength=data.bots).tolist()

    def status(bot: str, count: int) -> Status:
        if count < NEW and bot not in run.gone:
            return "new"
        return "left" if bot in run.gone | run.unplaced else ""

    return [status(bot, count) for bot, count in zip(arrays.bots, blocks, strict=True)]


def draws(arrays: MatchArrays) -> Ints:
    """The draw of each match: its stage, or its block alone where there is no stage."""
    unnamed = np.array([not stage for stage in arrays.stages], bool)[arrays.stage]
    answer: Ints = np.where(unnamed, len(arrays.stages) + arrays.block, arrays.stage)
    return answer


@dataclass(frozen=True)
class LadderTable:
    """What the blocks of a ladder tell of its n bots.

    ``settled`` (n, n) says who (rows) is settled above whom (columns), ``fitted`` has the scores,
    ``since`` (n) the number of blocks of each bot that count since it changed, -1 if it did not.
    """

    settled: Booleans
    fitted: Fit
    since: Ints


def ladder_table(played: MatchArrays, arrays: MatchArrays, data: Observations) -> LadderTable:
    """The table of a ladder; the rounds of ``data`` are `draws`, and those of ``arrays`` epochs.

    Bots arrive with their first block, in ``played`` also those whose tables do not count later:
    the arrival of the others does not change when a bot is disqualified. Names that joined and
    never played do not count.
    """
    own = np.array([played.bots.index(bot) for bot in arrays.bots], np.int64)
    record = LadderRecord(len(played.bots))
    seats = np.sort(played.seats, axis=1)
    epoch = np.zeros(data.blocks, np.int64)
    epoch[arrays.block] = arrays.round
    entries = _by_epoch(epoch[data.block])
    version = np.zeros(data.block.size, np.int64)
    in_order = np.concatenate([np.zeros(0, np.int64), *entries.values()])
    for number, matches in _by_epoch(played.round).items():
        record.arrive(seats[matches].ravel())
        some = entries.get(number)
        if some is not None:
            block = np.unique(data.block[some], return_inverse=True)[1]
            record.add(block, own[data.bot[some]], data.points[some], data.round[data.block[some]])
    version[in_order] = record.versions()
    versions = renumbered(data, version, 1 + int(record.version.max(initial=-1)))
    blocks = np.bincount(versions.bot, minlength=versions.bots)[record.version]
    since = np.where(record.changed, blocks, -1)[own]
    settled, last = record.settled()[np.ix_(own, own)], record.version[own]
    del record  # before the fit, which takes as much memory
    return LadderTable(settled, fit(versions).of(last), since)


def _by_epoch(epoch: Ints) -> dict[int, Ints]:
    """The positions of each epoch, in ascending order."""
    order = np.argsort(epoch, kind="stable")
    numbers, first = np.unique(epoch[order], return_index=True)
    return dict(zip(numbers.tolist(), np.split(order, first)[1:], strict=True))
