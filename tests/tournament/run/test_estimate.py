"""What a cup will take, by a first block for each bot."""

import json
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.cups import bot, stich, succeed, write
from tests.support.played import cup, plan, played
from tools import hostile
from tournament.config.cup import Cup, RunSettings
from tournament.records import MatchRecord
from tournament.run.estimate import Estimate, extrapolate


def records_of(of: Cup) -> list[MatchRecord]:
    """Those of the whole cup; the bots only say how long they thought."""
    thought = ((record, sum(map(sum, record.times))) for record in played(of))
    return [replace(record, wall_ms=ms) for record, ms in thought]


def whole_of(of: Cup, **fields: Any) -> Estimate:
    """The estimate by all matches of a cup, which then has other fields."""
    return extrapolate(replace(of, **fields), plan(of), records_of(of))


@pytest.mark.parametrize("format", ["round-robin", "gauntlet"])
def test_it_is_near_what_the_cup_takes(format: str) -> None:
    of = cup(["ann", "bob", "cat", "dan"], deals=16, format=format)
    whole_plan, records = plan(of), records_of(of)
    some = [record for record in records if record.block % 8 < 4]
    by_some, whole = extrapolate(of, whole_plan, some), extrapolate(of, whole_plan, records)
    for name, share in whole.bots.items():
        own = [record for record in records if name in record.seating]
        asked = sum(len(record.times[record.seating.index(name)]) for record in own)
        assert share["requests"] == pytest.approx(asked)
        assert by_some.bots[name]["requests"] == pytest.approx(asked, rel=0.25)
    assert whole.seconds == pytest.approx(sum(record.wall_ms for record in records) / 1000)
    assert whole.forced == pytest.approx(sum(len(record.forced) for record in records))
    assert by_some.matches == whole.matches == len(records)
    assert by_some.seconds == pytest.approx(whole.seconds, rel=0.25)


def test_more_tables_take_less_time_but_not_for_a_bot_by_url() -> None:
    of = cup(["ann", "bob", "cat", "dan"], deals=4)
    one, four = whole_of(of), whole_of(of, run=RunSettings(concurrency=4))
    assert four.seconds == pytest.approx(one.seconds / 4)
    ann = replace(of.bots[0], command=None, url="http://127.0.0.1:9", max_matches=1)
    alone = whole_of(of, bots=(ann, *of.bots[1:]), run=RunSettings(concurrency=4))
    hers = sum(record.wall_ms for record in records_of(of) if "ann" in record.seating)
    assert alone.seconds == pytest.approx(hers / 1000)


def counting(seen: list[dict[str, Any]]) -> hostile.Handler:
    """The first move, with what it is said to cost."""

    def handle(connection: socket.socket, request: dict[str, Any]) -> None:
        seen.append(request)
        info = {"input_tokens": 100, "output_tokens": 5, "cost": 0.25, "calls": 1}
        answer = {"move": request["moves"][0], "info": info}
        connection.sendall(hostile.answer(json.dumps(answer).encode()))

    return handle


def hands(seen: list[dict[str, Any]]) -> set[str]:
    return {str(request["view"]["hand"]) for request in seen if len(request["view"]["hand"]) > 15}


def test_a_block_is_played_on_other_deals_and_not_kept(tmp_path: Path) -> None:
    seen: list[dict[str, Any]] = []
    with hostile.running(counting(seen)) as url, hostile.running(hostile.first) as other:
        bots = {"model": url, **{f"bot{i}": other for i in range(3)}}
        file = write(tmp_path, bots, "commit = true", deals=2)
        done = succeed("run", file, "--estimate", "--json")
        found = json.loads(done.stdout.splitlines()[-1])
        asked, first = len(seen), hands(seen)
        assert {path.name for path in tmp_path.iterdir()} == {"cup.toml"}
        shown = stich("run", file, "--estimate")
        seen.clear()
        succeed("run", file, "--out", tmp_path / "run")
    assert found["event"] == "estimate"
    assert (found["matches"], found["played"], found["faults"]) == (4 * 2 * 3, 2 * 3, 0)
    model, *others = found["bots"].values()
    assert model["requests"] >= asked
    for name, value in {"input_tokens": 100, "output_tokens": 5, "cost": 0.25}.items():
        assert model[name] == pytest.approx(value * model["requests"])
    assert [set(one) for one in others] == [{"requests", "seconds"}] * 3
    assert not first & hands(seen)  # the bot has met none of the deals
    words = " ".join(shown.stdout.split())
    for part in ("input tokens", "cost", "24 matches", "6 matches on other deals"):
        assert part in words


def test_it_is_refused_where_it_would_mean_something_else(tmp_path: Path) -> None:
    file = write(tmp_path, {f"toy{i}": bot(f"toy-{i}") for i in range(3)})
    for more in (["--out", tmp_path / "run"], ["--cluster", "tcp://127.0.0.1:8786"]):
        done = stich("run", file, "--estimate", *more)
        assert done.returncode == 2
        assert "use it alone" in done.stderr


def test_every_bot_is_measured_however_many_there_are(tmp_path: Path) -> None:
    with hostile.running(hostile.first) as url:
        bots = {f"bot{i}": url for i in range(5)}
        gauntlet = ('[format] type = "gauntlet"', '[format] challenger = "bot3"')
        for more, matches in (((), 3 * 10), (gauntlet, 3 * 6)):
            file = write(tmp_path, bots, *more, deals=1)
            done = stich("run", file, "--estimate", "--json")
            found = json.loads(done.stdout.splitlines()[-1])
            assert found["matches"] == matches
            assert all(one["requests"] > 0 for one in found["bots"].values())
