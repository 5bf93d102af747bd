"""A run that is being played, as its pages show it, and which tables spectators see."""

import base64
import json
import random
import re
import threading
import zlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace
from datetime import datetime, timedelta
from html import unescape
from itertools import islice
from pathlib import Path
from typing import Any

import msgspec
import pytest
from flask.testing import FlaskClient

import games
from tests.support.tournament.played import MATCH_KEY, change, cup, played, run, unfinished
from tournament.config.cup import Cup
from tournament.display.formatting import signed
from tournament.formats.ladder import Ladder
from tournament.model import Identity, Present, Upcoming
from tournament.records import Disqualify, MatchRecord, Pairing, Pause, Void
from tournament.results.standings import standings
from tournament.run.resume import only_runner
from tournament.run.workers.live_table import LiveMatch, make_folder
from tournament.store.reader import StoreReader
from tournament.store.store import Store, StoreError
from web.arena.app import create_app
from web.arena.live_run import LiveRun
from web.ui.page_steps import live_steps, match_data

FRESH = replace(cup(), format=replace(cup().format, cards="fresh"))


def next_match(client: FlaskClient, **shown: str) -> Any:
    return client.get("/watch/next", query_string=shown).get_json()


def watched(store: Store) -> list[dict[str, Any]]:
    """The matches that a screen shows until it shows the first one again."""
    client = create_app(store).test_client()
    assert client.get("/watch").status_code == 200
    seen: dict[str, dict[str, Any]] = {}
    while (match := next_match(client, shown=",".join(seen))) and match["match"] not in seen:
        seen[match["match"]] = match
    assert match is None or match["match"] == next(iter(seen))
    return list(seen.values())


def test_the_closest_fight_comes_first_and_says_what_it_is_about(tmp_path: Path) -> None:
    with run(tmp_path, cup(("ann", "bob", "cat", "W" * 64), deals=1)) as store:
        shown = watched(store)
        blocks = {match.match: match.block for match in store.summaries()}
    assert sorted(blocks[match["match"]] for match in shown) == sorted({*blocks.values()})
    assert " points a deal, " in shown[0]["why"]
    assert all(datetime.fromisoformat(match["ended"]).tzinfo for match in shown)


def test_bots_that_have_no_places_yet_get_no_numbers(tmp_path: Path) -> None:
    of = cup([f"bot-{number}" for number in range(6)], format="swiss")
    with unfinished(tmp_path, of, islice(played(of), 12)) as store:
        assert {line.place for line in standings(store).standings} == {None}
        (why, *_) = [match["why"] for match in watched(store)]
    assert " points a deal, " in why
    assert "number" not in why


def test_a_final_place_is_said_once_and_is_not_contested(tmp_path: Path) -> None:
    of = cup(deals=20)
    points = {"ann": 9, "bob": 0, "cat": -9}
    with unfinished(tmp_path, of) as store:
        for record in played(of):
            scores = tuple(points[bot] for bot in record.seating)
            store.add(replace(record, scores=scores, adjusted=scores))
        assert watched(store)[0]["why"] == "No two of these bots fight for a place that is open."
        store.finish(None)
        assert watched(store)[0]["why"] == ""
        page = create_app(store).test_client().get("/bots/ann").text
    assert "<h1>ann <small>place 1</small></h1>" in page


def test_tables_without_the_first_places_are_not_shown(tmp_path: Path) -> None:
    of = cup([f"bot-{number}" for number in range(6)], deals=1, seating="fixed")
    with run(tmp_path, of) as store:
        first = {line.bot for line in standings(store).standings[:3]}
        shown = [first.intersection(match["seats"]) for match in watched(store)]
        assert 0 < len(shown) < store.count()
    assert all(shown)


