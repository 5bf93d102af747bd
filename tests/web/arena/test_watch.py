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
from tests.support.tournament.played import cup, played, run, unfinished
from tournament.config.cup import Cup
from tournament.records import Pairing
from tournament.results.standings import standings
from tournament.run.workers.live_table import LiveMatch, make_folder
from tournament.store.store import Store
from web.arena.app import create_app
from web.ui.page_steps import live_steps, match_data

NAMES = ("ann", "bob", "cat", "W" * 64)
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
    with run(tmp_path, cup(NAMES, deals=1)) as store:
        shown = watched(store)
        blocks = {match.match: match.block for match in store.summaries()}
    assert sorted(blocks[match["match"]] for match in shown) == sorted({*blocks.values()})
    assert " points a deal, " in shown[0]["why"]
    assert all(datetime.fromisoformat(match["ended"]).tzinfo for match in shown)


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


def live(store: Store, seen: str = "") -> dict[str, Any] | None:
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
        assert seen is not None  # that which began first
        assert (seen["match"], tuple(seen["seats"])) == (first.match, first.seating)
        moves = [step["move"] and step["move"][1] for step in steps_of(seen)]
        assert moves == [None, *first.moves[:8]]
        assert store.run().seed not in json.dumps([seen, steps_of(seen)])
        store.add(first)
        whole = live(store, first.match)
        assert whole is not None
        assert (whole["match"], whole["live"]) == (first.match, False)
        assert len(steps_of(whole)) == len(first.moves) + 1
        seen = live(store)
        assert seen is not None
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
