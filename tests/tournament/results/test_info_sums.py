import json
import random
import sys
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path

import pytest

import games
from tests.support.tournament.cups import stich
from tests.support.tournament.played import cup, played, unfinished
from tournament.records import MatchRecord
from tournament.results.info_sums import InfoSum, info_sums
from tournament.store.store import Store
from web.arena.app import create_app
from web.report import report


def with_info(record: MatchRecord) -> MatchRecord:
    info: dict[int, dict[str, str | float]] = {}
    state = games.get(record.game).start(record.players, record.seed, record.options)
    for index, move in enumerate(record.moves):
        bot = record.seating[state.turn or 0]
        if bot != "cat" and index not in record.forced:
            info[index] = {"comment": f"<b>{bot}", "tokens": {"ann": 10.0, "bob": 1e308}[bot]}
        state = state.advance(move)
    return replace(record, info=info)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with unfinished(tmp_path, cup(), map(with_info, played(cup()))) as made:
        made.finish()
        yield made


def test_sums_of_each_bot_are_shown_everywhere(store: Store) -> None:
    ann, bob = info_sums(store.matches())
    asked = sum(len(record.times[record.seating.index("ann")]) for record in store.matches())
    assert ann == InfoSum("ann", "tokens", 10.0 * asked, asked, 6, 10, 10 * asked / 6)
    assert (bob.bot, bob.sum) == ("bob", sys.float_info.max)
    shown = json.loads(stich("standings", store.folder, "--info", "--json").stdout)
    assert shown["info"] == [asdict(ann), asdict(bob)]
    assert "tokens" in stich("standings", store.folder, "--info").stdout
    assert "info" not in json.loads(stich("standings", store.folder, "--json").stdout)
    client = create_app(store).test_client()
    assert "tokens" in client.get("/bots/ann").text
    assert "tokens" not in client.get("/bots/cat").text
    assert "Beside the moves" in report(store)
    record = random.Random(1).choice(list(store.matches()))
    text = stich("replay", store.folder, record.match).stdout
    times = record.times[record.seating.index("ann")]
    assert text.count("<b>ann · tokens 10\n") == len(times)
    assert "the only legal move" in text
    steps = json.loads(stich("replay", store.folder, record.match, "--json").stdout)["steps"][1:]
    assert [i for i, step in enumerate(steps) if step["forced"]] == list(record.forced)
    assert {i: step["info"] for i, step in enumerate(steps) if step["info"]} == record.info
