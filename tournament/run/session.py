"""A session, which gives the blocks of a plan to an executor and stores each match when it ends."""

import bisect
import itertools
import shutil
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from math import inf
from operator import attrgetter
from time import monotonic, sleep
from typing import Final, Self

from msgspec.structs import replace

from tournament.bot.url_bot import StartError
from tournament.config.cup import Cup
from tournament.decisions import exclusion_notices, paused
from tournament.formats import Block, Plan
from tournament.formats.plan import Done, Round, Wait, with_replays
from tournament.formats.scores import Scores
from tournament.model import Present, StoredRun, Upcoming
from tournament.ranking.betting import Bets
from tournament.records import AnyDecision, Join, MatchRecord, MatchSummary, Skip
from tournament.run.consequences import apply_voids
from tournament.run.observer import RunObserver
from tournament.run.outages import Outages
from tournament.run.roster import Roster
from tournament.run.workers.executor import (
    Executor,
    Finished,
    Job,
    Lost,
    Notice,
    RunError,
    Unplayed,
    Voided,
)
from tournament.run.workers.live_table import make_folder
from tournament.store.store import Store, StoreError

_TICK_S: Final = 0.5  # how often the session looks for decisions and silent workers
_SHOW_S: Final = 2.0  # how often it shows on the pages what is played next
_SHOWN: Final = 6  # blocks that the pages show, besides those that are being played


