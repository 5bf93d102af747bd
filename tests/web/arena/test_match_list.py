"""The list of matches: filters, pages, and what a careless address is told."""

import re
from collections.abc import Iterator
from html import unescape
from urllib.parse import quote, urlencode

import pytest
from flask.testing import FlaskClient
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.tournament.played import cup, run
from tournament.records import FAULT_KINDS, MatchSummary
from tournament.store.store import Store
from web.arena.app import create_app

NAMES = ("ann", "斗" * 64, 'a/"b"?c&d', "Bör ♠", "eve")
LINK = re.compile(r'href="/matches/([0-9a-f]+)"')
Query = dict[str, str | int | None]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    of = cup(NAMES, format="swiss", deals=14)
    with run(tmp_path_factory.mktemp("run"), of, {"ann": 3, NAMES[1]: 1}) as made:
        yield made


@pytest.fixture(scope="module")
def client(store: Store) -> FlaskClient:
    return create_app(store).test_client()


def listed(client: FlaskClient, query: Query) -> list[str]:
    """The matches on all pages, each of which links to the next."""
    asked = {name: value for name, value in query.items() if value is not None}
    page = client.get(f"/matches?{urlencode(asked)}").text
    matches = LINK.findall(page)
    while link := re.search(r'rel="next" href="([^"]+)"', page):
        page = client.get(unescape(link[1])).text
        matches += LINK.findall(page)
    return matches


def fits(match: MatchSummary, query: Query) -> bool:
    bot, faults, result = (query[name] for name in ("bot", "faults", "result"))
    seats = [seat for seat, name in enumerate(match.seating) if bot in (None, name)]
    counts = [sum(match.faults[seat][kind] for seat in seats) for kind in range(len(FAULT_KINDS))]
    kinds = [kind for kind, count in zip(FAULT_KINDS, counts, strict=True) if count]
    won = any(match.adjusted[seat] == max(match.adjusted) for seat in seats)
    return (
        bool(seats)
        and query["round"] in (None, match.round)
        and query["block"] in (None, match.block)
        and (faults is None or (bool(kinds) if faults == "any" else faults in kinds))
        and (result is None or bot is None or won == (result == "won"))
    )


VALUES: dict[str, tuple[str | int | None, ...]] = {
    "bot": (None, *NAMES),
    "round": (None, 1, 2, 3),
    "block": (None, None, None, 1, 99),
    "faults": (None, "any", *map(str, FAULT_KINDS)),
    "result": (None, "won", "lost"),
}


@settings(max_examples=25, deadline=None)
@given(query=st.fixed_dictionaries({name: st.sampled_from(of) for name, of in VALUES.items()}))
def test_a_list_has_the_matches_that_fit_newest_first(
    store: Store, client: FlaskClient, query: Query
) -> None:
    expected = [match.match for match in store.summaries() if fits(match, query)]
    assert listed(client, query) == expected[::-1]


def test_a_form_with_nothing_chosen_shows_the_first_fifty_of_all(client: FlaskClient) -> None:
    empty = client.get("/matches?bot=&result=&faults=&round=&block=&q=1")
    assert empty.headers["ETag"] == client.get("/matches").headers["ETag"]
    assert ("page 1 of 2" in empty.text, len(LINK.findall(empty.text))) == (True, 50)
    chosen = client.get(f"/matches?bot={quote(NAMES[1])}&faults=any").text
    assert f" selected>{NAMES[1]}</option>" in chosen
    assert '<option value="any" selected>' in chosen


def test_a_careless_address_is_told_what_to_write(client: FlaskClient) -> None:
    for query, status, says in (
        ("bot=nobody", 404, "There is no bot “nobody” in this cup"),
        ("page=3", 404, "There is no page 3: these matches have 2 pages."),
        ("page=-1", 400, "page=-1 is not known; write a number such as 1."),
        ("round=٣", 400, "round=٣ is not known"),
        ("block=" + "9" * 4000, 400, "write a number"),
        ("faults=<b>", 400, "faults=&lt;b&gt; is not known; write one of any, timeout"),
        ("bot=ann&result=drawn", 400, "write one of won, lost."),
    ):
        answer = client.get(f"/matches?{query}")
        assert answer.status_code == status, query
        title = "There is no such page" if status == 404 else "The request is not valid"
        assert f"<h1>{title}</h1>" in answer.text
        assert says in answer.text
        assert len(answer.text) < 4000
