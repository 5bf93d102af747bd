"""Which tables spectators see."""

import base64
import json
import random
import re
import zlib
from dataclasses import fields, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from flask.testing import FlaskClient

import games
from tests.support.played import cup, played, run, unfinished
from tournament.config.cup import Cup
from tournament.records import Pairing
from tournament.run.live_table import LiveMatch, make_folder
from tournament.store.store import Store
from web.arena.app import create_app
from web.ui.page_steps import live_steps, match_data

NAMES = ("ann", "bob", "cat", "W" * 64)


def next_match(client: FlaskClient, **shown: str) -> Any:
    return client.get("/watch/next", query_string=shown).get_json()


def watched(client: FlaskClient) -> list[dict[str, Any]]:
    """What a screen shows until it begins anew."""
    found: list[dict[str, Any]] = []
    names: list[str] = []
    while one := next_match(client, shown=",".join(names)):
        if one["match"] in names:
            assert one["match"] == names[0]
            break
        found.append(one)
        names.append(one["match"])
    return found


def test_the_closest_fight_comes_first_and_says_what_it_is_about(tmp_path: Path) -> None:
    with run(tmp_path, cup(NAMES, deals=1)) as store:
        client = create_app(store).test_client()
        found = watched(client)
        matches = {one.match: one for one in store.summaries()}
        blocks = [matches[one["match"]].block for one in found]
        assert sorted(blocks) == sorted({one.block for one in matches.values()})
        assert " points a deal, " in found[0]["why"]
        assert all(datetime.fromisoformat(one["ended"]).tzinfo for one in found)
        assert client.get("/watch").status_code == 200


def test_tables_without_the_first_places_are_not_shown(tmp_path: Path) -> None:
    names = [f"bot-{number}" for number in range(9)]
    with run(tmp_path, cup(names, deals=1)) as store:
        client = create_app(store).test_client()
        table = client.get("/standings.json").get_json()["standings"]
        first = {line["bot"] for line in table[:3]}
        found = watched(client)
        assert found
        assert all(first.intersection(one["seats"]) for one in found)


def test_blocks_that_ended_long_before_the_last_are_left_out(tmp_path: Path) -> None:
    of = cup(deals=2)
    with unfinished(tmp_path, of) as store:
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
    with unfinished(tmp_path, of) as store:
        client = create_app(store).test_client()
        assert watched(client) == []
        assert client.get("/watch").status_code == 200
        first = next(iter(played(of)))
        store.add(first)
        client = create_app(store).test_client()
        assert [one["match"] for one in watched(client)] == [first.match]


FRESH = replace(cup(), format=replace(cup().format, cards="fresh"))


def live(store: Store, seen: str = "") -> dict[str, Any] | None:
    """What is shown of the match that is being played, to who has `seen` one."""
    found = next_match(create_app(store).test_client(), live=seen)
    return found if found and (found["live"] or seen) else None


def steps_of(data: dict[str, Any]) -> list[dict[str, Any]]:
    steps: list[dict[str, Any]] = json.loads(zlib.decompress(base64.b64decode(data["steps"])))
    return steps


@pytest.mark.parametrize("of", [FRESH, cup()], ids=["fresh", "shared"])
def test_a_match_is_shown_live_unless_its_cards_are_shared(tmp_path: Path, of: Cup) -> None:
    with unfinished(tmp_path, of) as store:
        assert live(store) is None
        folder = make_folder(FRESH, store.run().id)
        assert folder is not None
        first, second, *_ = played(of)
        for number, record in enumerate((second, first)):
            pairing = Pairing(**{one.name: getattr(record, one.name) for one in fields(Pairing)})
            match = LiveMatch(pairing, 10.0 - number, list(record.moves[:8]))
            (folder / f"{number}.json").write_bytes(msgspec.json.encode(match))
        seen = live(store)
        if of is not FRESH:
            assert seen is None
            return
        assert seen is not None  # that which began first
        assert (seen["match"], tuple(seen["seats"])) == (first.match, first.seating)
        assert [one["move"] and one["move"][1] for one in steps_of(seen)] == [
            None,
            *first.moves[:8],
        ]
        assert store.run().seed not in json.dumps([seen, steps_of(seen)])
        store.add(first)
        whole = live(store, first.match)
        assert whole is not None
        assert (whole["match"], whole["live"]) == (first.match, False)
        assert len(steps_of(whole)) == len(first.moves) + 1
        seen = live(store)
        assert seen is not None
        assert seen["match"] == second.match
        assert "number 1" in seen["why"]
        store.add(second)
        assert live(store) is None


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
    state = rules.start(players, seed, {"deals": 3})
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
    assert sum(one["ended"] is not None for one in steps) == len(state.results)
    for before, now, step in zip([set(), *known], known, steps, strict=False):
        assert cards(step) <= before | now
        assert set("".join(step["hands"])) <= {"?"}
    assert not {seed, "the key"} & set(re.findall(r"[\w ]+", json.dumps([data, steps])))
