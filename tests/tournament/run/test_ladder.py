"""A ladder from its first epoch to its end. Bots come and go, and the runner stops and resumes."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import wait
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any
from unittest.mock import DEFAULT, Mock

import pytest
import sqlalchemy as sa

from tests.support.tournament import played
from tests.support.tournament.cups import fails, standings, stich, succeed
from tests.support.tournament.one_table import Clock, OneTable, Organiser, Stopped, stop
from tools import hostile
from tools.hostile.server import ABOUT
from tournament.bot.url_bot import StartError
from tournament.config.cup import Bot, JoinRules
from tournament.formats.ladder import Ladder, LadderPlan
from tournament.records import AnyDecision, Disqualify, Finish, Pause, Resume, Skip, Void, Withdraw
from tournament.results.verify import verify
from tournament.run import outages, roster
from tournament.run.consequences import matches_of
from tournament.run.joining import join, leave
from tournament.run.resume import only_runner, resume
from tournament.run.roster import Entrants
from tournament.run.session import Session
from tournament.store import rows
from tournament.store.chain import Chain
from tournament.store.store import Store, StoreError
from tournament.store.tables import epochs

HOUSE = ("house0", "house1", "house2")
JOINED = ("ann", "bob", "cat")
NOW, TOMORROW = (datetime(2026, 12, day, tzinfo=UTC) for day in (1, 2))
LADDER = replace(played.cup(HOUSE, format="ladder"), join=JoinRules(open=True), outage_s=1)
DASAN = {**ABOUT, "games": ["dasan"]}
Act = Callable[[], object]


class LadderRun:
    """A ladder in a folder, whose clock and gateway a test drives.

    The gateway says that all bots of `urls` are connected, except those in `away` and `failed`.
    """

    def __init__(self, folder: Path, urls: Mapping[str, str], clock: Clock) -> None:
        self.folder = folder
        self.cup = LADDER
        self.urls = urls
        self.clock = clock
        self.now = NOW
        self.away: set[str] = set()
        self.failed: dict[str, str] = {}
        self.before_look: Act = lambda: None

    def tables(self) -> Mapping[str, int]:
        self.before_look()
        return dict.fromkeys(self.urls.keys() - self.away - self.failed.keys(), 2)

    def url_of(self, bot: str) -> str:
        return "http://127.0.0.1:9" if bot in self.away else self.urls[bot]

    def probe(self, bot: Bot) -> None:
        """Ask a bot that a run waits for. Its server answers even while the bot is away."""
        if bot.name in self.away:
            raise StartError("away")

    def fail(self, bots: Mapping[str, str]) -> None:
        self.failed |= bots

    def play(self, after: Mapping[int, Act], tables: OneTable | None = None) -> None:
        """Play until the ladder ends or an action stops the runner."""
        tables = tables or OneTable(self.cup, clock=self.clock)
        with Store.create(self.folder) as store, only_runner(store), suppress(Stopped):
            setup = resume(store, self.cup).setup
            roster = Entrants(self.cup, store, self, lambda: self.now)
            plan = LadderPlan(setup, roster.gather)
            with Session(plan, roster, tables, store, Organiser(store, after)) as session:
                session.play()

    def store(self) -> Store:
        return Store.open(self.folder)

    def enter(self, *bots: str) -> None:
        for bot in bots or JOINED:
            join(str(self.folder), LADDER, bot, bot)

    def leave(self, bot: str) -> None:
        leave(str(self.folder), LADDER, bot)

    def decide(self, *decisions: AnyDecision) -> None:
        with self.store() as store:
            store.decide(*decisions)

    def finish(self) -> None:
        self.decide(Finish())

    def table(self) -> dict[str, Any]:
        """The standings of the run, which is verified, without measured times and decisions."""
        succeed("verify", self.folder)
        return {**standings(self.folder), "decisions": [], "incidents": []}

    def rosters(self) -> list[Sequence[str]]:
        with self.store() as store:
            return [epoch.bots for epoch in store.epochs()]


@pytest.fixture(scope="module")
def urls() -> Iterator[dict[str, str]]:
    with ExitStack() as stack:
        yield {bot: stack.enter_context(hostile.running(hostile.toy(bot))) for bot in JOINED}


@pytest.fixture
def ladder(
    tmp_path: Path, urls: dict[str, str], clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> LadderRun:
    run = LadderRun(tmp_path, urls, clock)
    monkeypatch.setattr(outages, "about_by_url", run.probe)
    return run


def test_a_stopped_ladder_ends_with_the_same_table(ladder: LadderRun) -> None:
    """Bots join in its first epoch, which has 18 matches. The second one has 36."""
    runs = []
    for name, stops in (("whole", ()), ("stopped", (11, 18, 31))):
        ladder.folder = ladder.folder.parent / name
        after: dict[int, Act] = {4: ladder.enter, 54: ladder.finish}
        for at in stops:
            ladder.play({**after, at: stop})
        ladder.play(after)
        assert ladder.rosters() == [HOUSE, (*HOUSE, *JOINED)]
        runs.append(ladder.table())
    assert runs[0] == runs[1]
    assert runs[0]["matches"] == 54


def test_a_ladder_waits_until_there_are_bots_for_a_table(ladder: LadderRun) -> None:
    """It does not wait for a bot by URL that is silent."""
    coming, shown = ["bob", "ann"], list[tuple[str, ...]]()

    def come() -> None:
        with ladder.store() as store:
            run = store.run()
        shown.append(run.present.connected)
        if coming and {*run.cup.names[2:]} <= run.passed and len(shown) % 60 == 0:
            ladder.enter(coming.pop())

    ladder.before_look = come
    ladder.cup = replace(LADDER, bots=(LADDER.bots[0], Bot("far", url="http://127.0.0.1:9")))
    ladder.play({18: ladder.finish})
    assert ladder.rosters() == [("house0", "ann", "bob")]
    assert ("ann",) in shown, "the pages show who is connected while the ladder waits"


def test_a_restart_neither_awaits_nor_overbooks_bots(ladder: LadderRun) -> None:
    """The pages show only bots that are connected now."""
    shown: list[object] = []

    def look() -> None:
        with ladder.store() as store:
            shown.append(store.run().present.connected)

    ladder.play({4: ladder.enter, 20: stop})
    with ladder.store() as store:
        tables = OneTable(store.run().cup, 10, ladder.clock)
    ladder.play({22: look, 54: ladder.finish}, tables)
    look()
    assert shown == [JOINED, ()]
    assert tables.inspected == {*HOUSE}
    assert {tables.most[bot] for bot in JOINED} == {2}, "as the gateway says"
    assert max(tables.most[bot] for bot in HOUSE) > 2


@pytest.mark.parametrize(
    ("decisions", "due", "matches"),
    [([Finish()], False, 6), ([Pause(), Finish()], False, 6), ([Pause()], True, 6), ([], True, 18)],
)
def test_at_its_end_a_ladder_only_ends_its_blocks(
    ladder: LadderRun, decisions: list[AnyDecision], due: bool, matches: int
) -> None:
    """A clock that is set back does not revert the end."""

    def end() -> None:
        ladder.decide(*decisions)
        ladder.now = TOMORROW if due else NOW

    ends = Ladder(cards=LADDER.format.cards, ends=TOMORROW.isoformat())
    ladder.cup = replace(LADDER, format=ends)
    ladder.play({2 if decisions else 18: end})
    ladder.now = NOW
    ladder.play({})
    not_played = "12 matches not played, because a bot was away or the ladder ended."
    with ladder.store() as store:
        assert store.count() == matches
        assert (not_played in store.run().incidents()) == (matches == 6)
    assert ladder.table()["finished"]


def test_after_its_first_draw_a_ladder_keeps_its_bots(ladder: LadderRun) -> None:
    def stop_after_draw() -> None:
        if ladder.rosters():
            stop()

    ladder.before_look = stop_after_draw
    ladder.play({})
    with ladder.store() as store:
        assert (store.count(), len(store.epochs())) == (0, 1)
        with pytest.raises(StoreError, match='"house2" is gone'):
            resume(store, replace(LADDER, bots=LADDER.bots[:2]))


def test_nobody_waits_long_for_a_bot_that_goes_away(ladder: LadderRun) -> None:
    """The bot is expected back for 20 seconds, although an outage may last five minutes."""
    ladder.cup = replace(LADDER, outage_s=300)
    gone: list[float] = []

    def leave() -> None:
        ladder.away.add("ann")
        gone.append(ladder.clock.now)

    ladder.play({4: partial(ladder.enter, "ann"), 20: leave, 60: ladder.finish})
    assert ladder.clock.now - gone[0] < 60 - 20 + 30
    with ladder.store() as store:
        skips = [skip for skip in store.decisions() if isinstance(skip, Skip)]
        seated = {match.block for match in store.summaries() if "ann" in match.table}
        assert list(store.voids()) == []
    assert [(skip.bot, skip.why) for skip in skips[:-1]] == [("ann", "ann was away")]
    assert seated <= {7, 8}, "the blocks that had begun"
    assert ladder.rosters()[1:3] == [(*HOUSE, "ann"), HOUSE]
    ladder.table()


def test_a_pause_as_tables_are_left_out_takes_effect(
    ladder: LadderRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: list[int] = []
    skips = Entrants.skips

    def look() -> None:
        with ladder.store() as store:
            counts.append(store.count())
        if len(counts) == 9:
            ladder.decide(Resume())

    def pause_first(*arguments: Any) -> list[Skip]:
        if not counts and "ann" in arguments[-1]:
            ladder.decide(Pause())
            ladder.before_look = look
        return skips(*arguments)

    monkeypatch.setattr(Entrants, "skips", pause_first)
    ladder.play({4: ladder.enter, 20: partial(ladder.away.add, "ann"), 60: ladder.finish})
    assert counts[1] == counts[8] < counts[-1]


def test_a_bot_without_tables_in_an_epoch_is_not_away(ladder: LadderRun) -> None:
    """The bot is away when the runner comes back."""
    away: list[object] = []

    def look() -> None:
        with ladder.store() as store:
            away.append((len(store.epochs()), store.run().present.away))

    ladder.play({4: partial(ladder.enter, "ann"), 20: stop})
    ladder.away.add("ann")
    ladder.cup = replace(LADDER, outage_s=60)
    ladder.play({22: look, 23: partial(ladder.leave, "ann"), 60: look, 61: ladder.finish})
    assert away == [(2, ("ann",)), (4, ())]


def test_a_bot_that_is_away_repeatedly_pauses(ladder: LadderRun) -> None:
    with Store.create(ladder.folder) as store:
        resume(store, LADDER)
        ladder.enter("ann")
        with closing(Entrants(LADDER, store, ladder, lambda: ladder.now)) as roster:
            seated = []
            for absences, passed_s in ((0, 0), (1, 0), (1, 1), (0, 300), (1, 3600)):
                for _ in range(absences):
                    roster.record_absence("ann")
                ladder.now += timedelta(seconds=passed_s)
                seated.append("ann" in roster.gather(store.run()))
    assert seated == [True, True, False, True, True]


def test_bots_that_leave_or_are_excluded_no_longer_play(ladder: LadderRun) -> None:
    with Store.create(ladder.folder) as store:
        resume(store, LADDER)
    ladder.enter()

    def exclude() -> None:
        ladder.leave("ann")
        ladder.decide(Withdraw(bot="bob"), Disqualify(bot="cat"))

    ladder.play({2: exclude, 20: ladder.finish})
    assert ladder.rosters()[:2] == [(*HOUSE, *JOINED), HOUSE]
    with ladder.store() as store:
        matches = list(store.summaries(1))
    played = Counter(match.block for match in matches)
    assert all(played[match.block] == match.seatings for match in matches)
    tables = {match.block: {*match.table} for match in matches}
    assert sum(not table <= {*HOUSE} for table in tables.values()) <= 2
    assert {line["bot"] for line in ladder.table()["standings"]} == {*HOUSE, "ann", "bob"}


def test_only_a_block_of_the_present_epoch_can_become_void(ladder: LadderRun) -> None:
    def void() -> None:
        with ladder.store() as store:
            plan = store.run().plan()
            with pytest.raises(StoreError, match="Block 1 has decided how the cup continues"):
                matches_of(store, plan, "1")
            block, matches = matches_of(store, plan, "7")
            store.decide(Void(block=block, matches=tuple(matches)))

    ladder.play({23: void, 36: ladder.finish})
    with ladder.store() as store:
        assert {void.block for void in store.voids()} == {7}
    assert ladder.table()["matches"] == 36


def test_a_bot_that_was_withdrawn_by_mistake_plays_again(ladder: LadderRun) -> None:
    withdraw = partial(ladder.decide, Withdraw(bot="ann"))
    undo = partial(succeed, "undo", ladder.folder)
    ladder.play({4: ladder.enter, 16: withdraw, 20: undo, 80: ladder.finish})
    assert ["ann" in bots for bots in ladder.rosters()[:3]] == [False, False, True]
    ladder.table()


def test_a_bot_that_fails_the_short_check_is_told_why(ladder: LadderRun) -> None:
    """A bot that has changed needs a new version."""
    about = dict(ABOUT)
    with (
        hostile.running(hostile.first, DASAN) as other,
        hostile.running(hostile.says(b'{"move": "play:nonsense"}')) as wrong,
        hostile.running(hostile.toy("cat"), about) as changed,
    ):
        ladder.urls = {"ann": other, "bob": wrong, "cat": changed}
        change = partial(about.update, version="2")
        ladder.play({4: ladder.enter, 20: change, 60: ladder.finish})
    assert ladder.rosters()[:3] == [HOUSE, (*HOUSE, "cat"), HOUSE]
    assert ladder.failed["ann"] == "ann: it does not play doudizhu; it says that it plays dasan."
    assert ladder.failed["bob"].startswith("bob: illegal: ")
    said = "cat: GET / said hostile, 1 when it was entered, and says hostile, 2 now."
    assert ladder.failed["cat"].startswith(said)


def test_a_bot_that_failed_is_checked_again_once_it_reconnects(ladder: LadderRun) -> None:
    about = hostile.answer(json.dumps(DASAN).encode())
    asked = Mock(side_effect=lambda connection, *_request: connection.sendall(about))
    with hostile.running(hostile.first, every=asked) as url, Store.create(ladder.folder) as store:
        resume(store, LADDER)
        ladder.urls = {"ann": url}
        ladder.enter("ann")
        with only_runner(store), closing(Entrants(LADDER, store, ladder, lambda: NOW)) as roster:
            for checks in (1, 2):
                while not ladder.failed:
                    roster.update(store.run(), 0)
                roster.gather(store.run())  # waits for checks
                assert asked.call_count == checks
                ladder.failed.clear()


def test_a_bot_that_fails_its_check_keeps_one_epoch_waiting(
    ladder: LadderRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = Event()

    def tell(checks: Sequence[object], _seconds: float) -> Any:
        if checks:
            waits.set()
        return DEFAULT

    def fail(*_request: object) -> None:
        assert waits.wait(120)
        raise EOFError

    awaited = Mock(wraps=wait, side_effect=tell)
    monkeypatch.setattr(roster, "wait", awaited)
    with hostile.running(hostile.first, every=fail) as url:
        ladder.urls = {"ann": url}
        enter = partial(ladder.enter, "ann")
        ladder.play({4: enter, 24: ladder.failed.clear, 40: ladder.finish})
    assert ladder.rosters() == [HOUSE] * 3
    assert [len(checks) for (checks, _), _ in awaited.call_args_list] == [0, 1, 0]


def test_verification_finds_tables_that_were_not_drawn(ladder: LadderRun) -> None:
    ladder.play({18: ladder.finish})
    with ladder.store() as store:
        (epoch,) = store.epochs()
        forged = replace(epoch, tables=epoch.tables[::-1], bots=(*HOUSE, "eve"))
        with store._engine.begin() as connection:
            connection.execute(sa.delete(epochs))
            rows.append(Chain(connection), forged)
    with ladder.store() as store:  # opened again, because epochs are read once
        details = [mismatch.detail for mismatch in verify(store).mismatches]
    assert "Epoch 1 has bots that have not joined: eve." in details
    assert "The tables of epoch 1 are not those that are drawn for its bots." in details


def test_only_a_ladder_is_finished_and_only_once(tmp_path: Path) -> None:
    with Store.create(tmp_path / "ladder") as store:
        resume(store, LADDER)
    played.run(tmp_path / "cup", played.cup()).close()
    fails("This is not a ladder: a cup ends by itself.\n", "finish", tmp_path / "cup", "--yes")
    assert stich("finish", tmp_path / "ladder").returncode == 2
    succeed("finish", tmp_path / "ladder", "--yes")
    fails("This ladder has been ended already", "finish", tmp_path / "ladder", "--yes")