def test_blocks_that_ended_long_before_the_last_are_left_out(tmp_path: Path) -> None:
    of = cup(deals=2)
    with unfinished(tmp_path, of) as store:
        for record in played(of):
            earlier = datetime.fromisoformat(record.started) - timedelta(minutes=20)
            started = earlier.isoformat() if record.block == 1 else record.started
            store.add(replace(record, started=started))
        (shown,) = watched(store)
        assert store.match(shown["match"]).block == 2


def live(store: Store, seen: str = "") -> Any:
    """The match in progress that is shown, or all of the match that was `seen` in progress."""
    match = next_match(create_app(store).test_client(), live=seen)
    return match if match and (match["live"] or seen) else None


def steps_of(data: dict[str, Any]) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = json.loads(zlib.decompress(base64.b64decode(data["steps"])))
    return steps


@pytest.mark.parametrize("of", [FRESH, cup()], ids=["fresh", "shared"])
def test_a_match_is_shown_live_unless_its_cards_are_shared(tmp_path: Path, of: Cup) -> None:
    with unfinished(tmp_path, of) as store:
        assert (live(store), watched(store)) == (None, [])
        folder = make_folder(FRESH, store.run().id)
        assert folder is not None
        first, second, *_ = played(of)
        for number, record in enumerate((second, first)):
            parts = {field.name: getattr(record, field.name) for field in fields(Pairing)}
            match = LiveMatch(Pairing(**parts), 10.0 - number, list(record.moves[:8]))
            (folder / f"{number}.json").write_bytes(msgspec.json.encode(match))
        seen = live(store)
        if of is not FRESH:
            assert seen is None
            return
        # the match that began first
        assert (seen["match"], tuple(seen["seats"])) == (first.match, first.seating)
        moves = [step["move"] and step["move"][1] for step in steps_of(seen)]
        assert moves == [None, *first.moves[:8]]
        assert store.run().seed not in json.dumps([seen, steps_of(seen)])
        store.add(first)
        whole = live(store, first.match)
        assert (whole["match"], whole["live"]) == (first.match, False)
        assert len(steps_of(whole)) == len(first.moves) + 1
        seen = live(store)
        assert (seen["match"], "number 1" in seen["why"]) == (second.match, True)
        store.add(second)
        assert live(store) is None
        assert [match["live"] for match in watched(store)] == [False]


def cards(data: object) -> set[str]:
    """All cards that are named anywhere in JSON values."""
    if isinstance(data, dict):
        data = list(data.values())
    if isinstance(data, list):
        return set().union(*map(cards, data))
    return set(re.findall("[2-9TJQKA][cdhs]|[BR]j", data)) if isinstance(data, str) else set()


@pytest.mark.parametrize("game", games.GAMES)
@pytest.mark.parametrize("seed", ["first", "second"])
def test_onlookers_see_no_card_that_is_hidden(game: str, seed: str) -> None:
    """What is published names only cards that all players know, or knew before the last move."""
    rules, rng = games.get(game), random.Random(seed)
    players = rng.choice((rules.min_players, rules.max_players))
    state = rules.start(players, seed, {"deals": 2})
    known = [set.intersection(*(cards(state.view(seat).to_dict()) for seat in range(players)))]
    moves = []
    while state.turn is not None:
        moves.append(rng.choice(state.moves().texts()))
        state = state.advance(moves[-1])
        views = (state.view(seat).to_dict() for seat in range(players))
        known.append(set.intersection(*map(cards, views)))
        if moves[-1].startswith("play:"):
            known[-1] |= cards(moves[-1])
    seats = tuple(f"bot {seat}" for seat in range(players))
    pairing = Pairing("id", 1, "the key", 1, "", 0, 1, seats, seats, seed)
    of = cup(seats, game=game, players=players, options=dict(state.options))
    steps = live_steps(LiveMatch(pairing, 0.0, moves), of)
    data = match_data(pairing, of, steps)
    assert steps_of(data) == json.loads(json.dumps(steps))
    assert len(steps) == len(known)
    assert sum(step["ended"] is not None for step in steps) == len(state.results)
    for before, now, step in zip([set(), *known], known, steps, strict=False):
        assert cards(step) <= before | now
        assert set("".join(step["hands"])) <= {"?"}
    assert not {seed, "the key"} & set(re.findall(r"[\w ]+", json.dumps([data, steps])))


