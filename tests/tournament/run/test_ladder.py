"""A ladder from its first epoch to its end: bots come and go, the runner is stopped and resumed."""

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from tests.support import played
from tests.support.cups import stich
from tests.support.one_table import OneTable, Organiser, Stopped, stop
from tools import hostile
from tools.hostile.server import ABOUT
from tournament.config.cup import Bot, Clock, Cup, JoinRules
from tournament.formats.ladder import Ladder, LadderPlan
from tournament.records import (
    AnyDecision,
    Disqualify,
    Finish,
    Join,
    Pause,
    Skip,
    Undo,
    Void,
    Withdraw,
)
from tournament.results.standings import standings
from tournament.results.verify import verify
from tournament.run import entrants, session
from tournament.run.entrants import Checked, Entrants
from tournament.run.executor import Executor
from tournament.run.joining import join, leave
from tournament.run.resume import CupChangedError, only_runner, resume
from tournament.run.session import Session
from tournament.run.voiding import NotVoidable, last_exclusion, matches_of
from tournament.store import rows
from tournament.store.chain import Chain
from tournament.store.store import Store
from tournament.store.tables import epochs

HOUSE = ("house0", "house1", "house2")
JOINED = ("ann", "bob", "cat")
NOW = datetime(2026, 12, 1, tzinfo=UTC)
LADDER = replace(
    played.cup(HOUSE, format="ladder", deals=1),
    join=JoinRules(open=True),
    clock=Clock(2000, 0),
    outage_s=1,
)
Act = Callable[[], object]


@dataclass
class Hall:
    """The end of the connections of the bots of a test; those in `away` are not there."""

    urls: Mapping[str, str]
    away: set[str] = field(default_factory=set)
    failed: dict[str, str] = field(default_factory=dict)
    before_look: Act = lambda: None

    def tables(self) -> Mapping[str, int]:
        self.before_look()
        return dict.fromkeys(self.urls.keys() - self.away - self.failed.keys(), 2)

    def url_of(self, bot: str) -> str:
        return "http://127.0.0.1:9" if bot in self.away else self.urls[bot]

    def fail(self, bots: Mapping[str, str]) -> None:
        self.failed |= bots


