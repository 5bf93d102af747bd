"""Which tables spectators see."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

from flask.testing import FlaskClient

from tests.tournament.played import cup, facts, played, run
from tournament.store.store import Store
from web.arena.app import create_app

NAMES = ("ann", "bob", "cat", "W" * 64)


def watched(client: FlaskClient) -> list[dict[str, str]]:
    found: list[dict[str, str]] = client.get("/watch/tables").get_json()
    return found


def test_the_closest_fight_comes_first_and_says_what_it_is_about(tmp_path: Path) -> None:
    with run(tmp_path, cup(NAMES, deals=1)) as store:
        client = create_app(store).test_client()
        found = watched(client)
        matches = {one.match: one for one in store.summaries()}
        blocks = [matches[one["match"]].block for one in found]
        assert sorted(blocks) == sorted({one.block for one in matches.values()})
        assert " points a deal, " in found[0]["why"]
        assert all(one["ago"].endswith(" ago") for one in found)
        assert client.get("/watch").status_code == 200


def test_blocks_that_ended_long_before_the_last_are_left_out(tmp_path: Path) -> None:
    of = cup(deals=2)
    with Store.create(tmp_path) as store:
        store.put(facts(of))
        for record in played(of):
            earlier = datetime.fromisoformat(record.started) - timedelta(minutes=20)
            started = earlier.isoformat() if record.block == 1 else record.started
            store.add(replace(record, started=started))
        found = watched(create_app(store).test_client())
        (shown,) = [
            one for one in store.summaries() if one.match in [each["match"] for each in found]
        ]
        assert shown.block == 2


def test_with_fresh_cards_a_match_is_shown_once_it_has_ended(tmp_path: Path) -> None:
    of = replace(cup(), format=replace(cup().format, cards="fresh"))
    with Store.create(tmp_path) as store:
        store.put(facts(of))
        client = create_app(store).test_client()
        assert watched(client) == []
        assert client.get("/watch").status_code == 200
        assert client.get("/watch/nothing").status_code == 404
        first = next(iter(played(of)))
        store.add(first)
        client = create_app(store).test_client()
        assert [one["match"] for one in watched(client)] == [first.match]
        assert client.get(f"/watch/{first.match}").status_code == 200
