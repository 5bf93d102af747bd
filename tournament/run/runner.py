"""The runner: it gives blocks to an executor, which plays them, and commits each match as it ends.

Only the runner writes matches to the store. Results depend neither on the number of tables nor on
how often a run was stopped: everything follows from the cup, and later rounds from the store.
"""

import bisect
import itertools
import shutil
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from math import inf
from operator import attrgetter
from time import monotonic, sleep
from urllib.parse import urlsplit

from tournament.bot.url_bot import StartError
from tournament.config.cup import Cup
from tournament.decisions import absent, exclusion_notices, finished_by, is_skipped, paused
from tournament.formats import Block, Round, Schedule
from tournament.formats.round_scores import RoundScores
from tournament.records import DecisionKind, MatchRecord, MatchSummary
from tournament.run.entrants import Entrants
from tournament.run.executor import (
    Executor,
    Finished,
    Job,
    Lost,
    Notice,
    RunError,
    Unplayed,
    Voided,
)
from tournament.run.live_table import make_folder
from tournament.run.observer import Observer
from tournament.run.outages import Outages
from tournament.run.voiding import apply_voids
from tournament.store.store import Store, StoreError

_NO_INTERRUPTION = (DecisionKind.JOIN, DecisionKind.SKIP)  # these decisions do not stop the tables
_TICK_S = 0.5  # how often the runner looks for decisions and silent workers
AHEAD = 64
"""How many blocks wait for a table: as many may overtake one whose bots by URL are busy."""
PATIENCE_S = 20.0
"""How long a ladder with nothing else to play waits for a bot: its program tries to connect again
every 15 seconds or more often."""
MAX_LOSSES = 2
"""A block that has ended so many workers is not tried again."""


def canonical(url: str) -> str:
    """The normal form of a URL: the same for all URLs that mean the same."""
    parts = urlsplit(url)
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return f"{parts.scheme}://{parts.hostname}:{port}{parts.path.rstrip('/')}"


