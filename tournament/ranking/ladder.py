"""The record of a ladder's blocks: estimates, evidence and changes of its bots, epoch by epoch."""

import numpy as np

from tournament.ranking.arrays import Booleans, Floats, Ints
from tournament.ranking.effects import Equations
from tournament.ranking.observations import Evidence, pairs_within
from tournament.ranking.ranks import settled_by_arrival
from tournament.ranking.student import normal_deviate

_WINDOWS = (20, 40, 80, 160)
"""The numbers of a bot's last blocks that are compared with its earlier blocks."""
_ALARM = 5.0
"""A bot has changed if the means of the two differ by more than this number of standard errors."""
_BEFORE = 20  # the fewest earlier blocks for a comparison
_PRIOR = 4.0  # the weight, in blocks, of the guess that a bot is as good as the others
_GROWTH = 1.25  # opponents' effects are estimated again when the ladder has grown by this factor
_RING = max(_WINDOWS) + 1
_PENDING = 512  # the number of draws that are collected before they are added up


class LadderRecord:
    """The blocks of a ladder so far. Bots are numbered from 0. So are the versions of all bots
    together. A bot that is found to have changed begins a new version.

    Three arrays have an entry for each bot. ``blocks`` has the number of blocks, ``version`` the
    latest version, and ``changed`` says whether the bot was ever found to have changed.
    """

    def __init__(self, bots: int = 0) -> None:
        self.blocks, self.version = np.zeros((2, 0), np.int64)
        self.changed = np.zeros(0, bool)
        self._start, self._count = np.zeros((2, 0), np.int64)
        self._all = self._starts = self._estimated = self._versions = self._draws = 0
        self._parts: list[tuple[Ints, Ints, Ints, Floats]] = []
        self._equations, self._effects = Equations(0), np.zeros(0)
        self._evidence = np.zeros((3, 0, 0))  # total, squares, items
        self._pending: list[tuple[Ints, Ints, Floats]] = []
        self._sums = np.zeros((2, 0, _RING))
        self.grow(bots)

    def grow(self, bots: int) -> None:
        """Make room for ``bots`` bots in total, if there is room for fewer."""
        new = bots - self.blocks.size
        if new <= 0:
            return
        self._add_pending()
        self.version = np.append(self.version, self._new_versions(new))
        self.blocks = np.pad(self.blocks, (0, new))
        self.changed = np.pad(self.changed, (0, new))
        self._count = np.pad(self._count, (0, new))
        self._start = np.pad(self._start, (0, new), constant_values=-1)
        self._evidence = np.pad(self._evidence, ((0, 0), (0, new), (0, new)))
        self._sums = np.pad(self._sums, ((0, 0), (0, new), (0, 0)))

    def add(self, block: Ints, bot: Ints, points: Floats, draw: Ints) -> None:
        """Add the blocks of an epoch. Bots found to have changed begin a new version.

        All arrays have an entry for each bot of each block. ``block`` must be sorted and, in each
        epoch, numbered from 0. ``points`` is per deal. ``draw`` has the number, in the epoch, of
        the draw that seated the bot. There must be room for all bots (see `grow`). New bots are
        recorded as arriving in the order of ``bot`` (see `arrive`).
        """
        if not block.size:
            return
        if self._all > self._estimated * _GROWTH:
            self._effects = self._equations.effects(_PRIOR)[0]
            self._estimated = self._all
        self.arrive(bot)
        alone = points + self._of_opponents(block, self.version[bot])
        self._compare(block, bot, points, alone, draw)
        self._equations.add(block, self.version[bot], points)
        self._parts.append((block + self._all, bot, self.version[bot], points))
        self._all += int(block[-1]) + 1
        self.blocks += np.bincount(bot, minlength=self.blocks.size)
        self._watch(block, bot, alone)

    def arrive(self, bots: Ints) -> None:
        """Record the arrival of the bots in ``bots`` that are new, in the order of ``bots``. The
        later a bot arrives, the more evidence it needs to be settled (see `settled_by_arrival`)."""
        for bot in bots[np.sort(np.unique(bots, return_index=True)[1])].tolist():
            if self._start[bot] < 0:
                self._begin_evidence(bot)

    def effects(self) -> tuple[Floats, Floats]:
        """Return the mean and the standard deviation of each bot's effect, in points per deal. The
        effect is how far the bot's current version is above the mean of all versions."""
        mean, deviation = self._equations.effects(_PRIOR)
        return mean[self.version], deviation[self.version]

    def versions(self) -> Ints:
        """Return the version to which each entry (a bot of a block) belongs now, in the order in
        which the entries were added."""
        return self._history()[2] if self._parts else np.zeros(0, np.int64)

    def evidence(self) -> Evidence:
        """Return the evidence about each pair of bots since either bot was last found to have
        changed. Earlier blocks are left out, even those that belong to the new version of a bot.

        ``count``, ``blocks`` and ``rounds`` equal ``items``, and ``all_rounds`` is 0. A later call
        of `add` may change the arrays in place.
        """
        self._add_pending()
        total, squares, items = self._evidence
        return Evidence(total, squares, items, items, items, items, 0)

    def settled(self) -> Booleans:
        """Return which bots (rows) are settled above which (columns), as in `settled_by_arrival`. A
        bot that was found to have changed counts as a new arrival."""
        arrival = np.where(self._start < 0, self._starts, self._start) + 1
        return settled_by_arrival(self.evidence(), arrival)

    def _new_versions(self, count: int) -> Ints:
        self._versions += count
        self._equations.grow(self._versions)
        self._effects = np.pad(self._effects, (0, count))
        return np.arange(self._versions - count, self._versions)

    def _begin_evidence(self, bot: int) -> None:
        self._start[bot] = self._starts
        self._starts += 1

    def _history(self) -> tuple[Ints, Ints, Ints, Floats]:
        """Return the block, bot, version and points of all entries. There must be at least one."""
        block, bot, version, points = (
            np.concatenate(column) for column in zip(*self._parts, strict=True)
        )
        return block, bot, version, points

    def _of_opponents(self, block: Ints, version: Ints) -> Floats:
        """Return the mean estimated effect of each entry's opponents, or 0 if there are none."""
        size, effect = np.bincount(block)[block], self._effects[version]
        answer: Floats = (np.bincount(block, effect)[block] - effect) / np.maximum(size - 1, 1)
        return answer

    def _compare(self, block: Ints, bot: Ints, points: Floats, alone: Floats, draw: Ints) -> None:
        """Add the differences between the bots of each draw to the evidence.

        The arrays are as in `add`. Bots at one table are compared by ``points``. Bots at different
        tables are compared later, in `_add_pending`, by ``alone``: their points without the effects
        of their opponents.
        """
        number = np.unique(draw, return_inverse=True)[1]
        first = np.flatnonzero(np.diff(block, prepend=-1))
        wide = (np.bincount(number[first]) > 1)[number]
        for left, right in pairs_within(block):
            self._add_pairs(bot[left], bot[right], points[left] - points[right], 1.0)
            left, right = left[wide[left]], right[wide[left]]
            self._add_pairs(bot[left], bot[right], alone[left] - alone[right], -1.0)
        if wide.any():
            number = np.unique(number[wide], return_inverse=True)[1]
            self._pending.append((number + self._draws, bot[wide], alone[wide]))
            self._draws += int(number.max()) + 1
            if self._draws > _PENDING:
                self._add_pending()

    def _add_pairs(self, left: Ints, right: Ints, over: Floats, times: float) -> None:
        """Add differences to the evidence if ``times`` is 1, or subtract them if it is -1. Each
        ``left`` bot is ahead of the ``right`` bot at the same index by ``over``."""
        for row, column, sign in ((left, right, times), (right, left, -times)):
            np.add.at(self._evidence[0], (row, column), sign * over)
            np.add.at(self._evidence[1], (row, column), times * over**2)
            np.add.at(self._evidence[2], (row, column), times)

    def _add_pending(self) -> None:
        """Compare all bots of each pending draw as if they had sat at different tables. For bots at
        one table, `_compare` has subtracted in advance what this adds."""
        if not self._pending:
            return
        draw, bot, value = (np.concatenate(column) for column in zip(*self._pending, strict=True))
        present, points = np.zeros((2, self.blocks.size, self._draws))
        present[bot, draw] = 1.0
        points[bot, draw] = value
        total, squares, items = self._evidence
        over = points @ present.T
        total += over
        total -= over.T
        over = points**2 @ present.T
        squares += over
        squares += over.T
        squares -= 2 * (points @ points.T)
        items += present @ present.T
        self._pending, self._draws = [], 0

    def _watch(self, block: Ints, bot: Ints, alone: Floats) -> None:
        """Add new entries to the running sums. Then find which of their bots have changed, and
        begin a new version of each, the clearest change first, since the opponents of that bot seem
        to change too. The entries must already be in the history. ``alone`` is as in `_compare`."""
        self._follow(block, bot, alone)
        seen = np.unique(bot)
        while True:
            deviates = np.stack([self._change(seen, window) for window in _WINDOWS])
            window, place = np.unravel_index(deviates.argmax(), deviates.shape)
            if deviates[window, place] <= _ALARM:
                break
            self._begin_version(int(seen[place]), _WINDOWS[window])

    def _follow(self, block: Ints, bot: Ints, alone: Floats) -> None:
        """Add new entries, in any order, to each bot's running sums of ``alone`` and of its square.
        Keep only the latest sums of a bot, as many as the largest window needs."""
        order = np.lexsort((block, bot))
        who, value = bot[order], alone[order]
        first = np.flatnonzero(np.diff(who, prepend=-1))
        times = np.diff(first, append=who.size)
        before = self._count[who]
        count = before + 1 + np.arange(who.size) - np.repeat(first, times)
        for sums, values in zip(self._sums, (value, value**2), strict=True):
            sum = np.cumsum(values)
            sum -= np.repeat(sum[first] - values[first], times)
            sums[who, count % _RING] = sums[who, before % _RING] + sum
        self._count[who[first]] += times

    def _change(self, bots: Ints, window: int) -> Floats:
        """Return, for each bot, how clearly its mean over its last ``window`` blocks differs from
        its mean over its earlier blocks, in either direction. The means are of points without the
        effects of the opponents (``alone``). The result is Student's t as the equivalent normal
        deviate. It is never negative, and is 0 if there are too few blocks or there is no spread.
        The blocks must be in the sums already (see `_follow`)."""
        last = self._count[bots]
        earlier = last - window
        end, cut = (self._sums[:, bots, at % _RING] for at in (last, last - window))
        since, before = end - cut, cut
        times = np.maximum(earlier, 1)
        freedom = times + window - 2
        inside = np.stack((since[1] - since[0] ** 2 / window, before[1] - before[0] ** 2 / times))
        pooled = inside.sum(axis=0) / np.maximum(freedom, 1) * (1 / window + 1 / times)
        # A rare large loss makes the error of its part large.
        apart = inside[0] / window**2 + inside[1] / times**2
        error = np.sqrt(np.maximum(np.maximum(pooled, apart), 0.0))
        over = np.abs(since[0] / window - before[0] / times)
        enough = (earlier >= _BEFORE) & (error > 1e-9)
        student = np.divide(over, error, out=np.zeros_like(over), where=enough)
        answer: Floats = normal_deviate(freedom, student)
        return answer

    def _begin_version(self, bot: int, window: int) -> None:
        """Begin a new version of a bot, to which its last ``window`` blocks then belong. Delete the
        evidence about the bot, and count it as a new arrival."""
        self._add_pending()
        self._evidence[:, bot] = self._evidence[:, :, bot] = 0.0
        self._begin_evidence(bot)
        block, bots, versions, points = self._history()
        last = np.flatnonzero(bots == bot)[-window:]
        self.changed[bot] = True
        self.version[bot] = versions[last] = self._new_versions(1)[0]
        self._parts = [(block, bots, versions, points)]
        self._equations = Equations(self._versions)
        self._equations.add(block, versions, points)
        self._effects, self._estimated = self._equations.effects(_PRIOR)[0], self._all
        # The opponents' values were adjusted for the old version of the bot.
        alone = points + self._of_opponents(block, versions)
        now = versions == self.version[bots]
        self._count[:], self._sums[:] = 0, 0.0
        self._follow(block[now], bots[now], alone[now])
