import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from markupsafe import escape
from werkzeug.test import TestResponse

from tests.support.tournament.played import cup, played, run, unfinished
from tournament.records import Answer, MatchRecord
from tournament.store.store import Store
from web.arena.app import create_app
from web.gateway.invitations import Invitations

NAMES = ("ann", "a/b?c&d", "cat")
MARKUP = "<script>alert(1)</script>\x1b[2J\u202e"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with run(tmp_path_factory.mktemp("run"), cup(NAMES), {"cat": 9, "ann": 9}) as made:
        yield made


@pytest.fixture
def invitations(store: Store) -> Invitations:
    assert store.folder is not None
    return Invitations(store.folder)


@pytest.fixture
def client(store: Store) -> FlaskClient:
    return create_app(store).test_client()


def sign_in(client: FlaskClient, token: str, **headers: str) -> TestResponse:
    return client.post("/author", data={"token": token}, headers=headers)


def links(page: str) -> list[str]:
    matches = re.findall(r'href="(/author/[^"]+match=[^"]+)"', page)
    return [link.replace("&amp;", "&") for link in matches]


def test_an_author_sees_each_fault_of_the_own_bot_whole(
    client: FlaskClient, invitations: Invitations, store: Store
) -> None:
    assert "Are you the author?" not in client.get("/bots/cat").text
    token = invitations.invite("cat", 1)
    assert 'href="/author/cat"' in client.get("/bots/cat").text
    assert 'type="password"' in client.get("/author/cat").text
    answer = sign_in(client, f" {token}\n")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/author/cat")
    page = client.get("/author/cat")
    assert page.headers["Cache-Control"] == "no-store"
    shown = "".join(client.get(link).text for link in links(page.text))
    faults = [(one, fault) for one in store.matches() for fault in one.faults]
    own = [(one.match, fault) for one, fault in faults if one.seating[fault.seat] == "cat"]
    for match, fault in own:
        move = f"/matches/{match}#move={fault.move + 1}"
        assert all(part in shown for part in (move, escape(fault.request), escape(fault.detail)))
    assert len(links(page.text)) == len(own) > 3
    for text in ("status 200, 25 bytes of body", "curl -sS", "output    nothing"):
        assert text in shown
    assert "python" not in shown, "the command is the organiser's"


def test_a_token_shows_no_other_bot(client: FlaskClient, invitations: Invitations) -> None:
    token = invitations.invite("ann", 1)
    sign_in(client, token)
    faults = links(client.get("/author/ann").text)
    assert faults
    assert "Are you the author?" in client.get("/bots/cat").text
    assert not links(client.get("/author/cat").text), "a form"
    stranger = client.application.test_client()
    assert not links(stranger.get("/author/ann").text)
    others = [link.replace("/author/ann", "/author/cat") for link in faults]
    for link, other in zip(faults, others, strict=True):
        assert "<pre" in client.get(link).text
        assert "<pre" not in stranger.get(link).text + client.get(other).text
    sign_in(client, invitations.invite("cat", 1))
    assert {client.get(other).status_code for other in others} == {404}


def test_only_this_site_signs_in_by_a_cookie_for_no_script(
    client: FlaskClient, invitations: Invitations
) -> None:
    token = invitations.invite("a/b?c&d", 1)
    for headers in (
        {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
    ):
        answer = sign_in(client, token, **headers)
        assert (answer.status_code, "Set-Cookie" in answer.headers) == (403, False)
        assert client.post("/sign-out/cat", headers=headers).status_code == 403
    assert sign_in(client, token, Origin="http://localhost").status_code == 303
    cookie = sign_in(client, token).headers["Set-Cookie"]
    assert {"HttpOnly", "SameSite=Strict"} <= set(cookie.split("; "))
    assert "Secure" not in cookie
    assert token not in cookie
    secure = sign_in(client, token, **{"X-Forwarded-Proto": "https"})
    assert "Secure" in secure.headers["Set-Cookie"]
    assert client.get("/author/a/b%3Fc&d").status_code == 200
    assert client.post("/sign-out/a/b%3Fc&d").headers["Location"] == "/bots/a/b%3Fc&d"
    assert 'type="password"' in client.get("/author/a/b%3Fc&d").text


def test_a_refused_token_is_a_sentence(client: FlaskClient, invitations: Invitations) -> None:
    invited = (("cat", 1), ("cat", -1), ("ann", 1))
    revoked, expired, valid = (invitations.invite(bot, days) for bot, days in invited)
    for token, reason in (
        *[(str(guess), "This token is not known here") for guess in range(30)],
        (expired, "This token expired at"),
        (revoked, "This token was revoked at"),
    ):
        answer = sign_in(client, token)
        assert (answer.status_code, reason in answer.text) == (401, True)
        assert "Set-Cookie" not in answer.headers
        assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert sign_in(client, valid).status_code == 303, "wrong tokens lock nobody out"
    assert links(client.get("/author/ann").text)
    invitations.revoke("ann")
    answer = client.get("/author/ann")  # which ends the session
    assert (answer.status_code, links(answer.text)) == (401, [])
    assert "This token was revoked" in answer.text


def with_markup(record: MatchRecord) -> MatchRecord:
    """The match with markup and control characters wherever a bot can write text."""
    answer = Answer(200, f"X: {MARKUP}", MARKUP, 9)
    faults = [
        replace(fault, detail=MARKUP, answer=answer, output=MARKUP, request=f'"{MARKUP}"')
        for fault in record.faults
    ]
    return replace(record, faults=tuple(faults))


def test_open_blocks_show_no_faults_and_texts_are_no_markup(tmp_path: Path) -> None:
    # a block of three, and one match of the next
    *block, late = map(with_markup, islice(played(cup(NAMES), {"cat": 30}), 4))
    with unfinished(tmp_path, cup(NAMES), [*block, late]) as under_way:
        client = create_app(under_way).test_client()
        sign_in(client, Invitations(tmp_path).invite("cat", 1))
        page = client.get("/author/cat").text
        secret = sum(late.seating[fault.seat] == "cat" for fault in late.faults)
        assert secret
        assert f"{secret} more faults will be shown once the same cards have been" in page
        assert len(links(page)) > 2
        assert late.match not in page
        fault = late.faults[0]
        query = f"match={late.match}&turn={fault.turn}&seat={fault.seat}"
        hidden = client.get(f"/author/cat?{query}")
        assert (hidden.status_code, "is not shown yet" in hidden.text) == (404, True)
        texts = [page, *(client.get(link).text for link in links(page))]
    assert not any(mark in "".join(texts) for mark in ("<script>alert", "\x1b", "\u202e"))
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\\x1b[2J\\u202e" in texts[1]


def test_a_fault_that_is_not_there_has_no_page(
    client: FlaskClient, invitations: Invitations, store: Store
) -> None:
    sign_in(client, invitations.invite("cat", 1))
    match = next(iter(store.summaries())).match
    queries = ("", "&turn=x&seat=0", "&turn=1&seat=9", "&turn=999&seat=0")
    matches = (match, "0000", "'", "")  # the ids of several matches begin with ""
    for query in (f"{match}{query}" for match in matches for query in queries):
        answer = client.get(f"/author/cat?match={query}")
        assert (answer.status_code, "There is no such fault of cat" in answer.text) == (404, True)
    assert client.get("/author/nobody").status_code == 404