class Runner:
    """One call of `stich run`: a context manager that closes the executor and the entrants (of a
    ladder). `exclude` is called with the bots that no longer play, each with a sentence for its
    author, whenever they may have changed."""

    def __init__(
        self,
        cup: Cup,
        schedule: Schedule,
        store: Store,
        executor: Executor,
        observer: Observer,
        exclude: Callable[[Mapping[str, str]], None] = lambda _bots: None,
        entrants: Entrants | None = None,
    ) -> None:
        self._set_cup(cup)
        self._schedule = schedule
        self._store = store
        self._executor = executor
        self._observer = observer
        self._exclude = exclude
        self._entrants = entrants
        self._epoch = 0
        self._playing: dict[int, Block] = {}  # by number
        self._losses: Counter[int] = Counter()
        self._finished: dict[int, int] = {}  # by block, a bit for each match
        voids = list(store.voids())
        self._outages = Outages(cup, voids)
        self._voided = {void.block for void in voids}  # blocks of which bots may know the cards
        self._away = tuple(store.get("away", ()))
        self._waiting: deque[Block] = deque()  # to be handed out
        self._recalling = False  # nothing is handed out
        self._decisions = store.decisions()
        self._read_at = 0.0
        self._live = make_folder(cup, store.get("run"))

    def _set_cup(self, cup: Cup) -> None:
        self._cup = cup
        self._urls = {bot.name: canonical(bot.url) for bot in cup.bots if bot.url is not None}
        self._most: dict[str, float] = {}  # tables at once, by URL
        for name, url in self._urls.items():
            self._most[url] = min(self._most.get(url, inf), cup.bot(name).max_matches)

    def __enter__(self) -> "Runner":
        return self

    def __exit__(self, *exc: object) -> None:
        self._outages.close()
        self._executor.close()
        if self._entrants is not None:
            self._entrants.close()
        if self._live is not None:
            shutil.rmtree(self._live, ignore_errors=True)
        with suppress(StoreError):
            self._keep_away()

    def _inspect(self) -> None:
        """Start or reach every bot once. Store what they state about themselves, if that has
        changed."""
        found = self._executor.inspect(absent(self._decisions))
        if found.problems:
            raise StartError("\n".join(found.problems))
        kept: dict[str, list[Mapping[str, str]]] = self._store.get("about", {})
        new = {
            bot: [*kept.get(bot, []), said]
            for bot, said in found.about.items()
            if said and [said] != kept.get(bot, [])[-1:]
        }
        if new:
            self._store.put({"about": {**kept, **new}})

    def run(self, *warnings: str) -> None:
        """Play all matches that are not finished. Warnings that are not empty are passed on once
        all bots are ready. StartError if a bot cannot play; RunError or StoreError if the run
        cannot continue."""
        started = sum(bot.command is not None for bot in self._cup.bots)
        self._observer.starting(started, len(self._cup.bots) - started)
        self._inspect()
        for warning in filter(None, warnings):
            self._observer.warning(warning)
        # Read once: later only this runner adds matches.
        self._read_finished()
        if self._store.get("begun") is None:
            self._store.put({"begun": datetime.now(UTC).isoformat(timespec="seconds")})
        self._keep_away()
        self._observer.begin(self._done(), self._plan())
        if stopped := paused(self._decisions):
            self._observer.decided(stopped)
        while True:
            self._act()
            rounds = self._schedule.open_rounds(RoundScores(self._store))
            if all(self._play(round) for round in rounds) and self._is_over():
                return

    def _is_over(self) -> bool:
        """Whether the run is over. In a ladder, begin the next epoch, or wait until one can begin
        or a decision must be acted on."""
        waits = False
        while self._entrants is not None and not self._new_decisions(every_s=0):
            if finished_by(self._decisions):
                return True
            if self._entrants.begin_epoch(self._decisions):
                return False
            if not waits:
                self._observer.notice(
                    "The ladder waits until enough bots for a table are connected."
                )
            waits = True
            sleep(_TICK_S)
        return self._entrants is None

    def _act(self) -> None:
        """Carry out the decisions of the organiser; wait while the cup is paused."""
        while True:
            if apply_voids(self._store, self._cup, self._schedule):
                self._read_finished()
                self._voided.update(void.block for void in self._store.voids())
            self._observer.planned(self._done(), self._plan())
            self._exclude(exclusion_notices(self._decisions))
            if not paused(self._decisions):
                return
            while not self._new_decisions():
                if self._entrants is not None:
                    self._entrants.update(self._decisions)
                sleep(_TICK_S)

    def _read_finished(self) -> None:
        self._finished.clear()
        for match in self._store.summaries():
            self._finish(match)

    def _finish(self, match: MatchSummary | MatchRecord) -> None:
        self._finished[match.block] = self._finished.get(match.block, 0) | 1 << match.number

    def _done(self) -> int:
        """The number of finished matches."""
        return sum(map(int.bit_count, self._finished.values()))

    def _missing(self, block: Block) -> tuple[int, ...]:
        """The matches of a block that are not finished, by their numbers."""
        done = self._finished.get(block.number, 0)
        return tuple(number for number in range(len(block.matches)) if not done >> number & 1)

    def _plan(self) -> int | None:
        """Store the number of planned matches and return it; None for a ladder, where it covers
        only the present epoch."""
        scores = RoundScores(self._store)
        total = self._schedule.planned_matches(absent(self._decisions), scores)
        if total != self._store.get("total"):
            self._store.put({"total": total})
        return None if self._cup.is_ladder else total

    def _new_decisions(self, every_s: float = _TICK_S) -> bool:
        """Whether there are new decisions to act on. Reading them takes time, so False if the last
        look was less than `every_s` ago."""
        if monotonic() < self._read_at + every_s:
            return False
        self._read_at = monotonic()
        known, self._decisions = len(self._decisions), self._store.decisions()
        new = self._decisions[known:]
        for decision in new:
            self._observer.decided(decision)
        return any(one.kind not in _NO_INTERRUPTION for one in new)

    def _play(self, round: Round) -> bool:
        """Play a round to its end; False if decisions must be acted on first."""
        blocks = self._unfinished(round.blocks)
        if self._entrants is not None:
            self._waiting.extend(blocks)  # all of the epoch, so that none is skipped too late
            self._admit(self._entrants, round.number)
        while True:
            room = max(0, AHEAD - len(self._ready()))
            self._waiting.extend(itertools.islice(blocks, room))
            if not (self._waiting or self._playing):
                # However recent the last look was: once the round is over, none of its matches can
                # become void.
                return not self._new_decisions(every_s=0)
            all_wait = self._entrants is not None and not (self._playing or self._ready())
            self._outages.update(PATIENCE_S if all_wait else inf)
            if self._keep_away():
                self._observer.away(self._outages.away)
            if self._entrants is not None:
                if self._entrants.update(self._decisions):
                    self._wait_for_absent(self._entrants)
                self._skip_tables(self._entrants)
            self._hand_out()
            self._receive()
            if self._new_decisions():
                self._recall()
                return False

    def _admit(self, entrants: Entrants, epoch: int) -> None:
        """Admit the bots that have joined, and wait for the bots of an epoch that are away."""
        self._set_cup(entrants.cup(self._decisions))
        if epoch != self._epoch:
            self._epoch = epoch
            self._outages.close()
            voids = (void for void in self._store.voids() if void.round == epoch)
            self._outages = Outages(self._cup, voids)
        self._wait_for_absent(entrants)

    def _wait_for_absent(self, entrants: Entrants) -> None:
        """Begin no table of a bot that is not there."""
        seated = {bot for block in self._waiting for bot in block.table}
        for bot in sorted(seated - entrants.reachable(self._cup) - self._outages.expired):
            self._outages.wait(bot)

    def _skip_tables(self, entrants: Entrants) -> None:
        """Skip tables of an epoch that have not begun, if a bot was away too long or the ladder is
        to end. Tables that have begun are finished, so leaving gains nothing."""
        over = finished_by(self._decisions)
        for bot in [""] if over else sorted(self._outages.expired):
            skipped = [
                block
                for block in self._waiting
                if (over or bot in block.table)
                and not self._finished.get(block.number)
                and block.number not in self._voided
            ]
            if skipped:
                why = "the ladder ends" if over else f"{bot} was away"
                matches = [match for block in skipped for match in block.matches]
                self._store.decide(DecisionKind.SKIP, why, bot, None, matches)
                if not over:
                    entrants.record_absence(bot)
                self._waiting = deque(block for block in self._waiting if block not in skipped)
                self._observer.planned(self._done(), self._plan())

    def _recall(self) -> None:
        """Wait until every table has finished its match."""
        self._recalling = True
        self._executor.recall()
        while self._playing:
            self._receive()
        self._recalling = False
        self._waiting.clear()

    def _unfinished(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Those of these blocks of which matches are still to be played."""
        gone = absent(self._decisions)
        for block in blocks:
            if not is_skipped(self._cup, block.table, gone) and self._missing(block):
                yield block

    def _keep_away(self) -> bool:
        """Store which bots are away, for the pages; whether that has changed."""
        away, self._away = self._away, self._outages.away
        if self._away != away:
            self._store.put({"away": self._away})
        return self._away != away

    def _ready(self) -> list[Block]:
        """The blocks that wait for a table only, not for bots that are away."""
        away = set(self._outages.away)
        return [block for block in self._waiting if away.isdisjoint(block.table)]

    def _urls_of(self, block: Block) -> set[str]:
        return {self._urls[name] for name in block.table if name in self._urls}

    def _has_room(self, block: Block) -> bool:
        """Whether each bot by URL of a block plays at fewer tables than it may."""
        urls = self._urls_of(block)
        playing = self._playing.values() if urls else ()
        now = Counter(url for other in playing for url in self._urls_of(other))
        return all(now[url] < self._most[url] for url in urls)

    def _hand_out(self) -> None:
        """Give blocks to free tables in the drawn order, so that the played ones are a fair sample
        at every moment; skip those whose bots by URL are busy or away."""
        ready = self._ready()
        while not self._recalling and self._executor.has_free_table:
            block = next(filter(self._has_room, ready), None)
            if block is None:
                return
            ready.remove(block)
            self._waiting.remove(block)
            others = len(self._playing)  # tables that will be free sooner
            self._playing[block.number] = block
            gone = absent(self._decisions)
            later = tuple(ready[others : others + 1])
            seated = {bot for one in (block, *later) for bot in one.table}
            job = Job(
                block,
                self._missing(block),
                wait_for=self._outages.wait_for - gone,
                absent=gone,
                anew=block.number in self._voided,
                prefetch=later,
                joined=tuple(bot for bot in self._cup.bots if bot.connect and bot.name in seated),
                live=self._live,
            )
            self._executor.submit(job)

    def _receive(self) -> None:
        """Wait for events of the tables, and act on them."""
        for event in self._executor.receive(_TICK_S):
            match event:
                case Finished(record, last):
                    if last:
                        del self._playing[record.block]
                        self._hand_out()  # first, so that no table waits for the store
                    self._store.add(record)
                    self._finish(record)
                    self._observer.match(record)
                case Voided(record):
                    self._store.add_void(record)
                    self._voided.add(record.block)
                    self._outages.add(record)
                    self._observer.void(record)
                    self._play_rest(record.block)
                case Lost():
                    self._on_loss(event)
                case Unplayed(number):
                    self._play_rest(number)
                case Notice(text):
                    self._observer.notice(text)

    def _play_rest(self, number: int) -> None:
        """The table of this block is free: the rest of the block is played in the drawn order."""
        for block in self._unfinished([self._playing.pop(number)]):
            bisect.insort(self._waiting, block, key=attrgetter("number"))

    def _on_loss(self, lost: Lost) -> None:
        """A worker is lost: give what it had not finished to another one."""
        self._losses[lost.block] += 1
        if self._losses[lost.block] >= MAX_LOSSES:
            raise RunError(
                f"Block {lost.block} was lost twice, now because {lost.why}; see above. What is"
                " finished is kept."
            )
        self._observer.lost(lost.block, lost.why)
        self._play_rest(lost.block)
