"""The standings of a ladder: which bots have a place, and which bot is settled above which."""

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
    """Return the status of each bot, in the order of `arrays.bots`.

    The status is "new" if the bot still plays but has played fewer than ten blocks. Otherwise it is
    "left" if the bot no longer plays or has no place in exported rows, and "" if it has a place.
    ``data`` must be the observations of ``arrays``.
    """
    blocks = dict(zip(arrays.bots, np.bincount(data.bot, minlength=data.bots), strict=True))
    left = run.gone | run.unplaced
    return [
        "new" if count < NEW and bot not in run.gone else "left" if bot in left else ""
        for bot, count in blocks.items()
    ]


def draws(arrays: MatchArrays) -> Ints:
    """Return, for each match, a number for the draw that its table comes from.

    All tables of a stage come from the same draw. Without a stage, each block has its own draw.
    """
    unnamed = np.array([not stage for stage in arrays.stages], bool)[arrays.stage]
    numbers: Ints = np.where(unnamed, len(arrays.stages) + arrays.block, arrays.stage)
    return numbers


@dataclass(frozen=True)
class LadderTable:
    """What the blocks of a ladder show about its n bots."""

    settled: Booleans  # (n, n): whether the row's bot is settled above the column's
    fitted: Fit  # the scores since a bot's last change
    since: list[int | None]  # blocks since a bot's last change; None if there are none


def ladder_table(played: MatchArrays, arrays: MatchArrays, data: Observations) -> LadderTable:
    """Return what the blocks of a ladder show about the bots of ``arrays``.

    ``played`` has all matches, even those of disqualified bots, and ``arrays`` the matches that
    count. In both, rounds are epochs. ``data`` must be the observations of ``arrays``, with `draws`
    as rounds. A bot arrives with its first block in ``played``, even if that block does not count.
    """
    number_in_record = np.array([played.bots.index(bot) for bot in arrays.bots], np.int64)
    record = LadderRecord(len(played.bots))
    seats = np.sort(played.seats, axis=1)
    epoch = np.zeros(data.blocks, np.int64)
    epoch[arrays.block] = arrays.round
    entries = _by_epoch(epoch[data.block])
    version = np.zeros(data.block.size, np.int64)
    in_order = np.concatenate([np.zeros(0, np.int64), *entries.values()])
    for number, matches in _by_epoch(played.round).items():
        record.arrive(seats[matches].ravel())
        of_epoch = entries.get(number)
        if of_epoch is not None:
            block = np.unique(data.block[of_epoch], return_inverse=True)[1]
            record.add(
                block,
                number_in_record[data.bot[of_epoch]],
                data.points[of_epoch],
                data.round[data.block[of_epoch]],
            )
    version[in_order] = record.versions()
    versions = renumbered(data, version, 1 + int(record.version.max(initial=-1)))
    blocks = np.bincount(versions.bot, minlength=versions.bots)[record.version]
    since = np.where(record.changed, blocks, 0)[number_in_record]
    settled = record.settled()[np.ix_(number_in_record, number_in_record)]
    last = record.version[number_in_record]
    del record  # before the fit, which takes as much memory
    return LadderTable(settled, fit(versions).of(last), [count or None for count in since.tolist()])


def _by_epoch(epoch: Ints) -> dict[int, Ints]:
    """Return the indices at which each epoch occurs in `epoch`, keyed by epoch, lowest first."""
    order = np.argsort(epoch, kind="stable")
    numbers, first = np.unique(epoch[order], return_index=True)
    return dict(zip(numbers.tolist(), np.split(order, first)[1:], strict=True))
