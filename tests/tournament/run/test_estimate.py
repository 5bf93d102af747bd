"""The estimate of a whole cup from a first block for each bot."""

import json
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.tournament.cups import json_lines, stich, succeed, write
from tests.support.tournament.played import cup, plan, played
from tools import hostile
from tournament.config.cup import Cup, RunSettings
from tournament.records import MatchRecord
from tournament.run.estimate import extrapolate


def records_of(of: Cup) -> list[MatchRecord]:
    """The matches of a whole cup, which take only the time that the bots think."""
    return [replace(record, wall_ms=sum(map(sum, record.times))) for record in played(of)]


@pytest.mark.parametrize("format", ["round-robin", "gauntlet"])
def test_an_estimate_is_near_what_the_cup_takes(format: str) -> None:
    of = cup(["ann", "bob", "cat", "dan"], deals=8, format=format)
    records = records_of(of)
    some = [record for record in records if record.block % 4 < 2]
    by_some, whole = (extrapolate(of, plan(of), matches) for matches in (some, records))
    for name, share in whole.bots.items():
        times = [dict(zip(record.seating, record.times, strict=True)) for record in records]
        asked = sum(len(by_bot.get(name, ())) for by_bot in times)
        assert share["requests"] == pytest.approx(asked)
        assert by_some.bots[name]["requests"] == pytest.approx(asked, rel=0.25)
    assert whole.seconds == pytest.approx(sum(record.wall_ms for record in records) / 1000)
    assert whole.forced == pytest.approx(sum(len(record.forced) for record in records))
    assert by_some.matches == whole.matches == len(records)
    assert by_some.seconds == pytest.approx(whole.seconds, rel=0.25)


def test_more_tables_take_less_time_except_for_bots_by_url() -> None:
    of = cup(["ann", "bob", "cat", "dan"], deals=2)
    records = records_of(of)

    def seconds(**fields: Any) -> float:
        return extrapolate(replace(of, **fields), plan(of), records).seconds

    four = RunSettings(concurrency=4)
    assert seconds(run=four) == pytest.approx(seconds() / 4)
    ann = replace(of.bots[0], command=None, url="http://127.0.0.1:9", max_matches=1)
    hers = sum(record.wall_ms for record in records if "ann" in record.seating)
    assert seconds(run=four, bots=(ann, *of.bots[1:])) == pytest.approx(hers / 1000)


def test_an_estimate_plays_other_deals_and_keeps_nothing(tmp_path: Path) -> None:
    seen: list[dict[str, Any]] = []

    def model(connection: socket.socket, request: dict[str, Any]) -> None:
        seen.append(request)
        info = {"input_tokens": 100, "output_tokens": 5, "cost": 0.25, "calls": 1}
        answer = {"move": request["moves"][0], "info": info}
        connection.sendall(hostile.answer(json.dumps(answer).encode()))

    def hands() -> set[str]:
        return {str(asked["view"]["hand"]) for asked in seen if len(asked["view"]["hand"]) > 15}

    with hostile.running(model) as url, hostile.running(hostile.first) as other:
        bots = {"model": url, **{f"bot{i}": other for i in range(4)}}
        file = write(tmp_path, bots, "commit = true", deals=2)
        estimate = json_lines("run", file, "--estimate")[-1]
        asked, first = len(seen), hands()
        assert {path.name for path in tmp_path.iterdir()} == {"cup.toml"}
        shown = stich("run", file, "--estimate")
        seen.clear()
        succeed("run", file, "--out", tmp_path / "run")
    assert estimate["event"] == "estimate"
    assert (estimate["matches"], estimate["played"], estimate["faults"]) == (10 * 2 * 3, 2 * 3, 0)
    costs, *others = estimate["bots"].values()
    assert costs["requests"] >= asked
    for name, value in {"input_tokens": 100, "output_tokens": 5, "cost": 0.25}.items():
        assert costs[name] == pytest.approx(value * costs["requests"])
    assert [set(costs) for costs in others] == [{"requests", "seconds"}] * 4
    assert all(costs["requests"] > 0 for costs in others)
    assert not first & hands()  # the cup has other deals
    words = " ".join(shown.stdout.split())
    for part in ("input tokens", "cost", "60 matches", "6 matches on other deals"):
        assert part in words
