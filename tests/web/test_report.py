import base64
import json
import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from importlib.resources import files
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import games
from tests.support.tournament.played import cup, played, run, unfinished
from tests.support.tournament.standings import match
from tournament.display.formatting import format_points
from tournament.formats.duel import Duel
from tournament.formats.round_robin import Gauntlet
from tournament.formats.seeds import commitment
from tournament.formats.stopping import Stop
from tournament.model import Run
from tournament.records import MatchRecord
from tournament.results.integrity import Flag, Integrity, Leniency
from tournament.results.match_arrays import collect
from tournament.results.standings import compute, standings
from tournament.store.store import Store
from web.report import report
from web.ui.page_steps import page_steps
from web.ui.plots import HEIGHT, WIDTH, course, preview, score_bars, series

NAMES = ("</script><script>alert(1)</script>", "$x^2$ _b_", "Bör ♠ & Co")


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self.scripts = 0
        self.words = ""
        scripts = re.findall('type="application/json"[^>]*>(.*?)</script>', text, re.DOTALL)
        self.data: dict[str, Any] = json.loads(scripts[-1])
        self.text = text
        self.feed(text)
        self.words = " ".join(self.words.split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.scripts += tag == "script"
        self.ids += [values["id"]] if "id" in values else []
        addresses = [values[name] for name in ("src", "href", "xlink:href") if name in values]
        (self.links if tag == "a" else self.loads).extend(addresses)

    def handle_data(self, data: str) -> None:
        self.words += data


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    of = cup(NAMES, commit=True)
    with run(tmp_path_factory.mktemp("run"), of, {NAMES[0]: 12}) as made:
        yield made


@pytest.fixture(scope="module")
def page(store: Store) -> Page:
    return Page(report(store))


def stepped(record: MatchRecord) -> Any:
    return json.loads(json.dumps(page_steps(record, cup())))


def test_the_page_loads_nothing_and_has_every_match(page: Page, store: Store) -> None:
    assert all(load.startswith(("data:", "#")) for load in page.loads)
    assert len(page.ids) == len(set(page.ids))
    for link in page.links:
        match = re.fullmatch(r"#match=([0-9a-f]+)(&move=\d+)?", link)
        assert link.removeprefix("#") in page.ids if match is None else match[1] in page.data
    assert "default-src 'none'" in page.text
    namespaces = {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}
    assert set(re.findall(r"https?://[^\"'<> ]+", page.text)) <= namespaces
    records = {record.match: record for record in store.matches()}
    assert set(page.data) == set(records)
    for name, shown in page.data.items():
        steps = json.loads(zlib.decompress(base64.b64decode(shown["steps"])))
        record = records[name]
        assert (shown["seats"], steps) == (list(record.seating), stepped(record))


def test_names_of_bots_are_text_and_nothing_else(page: Page) -> None:
    assert page.scripts == 3
    assert all(name in page.words for name in NAMES)


@pytest.mark.parametrize(("game", "deals"), [("doudizhu", 3), ("zhengfen", 2), ("ninefivetwo", 3)])
def test_each_step_shows_its_position(game: str, deals: int) -> None:
    rules = games.get(game)
    for record in played(cup(game=game, options={"deals": deals}, deals=1), {"bob": 4}):
        state = rules.start(record.players, record.seed, record.options)
        last: list[str | None] = [None] * record.players
        shown = stepped(record)
        for move, step in zip((None, *record.moves), shown, strict=True):
            state = state.advance(move) if move else state
            data = state.to_dict()
            groups = [rules.groups(hand) for hand in data["hands"]]
            assert step["hands"] == [" ".join(map("".join, hand)) for hand in groups]
            assert step["roles"] == [list(map(str, rules.roles(data, seat))) for seat in range(3)]
            for name in ("deal", "phase", "turn", "scores"):
                assert step[name] == data[name]
            if any(step["last"]):
                seat, text, *_ = step["move"]
                others = (last, [None] * 3)  # a trick goes on, or another one begins
                assert step["last"] in [[*one[:seat], text, *one[seat + 1 :]] for one in others]
            last = step["last"]
        ended = [step["ended"]["scores"] for step in shown if step["ended"]]
        assert ended == [list(result["scores"]) for result in record.results]


def test_moves_carry_times_faults_and_who_moved(store: Store) -> None:
    record = next(record for record in store.matches() if record.struck)
    moves = [step["move"] for step in stepped(record)[1:]]
    assert [move[1] for move in moves] == list(record.moves)
    for fault in record.faults:
        seat, _, time, text, is_default = moves[fault.move]
        assert (seat, is_default) == (fault.seat, True)
        assert text == f"{fault.kind}: {fault.detail}"
        assert time == pytest.approx(fault.elapsed_ms, abs=0.06)
    (out,) = record.struck
    last = max(fault.move for fault in record.faults if fault.seat == out)
    after = [move for move in moves[last + 1 :] if move[0] == out]
    assert all(move[2:] == [None, None, True] for move in after)
    asked = sum(move[0] == out and move[2] is not None for move in moves)
    assert asked == len(record.times[out])


def test_the_seed_is_published_only_after_the_last_deal(page: Page, tmp_path: Path) -> None:
    assert "2026-spring" in page.text
    with unfinished(tmp_path, cup(commit=True)) as under_way:
        before = report(under_way)
    assert "2026-spring" not in before
    assert commitment("2026-spring") in before
    empty = Page(before)
    assert ("nothing to plot" in empty.words, empty.data) == (True, {})


def test_a_page_shows_the_course_of_its_format(tmp_path: Path) -> None:
    """It comes before the standings where it decides the places."""
    for format, first, words in (
        ("knockout", True, ["Bracket", "Winner: bot", "Semi-final", "Final", "Bronze", "→"]),
        ("halving", True, ["Stages", "Winner: bot", "Stage 1", "6 bots, 4 blocks", "Final", "→"]),
        ("swiss", False, ["Rounds", "Round 1", "Round 2"]),
        ("gauntlet", False, ["Challenger", "bot 2 against each"]),
    ):
        of = cup([f"bot {i}" for i in range(6)], format=format, seating="fixed")
        if format == "gauntlet":
            of = replace(of, format=Gauntlet(deals=2, seating="fixed", challenger="bot 2"))
        with run(tmp_path / format, of) as store:
            text = report(store)
        ids = Page(text).ids
        assert (ids.index("course") < ids.index("standings")) is first, format
        section = text.partition('<section id="course"')[2].partition("</section>")[0]
        assert all(word in section for word in words), format


def test_a_duel_has_a_report(tmp_path: Path) -> None:
    with run(tmp_path, replace(cup(("ann", "bob")), format=Duel(deals=2))) as store:
        assert "one is clearly better, 2 deals a table, in all mixed seatings," in report(store)


def test_a_page_says_why_the_cup_ended(tmp_path: Path) -> None:
    with run(tmp_path, replace(cup(), stop=Stop(1, 0.9))) as store:
        why = "Ended because all deals were played; the best bot was not separated from the rest"
        assert why in report(store)
        store.finish(settled=("bob",))
        why = "Ended after 2 blocks, because the best bot was separated from the rest at 90 %: bob."
        assert why in report(store)
        store.reopen(6)
        why = "Ends as soon as the best bot is separated from the rest at 90 %, or when all deals"
        assert why in report(store)


def test_soft_play_flags_are_questions_with_matches_to_see(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    last = list(store.summaries())[-1].match
    pair = Leniency("ann", "bob", 40, 0.1, 0.25, 0.001)
    result = Integrity(80, 6, (pair,), (Flag(("ann", "bob"), True, (last, "0123")),))
    monkeypatch.setattr("web.report.integrity", lambda *_: result)
    assert "easy on each other" not in report(store)
    page = Page(report(store, organiser=True))
    assert f"#match={last}" in page.links
    assert "ann and bob seem to go easy on each other. They have one author." in page.words
    assert "This is a question, not a verdict." in page.words


def test_a_report_says_who_won_when_and_of_which_field(store: Store, page: Page) -> None:
    won = f"{standings(store).standings[0].bot} won Test cup"
    assert all(part in page.words for part in (won, "3 bots: ", "6 deals in 2 blocks"))
    assert "og:image" not in page.text
    shared = report(store, preview='https://x.org/a"b/preview.png')
    assert '<meta property="og:image" content="https://x.org/a&#34;b/preview.png">' in shared
    assert "Dou Dizhu, 3 players. 3 bots: " in shared


def test_the_preview_is_a_picture_of_the_first_bots() -> None:
    for bots, scores in product((3, 64), ([(5, -1, -4)], [])):
        names = [f"bot {number}" for number in range(bots)]
        matches = [match(1, 0, names[:3], points) for points in scores]
        data = preview(compute(collect(matches, names), Run(cup=cup(names), finished=False)))
        assert data.startswith(b"\x89PNG\r\n\x1a\n")
        assert struct.unpack(">2I", data[16:24]) == (WIDTH, HEIGHT)
        length = int.from_bytes(data[33:37])
        assert len(zlib.decompress(data[41 : 41 + length])) == HEIGHT * (1 + 3 * WIDTH)


def test_points_that_round_to_zero_have_no_minus() -> None:
    shown = [format_points(points) for points in (0.905, -0.006, -0.004, -0.0)]
    assert shown == ["+0.91", "−0.01", "+0.00", "+0.00"]


def test_bars_show_small_differences_beside_wide_intervals() -> None:
    table = compute(collect([], cup().names), Run(cup=cup(), finished=False))
    lines = zip(table.standings, (2.0, 1.0, None), (-500.0, None, None), strict=True)
    known = [replace(line, score=score, low=low, high=2.0) for line, score, low in lines]
    bars = score_bars(replace(table, standings=tuple(known)))
    assert list(bars) == ["ann", "bob"]
    assert (bars["ann"].low, bars["ann"].high) == (3, 97)
    assert bars["ann"].value - bars["bob"].value > 10
    assert bars["bob"].low is None


def test_a_bot_keeps_its_colour_whatever_its_rank() -> None:
    of = cup(("dan", "ann", "cat", "bob"))
    everything = collect(record.summary() for record in played(of))
    series_of: dict[str, str] = {}
    for disqualified in ((), ("dan",), ("ann",)):
        arrays = everything.without(disqualified)
        plot = course(arrays, compute(arrays, Run(cup=of, finished=False)), of.names)
        assert plot is not None
        assert len(plot.lines) == 4 - len(disqualified)
        for line in plot.lines:
            assert series_of.setdefault(line.bot, line.series) == line.series
    assert len(set(series_of.values())) == 4
    assert len({series(number) for number in range(24)}) == 24
    styles = (files("web.ui") / "static" / "pages.css").read_text()
    for number in range(9, 64):
        assert all(f".{name} " in styles for name in series(number).replace("dash-0", "").split())