@pytest.fixture(autouse=True)
def every_look_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The runner looks for decisions after every block: to its clock, each takes a second."""
    monkeypatch.setattr(session, "monotonic", itertools.count(1.0).__next__)


@pytest.fixture
def hall() -> Iterator[Hall]:
    with ExitStack() as stack:
        yield Hall({bot: stack.enter_context(hostile.running(hostile.toy(bot))) for bot in JOINED})


def play(
    target: Path,
    hall: Hall,
    after: Mapping[int, Act],
    cup: Cup = LADDER,
    now: Callable[[], datetime] = lambda: NOW,
    executor: Executor | None = None,
) -> None:
    with Store.create(target) as store, only_runner(store):
        setup = resume(store, cup).setup
        come = Entrants(cup, store, hall, now)
        observer = Organiser(store, after)
        tables = executor or OneTable(cup)
        with Session(LadderPlan(setup, come), come, tables, store, observer) as running:
            running.play()


def enter(target: Path, *bots: str) -> None:
    for bot in bots:
        join(str(target), LADDER, bot, bot)


def decide(target: Path, *decisions: AnyDecision) -> None:
    with Store.open(target) as store:
        store.decide(*decisions)


def finish(target: Path) -> Act:
    return partial(decide, target, Finish())


def table(target: Path) -> dict[str, Any]:
    """The table of a run that can be verified, without what a clock measured."""
    with Store.open(target) as store:
        assert verify(store).mismatches == []
        data = standings(store).to_dict()
    for line in data["standings"]:
        del line["move_ms"]
    del data["decisions"], data["incidents"]
    return data


def rosters(target: Path) -> list[Sequence[str]]:
    with Store.open(target) as store:
        return [epoch.bots for epoch in store.epochs()]


def test_a_stopped_ladder_goes_on_to_the_same_table(tmp_path: Path, hall: Hall) -> None:
    """Bots join in its first epoch, which has 18 matches; the second has 36."""
    whole, stopped = tmp_path / "whole", tmp_path / "stopped"
    for target, stops in ((whole, ()), (stopped, (11, 18, 31))):
        after: dict[int, Act] = {4: partial(enter, target, *JOINED), 54: finish(target)}
        for at in stops:
            with suppress(Stopped):
                play(target, hall, {**after, at: stop})
        play(target, hall, after)
    assert rosters(whole) == rosters(stopped) == [HOUSE, (*HOUSE, *JOINED)]
    assert table(whole) == table(stopped)
    assert table(whole)["matches"] == 54


def test_a_ladder_waits_until_there_are_bots_for_a_table(tmp_path: Path, hall: Hall) -> None:
    cup = replace(LADDER, bots=LADDER.bots[:1])
    coming = [partial(enter, tmp_path, "bob"), partial(enter, tmp_path, "ann")]

    def come() -> None:
        with Store.open(tmp_path) as store:
            known = {one.bot for one in store.decisions() if isinstance(one, Join)}
            if coming and known <= store.run().passed:
                coming.pop()()

    hall.before_look = come
    play(tmp_path, hall, {18: finish(tmp_path)}, cup)
    assert rosters(tmp_path) == [("house0", "ann", "bob")]


def test_a_restart_does_not_wait_for_bots_that_are_not_back_yet(tmp_path: Path, hall: Hall) -> None:
    with suppress(Stopped):
        play(tmp_path, hall, {4: partial(enter, tmp_path, *JOINED), 20: stop})
    with Store.open(tmp_path) as store:
        tables = OneTable(LADDER.with_joined(store.decisions()))
    play(tmp_path, hall, {54: finish(tmp_path)}, executor=tables)
    assert tables.inspected == {*HOUSE}


def test_a_bot_sits_at_no_more_tables_than_it_has(tmp_path: Path, hall: Hall) -> None:
    tables = OneTable(LADDER, 10)
    with suppress(Stopped):
        play(tmp_path, hall, {4: partial(enter, tmp_path, *JOINED), 20: stop})
    play(tmp_path, hall, {54: finish(tmp_path)}, executor=tables)
    assert {tables.most[bot] for bot in JOINED} == {2}, "as the hall says"
    assert tables.most["house0"] > 2


def test_nobody_waits_for_a_bot_by_url_that_does_not_answer(tmp_path: Path, hall: Hall) -> None:
    cup = replace(LADDER, bots=(*LADDER.bots, Bot("far", url="http://127.0.0.1:9")))
    play(tmp_path, hall, {18: finish(tmp_path)}, cup)
    assert rosters(tmp_path) == [HOUSE]


def test_what_has_begun_is_finished_and_no_more(tmp_path: Path, hall: Hall) -> None:
    play(tmp_path, hall, {2: finish(tmp_path)})
    with Store.open(tmp_path) as store:
        assert store.count() == 6
        said = store.run().incidents()[-1]
    assert said == "12 matches not played, because a bot was away or the ladder ended."
    assert table(tmp_path)["finished"]


def test_the_end_of_a_ladder_ends_its_pause(tmp_path: Path, hall: Hall) -> None:
    def pause_and_finish() -> None:
        decide(tmp_path, Pause())
        decide(tmp_path, Finish())

    play(tmp_path, hall, {2: pause_and_finish})
    assert table(tmp_path)["matches"] == 6


def test_a_paused_ladder_ends_when_it_is_time(tmp_path: Path, hall: Hall) -> None:
    clock = [NOW - timedelta(seconds=1)]

    def pause() -> None:
        decide(tmp_path, Pause())
        clock.append(NOW)

    ends = replace(LADDER, format=Ladder(cards=LADDER.format.cards, ends=NOW.isoformat()))
    play(tmp_path, hall, {2: pause}, ends, lambda: clock[-1])
    assert table(tmp_path)["matches"] == 6


def test_after_its_first_draw_a_ladder_is_no_other(tmp_path: Path, hall: Hall) -> None:
    def stop_after_draw() -> None:
        with Store.open(tmp_path) as store:
            if store.epochs():
                stop()

    hall.before_look = stop_after_draw
    with suppress(Stopped):
        play(tmp_path, hall, {})
    with Store.open(tmp_path) as store:
        assert (store.count(), len(store.epochs())) == (0, 1)
        with pytest.raises(CupChangedError, match='"house2" is gone'):
            resume(store, replace(LADDER, bots=LADDER.bots[:2]))


def test_pages_do_not_show_who_was_connected_before(tmp_path: Path, hall: Hall) -> None:
    connected: list[object] = []

    def look() -> None:
        with Store.open(tmp_path) as store:
            connected.append(store.present().connected)

    play(tmp_path, hall, {4: partial(enter, tmp_path, *JOINED), 20: look, 54: finish(tmp_path)})
    look()
    assert connected == [JOINED, ()]


def test_a_clock_that_is_set_back_does_not_take_back_the_end(tmp_path: Path, hall: Hall) -> None:
    cup = replace(LADDER, format=Ladder(cards=LADDER.format.cards, ends=NOW.isoformat()))
    clock = [NOW - timedelta(seconds=1)]
    play(tmp_path, hall, {18: partial(clock.append, NOW)}, cup, lambda: clock[-1])
    clock.append(NOW - timedelta(days=1))
    play(tmp_path, hall, {}, cup, lambda: clock[-1])
    assert len(rosters(tmp_path)) == 1
    table(tmp_path)


def test_tables_of_a_bot_that_stays_away_are_left_out(tmp_path: Path, hall: Hall) -> None:
    """It is away when the runner comes back; what had begun it loses by faults."""
    with suppress(Stopped):
        play(tmp_path, hall, {4: partial(enter, tmp_path, "ann"), 20: stop})
    hall.away.add("ann")
    play(tmp_path, hall, {60: finish(tmp_path)})
    with Store.open(tmp_path) as store:
        (skipped, *_) = [one for one in store.decisions() if isinstance(one, Skip)]
        assert (skipped.bot, skipped.why) == ("ann", "ann was away")
        seated = [match for match in store.summaries() if "ann" in match.table]
        assert {match.block for match in seated} <= {7}, "the block that had begun"
    assert rosters(tmp_path)[1:3] == [(*HOUSE, "ann"), HOUSE]
    table(tmp_path)


def test_nobody_waits_long_for_a_bot_that_goes_away(
    tmp_path: Path, hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Entrants, "patience_s", 0.0)
    monkeypatch.setattr(entrants, "monotonic", itertools.count(0.0, 3.0).__next__)
    gone = partial(hall.away.add, "ann")
    after: dict[int, Act] = {4: partial(enter, tmp_path, "ann"), 20: gone, 60: finish(tmp_path)}
    play(tmp_path, hall, after, replace(LADDER, outage_s=300))
    with Store.open(tmp_path) as store:
        skips = [one for one in store.decisions() if isinstance(one, Skip)]
        assert [one.bot for one in skips[:-1]] == ["ann"]
        assert list(store.voids()) == []
    assert rosters(tmp_path)[1:3] == [(*HOUSE, "ann"), HOUSE]
    table(tmp_path)


def test_nobody_is_away_in_an_epoch_without_tables_of_it(tmp_path: Path, hall: Hall) -> None:
    away: list[object] = []

    def look() -> None:
        with Store.open(tmp_path) as store:
            away.append((len(store.epochs()), store.present().away))

    with suppress(Stopped):
        play(tmp_path, hall, {4: partial(enter, tmp_path, "ann"), 20: stop})
    hall.away.add("ann")
    gone = partial(leave, str(tmp_path), LADDER, "ann")
    after: dict[int, Act] = {22: look, 23: gone, 60: look, 61: finish(tmp_path)}
    play(tmp_path, hall, after, replace(LADDER, outage_s=60))
    assert away == [(2, ("ann",)), (4, ())]


def test_a_bot_that_goes_away_again_and_again_rests(tmp_path: Path, hall: Hall) -> None:
    clock = [NOW]
    with Store.create(tmp_path) as store:
        resume(store, LADDER)
        enter(tmp_path, "ann")
        with closing(Entrants(LADDER, store, hall, lambda: clock[-1])) as entrants:
            gathered = []
            for outages, passed in ((0, 0), (1, 0), (1, 1), (0, 300), (1, 3600)):
                for _ in range(outages):
                    entrants.record_absence("ann")
                clock.append(clock[-1] + timedelta(seconds=passed))
                gathered.append(entrants.gather(store.run()))
    seated = ["ann" in bots for bots in gathered]
    assert seated == [True, True, False, True, True]


def test_bots_that_leave_or_are_excluded_play_no_more(tmp_path: Path, hall: Hall) -> None:
    with Store.create(tmp_path) as store:
        resume(store, LADDER)
    enter(tmp_path, *JOINED)

    def exclude() -> None:
        leave(str(tmp_path), LADDER, "ann")
        decide(tmp_path, Withdraw(bot="bob"), Disqualify(bot="cat"))

    play(tmp_path, hall, {2: exclude, 20: finish(tmp_path)})
    assert rosters(tmp_path)[:2] == [(*HOUSE, *JOINED), HOUSE]
    with Store.open(tmp_path) as store:
        matches = list(store.summaries(1))
    played = Counter(match.block for match in matches)
    assert all(played[match.block] == match.seatings for match in matches)
    tables = {match.block: {*match.table} for match in matches}
    assert sum(not table <= {*HOUSE} for table in tables.values()) <= 2
    assert {line["bot"] for line in table(tmp_path)["standings"]} == {*HOUSE, "ann", "bob"}


def test_a_block_of_the_epoch_that_is_played_can_become_void(tmp_path: Path, hall: Hall) -> None:
    refused = []

    def void() -> None:
        with Store.open(tmp_path) as store:
            plan = store.run().plan()
            for what in ("1", "7"):
                try:
                    block, found = matches_of(store, plan, what)
                except NotVoidable as error:
                    refused.append(str(error))
                else:
                    store.decide(Void(block=block, matches=tuple(found)))

    play(tmp_path, hall, {23: void, 36: finish(tmp_path)})
    assert [text.partition(",")[0] for text in refused] == [
        "Block 1 has decided how the cup continues"
    ]
    with Store.open(tmp_path) as store:
        assert {void.block for void in store.voids()} == {7}
    assert table(tmp_path)["matches"] == 36


def test_who_was_withdrawn_by_mistake_plays_again(tmp_path: Path, hall: Hall) -> None:
    enter_all = partial(enter, tmp_path, *JOINED)
    withdraw = partial(decide, tmp_path, Withdraw(bot="ann"))

    def undo() -> None:
        with Store.open(tmp_path) as store:
            assert last_exclusion(store, store.run().plan()).bot == "ann"
            store.decide(Undo(bot="ann"))

    play(tmp_path, hall, {4: enter_all, 16: withdraw, 20: undo, 80: finish(tmp_path)})
    assert ["ann" in bots for bots in rosters(tmp_path)[:3]] == [False, False, True]
    table(tmp_path)


def test_a_bot_that_fails_the_short_check_is_told_why_and_may_try_again(
    tmp_path: Path, hall: Hall
) -> None:
    about = {**ABOUT, "games": ["dasan"]}
    with (
        hostile.running(hostile.first, about) as other,
        hostile.running(hostile.says(b'{"move": "play:nonsense"}')) as wrong,
    ):
        hall.urls = {"ann": other, "bob": wrong, "cat": hall.urls["cat"]}
        play(tmp_path, hall, {4: partial(enter, tmp_path, *JOINED), 20: finish(tmp_path)})
    assert rosters(tmp_path)[1] == (*HOUSE, "cat")
    assert hall.failed["ann"] == "ann: it does not play doudizhu; it says that it plays dasan."
    assert hall.failed["bob"].startswith("bob: illegal: ")
    del hall.failed["ann"]
    with Store.open(tmp_path) as store:
        assert "cat" in store.run().passed


def test_a_bot_that_does_not_pass_its_check_keeps_one_epoch_waiting(
    tmp_path: Path, hall: Hall, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[int] = []

    def counted(checks: Collection[Future[Checked]], seconds: float) -> None:
        waits.append(len(checks))
        wait(checks, seconds)

    def hang_up(*_request: object) -> None:
        raise EOFError

    monkeypatch.setattr(entrants, "wait", counted)
    with hostile.running(hostile.first, every=hang_up) as url:
        hall.urls = {"ann": url}
        come_again = hall.failed.clear
        enter_ann = partial(enter, tmp_path, "ann")
        play(tmp_path, hall, {4: enter_ann, 24: come_again, 40: finish(tmp_path)})
    assert rosters(tmp_path) == [HOUSE] * 3
    assert waits == [0, 1, 0]


def test_a_bot_that_has_changed_is_to_be_a_new_version(tmp_path: Path, hall: Hall) -> None:
    about = dict(ABOUT)
    with hostile.running(hostile.toy("ann"), about) as url:
        hall.urls = {"ann": url}
        enter_ann = partial(enter, tmp_path, "ann")
        change = partial(about.update, version="2")
        play(tmp_path, hall, {4: enter_ann, 20: change, 60: finish(tmp_path)})
    assert rosters(tmp_path)[:3] == [HOUSE, (*HOUSE, "ann"), HOUSE]
    assert hall.failed["ann"].startswith(
        "ann: GET / said hostile, 1 when it was entered, and says hostile, 2 now."
    )


def test_tables_that_were_not_drawn_are_found(tmp_path: Path, hall: Hall) -> None:
    play(tmp_path, hall, {18: finish(tmp_path)})
    with Store.open(tmp_path) as store:
        (epoch,) = store.epochs()
        forged = replace(epoch, tables=epoch.tables[::-1], bots=(*HOUSE, "eve"))
        with store._engine.begin() as connection:
            connection.execute(sa.delete(epochs))
            chain = Chain(connection)
            rows.append(chain, epochs, forged)
            chain.save()
    with Store.open(tmp_path) as store:  # anew: epochs are read once
        found = [one.detail for one in verify(store).mismatches]
    assert "Epoch 1 has bots that have not joined: eve." in found
    assert "The tables of epoch 1 are not those that are drawn for its bots." in found


def test_finish_is_for_a_ladder_and_once(tmp_path: Path) -> None:
    with Store.create(tmp_path / "ladder") as store:
        resume(store, LADDER)
    played.run(tmp_path / "cup", played.cup()).close()
    done = stich("finish", tmp_path / "cup", "--yes")
    assert (done.returncode, done.stderr) == (1, "This is not a ladder: a cup ends by itself.\n")
    assert stich("finish", tmp_path / "ladder").returncode == 2
    assert stich("finish", tmp_path / "ladder", "--yes").returncode == 0
    assert "ended already" in stich("finish", tmp_path / "ladder", "--yes").stderr