COMING = tuple(Upcoming(block, "", cup().names, played=0, seatings=3) for block in (1, 2))


def test_nobody_waits_for_a_reading_nor_sees_an_old_run(tmp_path: Path) -> None:
    with run(tmp_path, cup(deals=1)) as store:
        now, reading, read = 0.0, threading.Event(), threading.Event()

        def count(_store: StoreReader) -> int:
            reading.set()
            read.wait()
            return 0

        live = LiveRun(store, lambda: now)
        first = live.snapshot()
        now = 5.0
        with pytest.MonkeyPatch.context() as patch, ThreadPoolExecutor() as pool:
            patch.setattr(StoreReader, "count", count)
            reader = pool.submit(live.snapshot)
            reading.wait()
            assert live.snapshot() is first
            read.set()
            assert reader.result() is not first
        known = len(live.snapshot().table.decisions)
        store.decide(Pause(why="lunch"))
        now = 1000.0
        assert len(live.snapshot().table.decisions) == known + 1


def test_only_what_is_new_is_read(tmp_path: Path) -> None:
    records = list(played(cup()))
    with unfinished(tmp_path, cup()) as under_way:
        live = LiveRun(under_way)
        assert live.snapshot().matches == 0
        for count, record in enumerate(reversed(records), 1):
            under_way.add(record)
            seen = live.refresh()
            assert seen.matches == count
            assert live.refresh() is seen
            assert seen.table == LiveRun(under_way).snapshot().table
        void = tuple(record.match for record in records[:3])
        under_way.decide(Void(why="No power.", block=1, matches=void))
        under_way.void_finished([(match, 1, "No power.") for match in void])
        last, view = live.refresh(), live.view()
        assert last.matches == len(records) - 3
        assert 1 not in last.played
        assert live.refresh() is last
        under_way.record_about({"ann": Identity("Ann's program")})
        named = live.refresh()
        assert named is not last
        assert live.view().version != view.version
        under_way.record_checks({"bob": Identity()}, {"cat": "It moves out of turn."})
        assert live.refresh() is not named


def test_all_matches_are_read_once_a_damaged_one_is_repaired(tmp_path: Path) -> None:
    records = list(played(cup()))
    with unfinished(tmp_path, cup(), records) as under_way:
        live, of = LiveRun(under_way), f"WHERE match = '{records[-1].match}'"
        change(tmp_path, f"UPDATE matches SET summary = CAST(x'c1' || summary AS BLOB) {of}")
        with pytest.raises(StoreError, match="is damaged"):
            live.refresh()
        change(tmp_path, f"UPDATE matches SET summary = substr(summary, 2) {of}")
        assert live.refresh().table == LiveRun(under_way).snapshot().table


def test_a_replay_has_comments_once_its_block_is_complete(tmp_path: Path) -> None:
    first, *others = (
        replace(record, info={0: {"comment": "a bluff"}}) for record in islice(played(FRESH), 3)
    )
    with unfinished(tmp_path, FRESH, [first]) as under_way:
        client = create_app(under_way).test_client()

        def shown() -> str:
            page = client.get(f"/matches/{first.match}").text
            (steps,) = re.findall(r'"steps": ?"([^"]+)"', page)
            return str(steps_of({"steps": steps}))

        assert "a bluff" not in shown()
        for record in others:
            under_way.add(record)
        assert "a bluff" in shown()


