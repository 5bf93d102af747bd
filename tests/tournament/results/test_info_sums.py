"""The numbers that bots gave beside their moves, added up, and where they are shown."""

import json
import random
from collections.abc import Iterator
from dataclasses import asdict, replace

import pytest
from click.testing import CliRunner

import games
from stich.cli import cli
from tests.support.played import cup, played, unfinished
from tournament.records import MatchRecord
from tournament.results.info_sums import info_sums
from tournament.store.store import Store
from web.arena.app import create_app
from web.report import report


def told(record: MatchRecord) -> MatchRecord:
    """The match with a number of ann and of bob beside each of their asked moves."""
    info: dict[int, dict[str, str | float]] = {}
    state = games.get(record.game).start(record.players, record.seed, record.options)
    for index, move in enumerate(record.moves):
        bot = record.seating[state.turn or 0]
        if bot != "cat" and index not in record.forced:
            info[index] = {"comment": f"<b>{bot}", "tokens": {"ann": 10.0, "bob": 0.5}[bot]}
        state = state.advance(move)
    return replace(record, info=info)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with unfinished(tmp_path_factory.mktemp("run"), cup()) as made:
        for record in played(cup()):
            made.add(told(record))
        made.finish()
        yield made


def test_sums_and_means_are_those_of_each_bot(store: Store) -> None:
    ann, bob = info_sums(store.matches())
    asked = sum(len(record.times[record.seating.index("ann")]) for record in store.matches())
    assert (ann.bot, ann.name, ann.sum, ann.decisions, ann.matches) == (
        "ann", "tokens", 10.0 * asked, asked, 6,
    )  # fmt: skip
    assert (ann.per_decision, ann.per_match) == (10, 10 * asked / 6)
    assert (bob.bot, bob.per_decision) == ("bob", 0.5)


def test_standings_show_them(store: Store) -> None:
    ran = CliRunner().invoke(cli, ["standings", str(store.folder), "--info", "--json"])
    assert ran.exit_code == 0, ran.output
    expected = [asdict(one) for one in info_sums(store.matches())]
    assert json.loads(ran.stdout)["info"] == expected
    ran = CliRunner().invoke(cli, ["standings", str(store.folder), "--info"])
    assert "tokens" in ran.output
    ran = CliRunner().invoke(cli, ["standings", str(store.folder), "--json"])
    assert "info" not in json.loads(ran.stdout)


def test_pages_and_report_show_them(store: Store) -> None:
    client = create_app(store).test_client()
    assert "tokens" in client.get("/bots/ann").text
    assert "tokens" not in client.get("/bots/cat").text
    assert "Beside the moves" in report(store)


def test_a_replay_shows_what_was_said(store: Store) -> None:
    record = random.Random(1).choice(list(store.matches()))
    ran = CliRunner().invoke(cli, ["replay", str(store.folder), record.match])
    asked = record.times[record.seating.index("ann")]
    assert ran.output.count("<b>ann · tokens 10\n") == len(asked)
    assert "the only legal move" in ran.output
    ran = CliRunner().invoke(cli, ["replay", str(store.folder), record.match, "--json"])
    steps = json.loads(ran.stdout)["steps"][1:]
    assert [i for i, step in enumerate(steps) if step["forced"]] == list(record.forced)
    assert {i: step["info"] for i, step in enumerate(steps) if step["info"]} == record.info
    assert not any(step["house"] for step in steps)
