"""The page of a bot's author: what a token shows, what it does not, and who is refused."""

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from flask.testing import FlaskClient
from markupsafe import escape
from werkzeug.test import TestResponse

from tests.support.played import cup, played, run, unfinished
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
def client(store: Store, invitations: Invitations) -> FlaskClient:
    return create_app(store).test_client()


def sign_in(client: FlaskClient, token: str, **headers: str) -> TestResponse:
    return client.post("/author", data={"token": token}, headers=headers)


def links(page: str) -> list[str]:
    found = re.findall(r'href="(/author/[^"]+match=[^"]+)"', page)
    return [link.replace("&amp;", "&") for link in found]


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
    own = [
        (record, fault)
        for record in store.matches()
        for fault in record.faults
        if record.seating[fault.seat] == "cat"
    ]
    assert len(links(page.text)) == len(own) > 3
    shown = "".join(client.get(link).text for link in links(page.text))
    for record, fault in own:
        assert f"/matches/{record.match}#move={fault.move + 1}" in shown
        assert str(escape(fault.request)) in shown
        assert str(escape(fault.detail)) in shown
    assert "status 200, 25 bytes of body" in shown
    assert "curl -sS" in shown
    assert "output    nothing" in shown
    assert "python" not in shown, "the command is the organiser's"


def test_a_token_shows_no_other_bot(client: FlaskClient, invitations: Invitations) -> None:
    token = invitations.invite("ann", 1)
    sign_in(client, token)
    own = links(client.get("/author/ann").text)
    assert own
    assert "Are you the author?" in client.get("/bots/cat").text
    assert not links(client.get("/author/cat").text), "a form"
    stranger = client.application.test_client()
    assert not links(stranger.get("/author/ann").text)
    for link in own:
        assert "<pre" in client.get(link).text
        assert "<pre" not in stranger.get(link).text
        elsewhere = link.replace("/author/ann", "/author/cat")
        assert "<pre" not in client.get(elsewhere).text
        sign_in(client, invitations.invite("cat", 1))
        assert client.get(elsewhere).status_code == 404
        client.post("/sign-out/cat")


def test_the_cookie_is_for_this_site_and_for_no_script(
    client: FlaskClient, invitations: Invitations
) -> None:
    token = invitations.invite("a/b?c&d", 1)
    plain = sign_in(client, token).headers["Set-Cookie"]
    assert "HttpOnly" in plain
    assert "SameSite=Strict" in plain
    assert "Secure" not in plain
    assert token not in plain
    behind = sign_in(client, token, **{"X-Forwarded-Proto": "https"})
    assert "Secure" in behind.headers["Set-Cookie"]
    assert client.get("/author/a/b%3Fc&d").status_code == 200
    out = client.post("/sign-out/a/b%3Fc&d")
    assert out.headers["Location"] == "/bots/a/b?c&d".replace("?", "%3F")
    assert 'type="password"' in client.get("/author/a/b%3Fc&d").text


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("unknown", "This token is not known here"),
        ("expired", "This token expired at"),
        ("revoked", "This token was revoked at"),
    ],
)
def test_a_token_that_lets_nobody_in_is_a_sentence(
    client: FlaskClient, invitations: Invitations, kind: str, says: str
) -> None:
    token = invitations.invite("cat", -1 if kind == "expired" else 1)
    if kind == "unknown":
        token = "0" * 64
    if kind == "revoked":
        invitations.revoke("cat")
    answer = sign_in(client, token)
    assert answer.status_code == 401
    assert says in answer.text
    assert "Set-Cookie" not in answer.headers
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_a_session_ends_with_its_token(client: FlaskClient, invitations: Invitations) -> None:
    sign_in(client, invitations.invite("cat", 1))
    assert links(client.get("/author/cat").text)
    invitations.revoke("cat")
    answer = client.get("/author/cat")
    assert answer.status_code == 401
    assert "This token was revoked" in answer.text
    assert not links(answer.text)


def test_wrong_tokens_lock_nobody_out(client: FlaskClient, invitations: Invitations) -> None:
    token = invitations.invite("cat", 1)
    assert {sign_in(client, str(guess)).status_code for guess in range(30)} == {401}
    assert sign_in(client, token).status_code == 303


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site", "Origin": "https://evil.example"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
    ],
)
def test_no_other_site_signs_in_or_out(
    client: FlaskClient, invitations: Invitations, headers: dict[str, str]
) -> None:
    token = invitations.invite("cat", 1)
    answer = sign_in(client, token, **headers)
    assert (answer.status_code, "Set-Cookie" in answer.headers) == (403, False)
    assert client.post("/sign-out/cat", headers=headers).status_code == 403
    own = {"Origin": "http://localhost"}
    assert sign_in(client, token, **own).status_code == 303


def with_markup(record: MatchRecord) -> MatchRecord:
    """The same match; whatever a bot can say in a fault is markup and control characters."""
    said = Answer(200, f"X: {MARKUP}", MARKUP, 9)
    faults = [
        replace(fault, detail=MARKUP, answer=said, output=MARKUP, request=f'"{MARKUP}"')
        for fault in record.faults
    ]
    return replace(record, faults=tuple(faults))


def test_open_blocks_show_no_faults_and_texts_are_no_markup(
    tmp_path: Path,
) -> None:
    of = cup(NAMES)
    records = [with_markup(record) for record in played(of, {"cat": 30})]
    # a block of three, and one match of the next
    with unfinished(tmp_path, of, records[:4]) as under_way:
        client = create_app(under_way).test_client()
        sign_in(client, Invitations(tmp_path).invite("cat", 1))
        page = client.get("/author/cat").text
        (late,) = records[3:4]
        secret = sum(late.seating[fault.seat] == "cat" for fault in late.faults)
        assert secret
        assert f"{secret} more faults will be shown once the same cards have been" in page
        assert len(links(page)) > 2
        assert not any(late.match in link for link in links(page))
        (fault, *_) = late.faults
        query = f"match={late.match}&turn={fault.turn}&seat={fault.seat}"
        hidden = client.get(f"/author/cat?{query}")
        assert hidden.status_code == 404
        assert "is not shown yet" in hidden.text
        texts = [page, *(client.get(link).text for link in links(page))]
    for text in texts:
        assert "<script>alert" not in text
        assert "\x1b" not in text
        assert "\u202e" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;\\x1b[2J\\u202e" in texts[1]


@pytest.mark.parametrize("query", ["", "&turn=x&seat=0", "&turn=1&seat=9", "&turn=999&seat=0"])
def test_a_fault_that_is_not_there(
    client: FlaskClient, invitations: Invitations, store: Store, query: str
) -> None:
    sign_in(client, invitations.invite("cat", 1))
    match = next(iter(store.summaries())).match
    for given in (match, "0000", "'"):
        answer = client.get(f"/author/cat?match={given}{query}")
        assert answer.status_code == 404
        assert "There is no such fault of cat" in answer.text
    assert client.get("/author/nobody").status_code == 404