def test_the_tables_that_come_next_and_the_time_that_is_left(tmp_path: Path) -> None:
    now = 0.0
    records = list(played(cup()))
    coming = Present(upcoming=COMING)
    with unfinished(tmp_path, cup(), present=coming) as under_way, only_runner(under_way):
        live = LiveRun(under_way, lambda: now)
        assert [block.block for block in live.snapshot().upcoming] == [1, 2]
        assert live.snapshot().status == "Playing: 1 table, 0 of 6 matches"
        for record in records[:4]:
            now += 30
            under_way.add(record)
            live.refresh()
        seen = live.snapshot()
        (left,) = seen.upcoming
        assert (left.block, left.played, left.seatings) == (2, 1, 3)
        assert set(left.bots) == set(cup().names)
        assert seen.status == "Playing: 1 table, 4 of 6 matches, about 60 seconds left"
        now += 599
        assert live.refresh().status == "Playing: 4 of 6 matches, none in the last 10 minutes"
        page = create_app(under_way).test_client().get("/").text
        assert re.findall("<b>(Now|Next)</b>", page) == ["Now"]
        assert "1 of 3 matches played" in page
        under_way.show(Present(upcoming=COMING[1:]))
        assert live.refresh() is not seen
        under_way.finish()
        assert live.refresh().upcoming == ()
    ladder = replace(cup(), format=Ladder(cards="fresh"))
    with (
        unfinished(tmp_path / "ladder", ladder, present=coming) as under_way,
        only_runner(under_way),
    ):
        page = create_app(under_way).test_client().get("/").text
        assert re.search("<b>(Now|Next)</b>", page) is None, "nobody may avoid a table"


def test_a_run_whose_runner_is_dead_is_stopped(tmp_path: Path) -> None:
    with unfinished(tmp_path, cup(), islice(played(cup()), 4)) as store:
        live = LiveRun(store)
        with only_runner(store):
            assert live.snapshot().status.startswith("Playing: ")
        assert live.refresh().status == "Stopped: 4 of 6 matches"


def test_the_stage_names_the_latest_whole_block_and_next_table(tmp_path: Path) -> None:
    """With fresh cards, matches of a block may be shown before the block is complete."""
    of = replace(cup(("ann", "bob", "cat", "dan")), format=replace(cup().format, cards="fresh"))
    *records, late = islice(played(of), 7)
    first, last = records[:3], records[3:]

    def footer(store: Store, words: str) -> list[tuple[str, str]]:
        page = unescape(create_app(store).test_client().get("/stage").text)
        line = page.partition(words)[2].partition("</p>")[0]
        return re.findall(r"<span>(\w+)</span>(?:\s([+−]?\d+))?", line)

    def best(block: list[MatchRecord]) -> set[tuple[str, str]]:
        match = max(reversed(block), key=lambda record: max(record.adjusted))
        return set(zip(match.seating, map(signed, match.adjusted), strict=True))

    with unfinished(tmp_path, of, [*records, late]) as under_way, only_runner(under_way):
        order = [line.bot for line in LiveRun(under_way).snapshot().table.standings]
        tables = (order[:3], ["new", "x", "y"], order[1:])  # the first one is being played
        upcoming = (Upcoming(50 + at, "", tuple(bots), 0, 3) for at, bots in enumerate(tables))
        under_way.show(Present(upcoming=tuple(upcoming)))
        assert [bot for bot, _ in footer(under_way, "Next:")] == order[1:]
        assert set(footer(under_way, "Just now:")) == best(last)
        (other,) = {*last[0].table} - {*first[0].table}
        under_way.decide(Disqualify(bot=other))
        assert set(footer(under_way, "Just now:")) == best(first)