class Session:
    """Plays the unfinished matches of a run. The end of its context closes the executor and the
    roster.

    `exclude` gets a mapping from each bot that no longer plays to a sentence for its author. It is
    called whenever that mapping may have changed. The constructor raises StichError if the gateway
    no longer answers, and StoreError if the store cannot be used.
    """

    def __init__(
        self,
        plan: Plan,
        roster: Roster,
        executor: Executor,
        store: Store,
        observer: RunObserver,
        exclude: Callable[[Mapping[str, str]], None] = lambda _bots: None,
    ) -> None:
        self._plan = plan
        self._roster = roster
        self._executor = executor
        self._store = store
        self._observer = observer
        self._exclude = exclude
        self._run: StoredRun = store.run()
        self._scores = Scores(store)
        self._voided: set[int] = set()  # blocks whose cards bots may know
        self._replays: Counter[str] = Counter()  # how often each match was void
        self._use_cup(roster.cup(self._run))
        self._outages = Outages(self._cup)
        self._playing: dict[int, Block] = {}  # by number
        self._waiting: deque[Block] = deque()  # to be handed out
        self._lost: set[int] = set()  # numbers of blocks
        self._finished: dict[int, int] = {}  # by block, a bit for each match
        self._recalling = False  # nothing is handed out meanwhile
        self._read_decisions = len(self._run.decisions)
        self._read_at = self._shown_at = 0.0
        self._present = self._run.present
        self._live = make_folder(self._run.cup, self._run.id)
        self.look: Bets | None = None
        """The latest interim result of a duel, or None before the first one."""

    def _use_cup(self, cup: Cup) -> None:
        """Play with this cup. If several bots have the same URL, the number of tables at which any
        of them plays at once is at most the lowest of their `max_matches`."""
        self._cup, self._remote = cup, cup.remote
        self._urls: dict[str, str] = {}  # by bot
        self._most: dict[str, int] = {}  # how many tables may use a URL at once
        for bot in cup.bots:
            if bot.url is not None:
                url = self._urls[bot.name] = bot.url.rstrip("/")
                self._most[url] = min(bot.max_matches, self._most.get(url, bot.max_matches))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._outages.close()
        self._roster.close()
        self._executor.close()
        if self._live is not None:
            shutil.rmtree(self._live, ignore_errors=True)
        with suppress(StoreError):
            self._show(Present())

    def play(self, *warnings: str) -> Done:
        """Play all unfinished matches, store the end of the run, and return how the cup ended.

        Wait while the run is paused or no round can begin. Once all bots are ready, report each of
        `warnings` that is not "".

        Raises:
            StartError: if, at the beginning, a bot cannot play or the rules service does not
                answer.
            RunError: if the run cannot continue, for instance because the rules service has failed.
            StoreError: if the store cannot be used.
            StichError: if the gateway no longer answers, or cannot read the tokens.
        """
        # In a ladder, bots that connect may be away, and the roster checks them.
        bots = [bot for bot in self._cup.bots if not (bot.connect and self._cup.is_ladder)]
        started = sum(bot.command is not None for bot in bots)
        self._observer.starting(started, len(bots) - started)
        connecting = set(self._cup.names).difference(bot.name for bot in bots)
        inspected = self._executor.inspect(self._run.gone | connecting)
        if inspected.problems:
            raise StartError("\n".join(inspected.problems))
        self._store.record_about(inspected.about)
        for warning in filter(None, warnings):
            self._observer.warning(warning)
        # Read once: later only this session adds matches.
        self._read_matches()
        self._plan.restart()
        self._observer.begin(*self._counts())
        if stopped := paused(self._run.decisions):
            self._observer.decided(stopped)
        waits = False
        while True:
            self._act()
            step = self._plan.next(self._run, self._scores)
            match step:
                case Round():
                    waits = False
                    self._report_look()
                    self._play(step)
                case Wait(reason):
                    if not waits:
                        self._observer.notice(reason)
                    waits = True
                    self._show_present()
                    sleep(_TICK_S)
                    self._new_decisions(every_s=0)
                case Done():
                    # Once the run is over, no match can become void without opening it again.
                    if not self._new_decisions(every_s=0):
                        self._report_look()
                        self._store.finish(step.places, step.settled)
                        return step

    def _report_look(self) -> None:
        look = self._plan.look
        if look is not None and look is not self.look:
            self.look = look
            self._observer.look(look, *self._cup.names)

    def _act(self) -> None:
        """Carry out decisions. While the run is paused, wait for new decisions."""
        while True:
            if apply_voids(self._store, self._plan):
                self._run = self._store.run()
                self._read_matches()
            self._observer.planned(*self._counts())
            self._exclude(exclusion_notices(self._run.decisions))
            if not paused(self._run.decisions):
                return
            while not self._new_decisions():
                self._roster.update(self._run)
                self._show(replace(self._present, connected=self._roster.connected))
                sleep(_TICK_S)

    def _counts(self) -> tuple[int, int | None]:
        """Store the planned number of matches. Return the number of finished matches, and the
        planned number (None in a ladder)."""
        total = self._plan.total(self._run, self._scores, self._run.gone)
        self._store.record_total(total)
        done = sum(map(int.bit_count, self._finished.values()))
        return done, total if self._plan.blocks else None

    def _read_matches(self) -> None:
        voids = self._store.voids()
        self._voided = {void.block for void in voids}
        self._replays = Counter(void.match for void in voids)
        self._finished.clear()
        self._outages.forget_finished()
        for match in self._store.summaries():
            self._finish(match)

    def _finish(self, match: MatchSummary | MatchRecord) -> None:
        self._finished[match.block] = self._finished.get(match.block, 0) | 1 << match.number
        self._outages.finished(match)

    def _missing(self, block: Block) -> tuple[int, ...]:
        """Return the numbers of the block's unfinished matches, counted from 0."""
        done = self._finished.get(block.number, 0)
        return tuple(number for number in range(len(block.matches)) if not done >> number & 1)

    def _new_decisions(self, every_s: float = _TICK_S) -> bool:
        """Read and report new decisions, unless this was done less than `every_s` seconds ago.
        Return whether the tables must stop so that the new decisions can be carried out."""
        if monotonic() < self._read_at + every_s:
            return False
        self._read_at = monotonic()
        new: list[AnyDecision] = self._store.decisions()[self._read_decisions :]
        if new:
            self._read_decisions += len(new)
            self._run = self._store.run()
        for decision in new:
            self._observer.decided(decision)
        # A bot that joins, or tables that are skipped, do not stop the other tables.
        return any(not isinstance(decision, Join | Skip) for decision in new)

    def _play(self, round: Round) -> None:
        """Play a round until its blocks are finished or skipped, or until new decisions must be
        carried out."""
        if round.epoch is not None:
            self._store.add(round.epoch)
            self._run = self._store.run()
            self._observer.planned(*self._counts())
        self._use_cup(self._roster.cup(self._run))
        self._outages.begin_round(round.number, self._cup, self._store.voids())
        blocks = self._unfinished(round.blocks)
        while True:
            away, ready = set(self._outages.away), sum(1 for _ in self._ready())
            while ready < self._roster.ahead and (block := next(blocks, None)) is not None:
                self._waiting.append(block)
                ready += away.isdisjoint(block.table)
            seated = {bot for block in self._waiting for bot in block.table}
            for bot in sorted(self._roster.missing(self._cup, seated) - self._outages.expired):
                self._outages.wait(bot)  # before a table begins without it
            if not (self._waiting or self._playing):
                return
            idle = not self._playing and next(self._ready(), None) is None
            self._outages.update(self._roster.patience_s if idle else inf)
            self._roster.update(self._run)
            self._skip()
            self._show_present()
            self._hand_out()
            self._receive()
            if self._new_decisions():
                self._recall()
                # The plan may have seen these decisions before: it returns the round again.
                self._plan.restart()
                return

    def _skip(self) -> None:
        untouched = (
            block
            for block in self._waiting
            if not self._finished.get(block.number) and block.number not in self._voided
        )
        skips = self._roster.skips(self._run, untouched, self._outages.expired)
        if skips:
            self._store.decide(*skips)
            gone = {match for skip in skips for match in skip.matches}
            self._waiting = deque(
                block for block in self._waiting if gone.isdisjoint(block.matches)
            )
            self._run = self._store.run()
            self._observer.planned(*self._counts())

    def _recall(self) -> None:
        """Ask the tables to stop, wait until each has ended its current match, and clear the
        waiting blocks."""
        self._recalling = True
        self._executor.recall()
        while self._playing:
            self._receive()
        self._recalling = False
        self._waiting.clear()

    def _unfinished(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield the `blocks` that still have matches to play, as of the moment when each is
        yielded."""
        for block in blocks:
            if not self._cup.format.skips(block.table, self._run.gone) and self._missing(block):
                yield block

    def _show_present(self) -> None:
        """Store what is played now and next and which bots are connected, for the pages, at most
        every two seconds. If the set of bots that are away has changed, store it at once, and
        report which bots are away.

        Raises:
            StoreError: if the database fails.
        """
        away = self._outages.away
        if away != self._present.away:
            self._observer.away(away)
        elif monotonic() < self._shown_at + _SHOW_S:
            return
        self._shown_at = monotonic()
        most = self._cup.run.concurrency + _SHOWN
        blocks = itertools.islice(itertools.chain(self._playing.values(), self._ready()), most)
        upcoming = tuple(
            Upcoming(
                block=block.number,
                stage=block.stage,
                bots=block.table,
                played=self._finished.get(block.number, 0).bit_count(),
                seatings=len(block.seatings),
            )
            for block in blocks
        )
        self._show(Present(away=away, connected=self._roster.connected, upcoming=upcoming))

    def _show(self, present: Present) -> None:
        if present != self._present:
            self._present = present
            self._store.show(present)

    def _ready(self) -> Iterator[Block]:
        """Return the waiting blocks in which no bot is away, in the drawn order."""
        away = set(self._outages.away)
        return (block for block in self._waiting if away.isdisjoint(block.table))

    def _urls_of(self, block: Block) -> set[str]:
        return {self._urls[name] for name in block.table if name in self._urls}

    def _has_room(self, block: Block) -> bool:
        used = Counter(url for other in self._playing.values() for url in self._urls_of(other))
        return all(used[url] < self._most[url] for url in self._urls_of(block))

    def _hand_out(self) -> None:
        """Give blocks to free tables in the drawn order, except blocks with a bot that is busy or
        away. Give out nothing while the tables are being recalled."""
        while not self._recalling and self._executor.has_free_table:
            block = next(filter(self._has_room, self._ready()), None)
            if block is None:
                return
            self._waiting.remove(block)
            others = len(self._playing)  # tables that will be free sooner
            self._playing[block.number] = block
            later = tuple(itertools.islice(self._ready(), others, others + 1))
            seated = {*block.table, *(bot for other in later for bot in other.table)}
            job = Job(
                with_replays(block, self._run.seed, self._remote, self._replays),
                self._missing(block),
                wait_for=self._outages.wait_for(block.table) - self._run.gone,
                absent=self._run.gone,
                anew=block.number in self._voided,
                prefetch=later,
                joined=tuple(bot for bot in self._cup.bots if bot.connect and bot.name in seated),
                live=self._live,
            )
            self._executor.submit(job)

    def _receive(self) -> None:
        """Wait up to half a second for events from the tables, and act on each event.

        Raises:
            RunError: as in `Executor.receive`, or if a block was lost for the second time.
            StoreError: if a match cannot be stored.
        """
        for event in self._executor.receive(_TICK_S):
            match event:
                case Finished(record, last):
                    try:
                        if last:
                            del self._playing[record.block]
                            self._hand_out()  # first, so that no table waits for the store
                    finally:
                        self._store.add(record)
                    self._finish(record)
                    self._observer.match(record)
                case Voided(record):
                    self._store.add(record)
                    self._voided.add(record.block)
                    self._replays[record.match] += 1
                    self._outages.add(record)
                    self._observer.void(record)
                    self._play_rest(record.block)
                case Lost(number, why):
                    if number in self._lost:
                        raise RunError(
                            f"Block {number} was lost twice, now because {why}; see above. What is"
                            " finished is kept."
                        )
                    self._lost.add(number)
                    self._observer.lost(number, why)
                    self._play_rest(number)
                case Unplayed(number):
                    self._play_rest(number)
                case Notice(text):
                    self._observer.notice(text)

    def _play_rest(self, number: int) -> None:
        """Record that no table plays the block with this number any more. If the block is not
        complete, put it back in its place among the waiting blocks."""
        for block in self._unfinished([self._playing.pop(number)]):
            bisect.insort(self._waiting, block, key=attrgetter("number"))