def test_pages_wait_for_a_run_that_has_not_begun(tmp_path: Path) -> None:
    with Store.create(tmp_path) as empty, only_runner(empty):
        client = create_app(empty).test_client()
        for path in ("/", "/figures", "/about", "/embed", "/watch", "/matches", "/standings.json"):
            answer = client.get(path)
            assert (answer.status_code, int(answer.headers["Refresh"]) > 0) == (503, True)
            assert "<h1>The run is about to begin</h1>" in answer.text
        assert client.get("/play").status_code == 200
        assert client.get("/healthz").json == {"status": "ok"}
        metrics = client.get("/metrics").text
        assert 'stich_run_phase{phase="waiting"} 1.0' in metrics
        assert "stich_matches" not in metrics
        empty.begin(cup(), MATCH_KEY, MATCH_KEY, None, 6)
        empty.show(Present(awaited=(*cup().names, "dan", "eve")))
        page = client.get("/").text
        assert "Waiting for ann, bob, cat and 2 others<" in page
        assert "<h1>Nobody leads Test cup yet</h1>" in page
        assert page.count('<span class="place">–</span>') == 3
        assert "No match has ended yet." in client.get("/matches").text
        assert "0 matches of 0" in client.get("/matches?bot=ann&faults=any&result=lost").text
    with Store.create(tmp_path / "damaged") as damaged:
        change(tmp_path / "damaged", "ALTER TABLE matches RENAME TO lost")
        answer = create_app(damaged).test_client().get("/")
    assert (answer.status_code, "The run cannot be read" in answer.text) == (503, True)


def test_every_page_names_the_unreachable_bots(tmp_path: Path) -> None:
    names = ("ann", "bob", "cat", "dan", "<eve>")
    present = Present(away=("<eve>",), upcoming=(Upcoming(1, "", names[:3], 0, 3),))
    with unfinished(tmp_path, cup(names), present=present) as under_way, only_runner(under_way):
        client = create_app(under_way).test_client()
        for path in ("/", "/matches", "/bots/ann", "/play", "/reading", "/nothing"):
            assert "&lt;eve&gt; is unreachable; its tables wait.<" in client.get(path).text
        news = client.get("/").text.partition('<h2 id="news">')[2]
        assert ("/bots/ann" in news, "/bots/dan" in news) == (True, False)
        under_way.decide(Pause(why="Lunch."))
        page = client.get("/nothing").text
        assert "UTC</time>: Lunch. &lt;eve&gt; is unreachable" in page


def test_arrows_show_who_has_moved_within_a_day(tmp_path: Path) -> None:
    now = 0.0
    records = list(played(cup(deals=6)))
    with unfinished(tmp_path, cup(deals=6), records[:9]) as under_way:
        app = create_app(under_way)
        app.extensions["stich-run"] = live = LiveRun(under_way, lambda: now)
        before = {line.bot: line.place for line in live.snapshot().table.standings}
        # at first too early, and at last longer than a day ago
        for record, now in zip(records[9:], (60.0, 3700.0, 7400.0, 100_000.0), strict=False):
            under_way.add(record)
            seen = live.snapshot()
            places = seen.earlier and seen.earlier.places
            assert places == (before if now in (3700.0, 7400.0) else None)
            after = {line.bot: line.place for line in seen.table.standings}
            up = sum((after[bot] or 0) < (before[bot] or 0) for bot in before)
            arrows = app.test_client().get("/").text.count("▲")
            assert arrows == (up + 1 if places else 0), "with the line that says since when"


def test_an_operator_sees_what_a_run_does(tmp_path: Path) -> None:
    records = islice(played(cup()), 4)
    with unfinished(tmp_path, cup(), records) as under_way, only_runner(under_way):
        third = Upcoming(3, "", cup().names, played=0, seatings=3)
        under_way.show(Present(away=("ann",), upcoming=(*COMING, third)))  # as before all matches
        under_way.decide(Pause(why="Lunch."))
        text = create_app(under_way).test_client().get("/metrics").text
    for line in (
        'stich_run_phase{phase="paused"} 1.0',
        "stich_matches_total 4.0",
        "stich_void_matches_total 0.0",
        'stich_tables{state="begun"} 1.0',
        'stich_tables{state="waiting"} 1.0',
        'stich_bots{state="away"} 1.0',
    ):
        assert line in text.splitlines(), text
