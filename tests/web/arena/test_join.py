import json
import re
from collections.abc import Iterator
from datetime import timedelta
from hashlib import sha256
from importlib.metadata import PathDistribution
from io import BytesIO
from math import inf
from pathlib import Path
from zipfile import ZipFile

import pytest
from werkzeug.serving import make_server

from service.app import create_app as create_rules
from tests.support.serving import served, serving
from tests.support.tournament import played
from tests.support.tournament.cups import stich
from tests.support.web.arena import ANN, BOB, CAT, Arena
from tournament.model import Identity, Present
from tournament.records import Disqualify, Finish, Undo
from tournament.run import joining
from tournament.store.signing import make_key
from web.arena.join import AN_HOUR
from web.gateway.invitations import FILE, hash_of


@pytest.fixture
def arena(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Arena]:
    arena = Arena(tmp_path, getattr(request, "param", "open = true"))  # the keys of [join]
    with arena.store:
        yield arena


def test_the_same_author_gets_the_same_bot_and_token(
    arena: Arena, caplog: pytest.LogCaptureFixture
) -> None:
    (arena.folder / "invitations.new").mkdir()
    refused = "The arena cannot write to its run now; try again later."
    assert (arena.ask("ann", ANN), arena.status) == (refused, 503)
    (arena.folder / "invitations.new").rmdir()
    (arena.folder / FILE).write_text("{}")
    assert (arena.ask("ann", ANN), arena.status) == (refused, 503)
    assert arena.client.get("/").status_code == 200
    page = arena.client.post("/author", data={"token": "0" * 64})
    assert (page.status_code, f"{FILE} cannot be read" in page.text) == (503, True)
    (arena.folder / FILE).unlink()
    logged = [record.getMessage() for record in caplog.records]
    for line, why in zip(logged, ("invitations.new", f"{FILE} cannot be read"), strict=True):
        assert why in line, "for the organiser"
    assert arena.ask("ann", ANN) == "ann", "the name is its author's"
    token = arena.token
    assert arena.invitations.bot_of(hash_of(token)) == "ann"
    assert {(arena.ask("ann", ANN), arena.token) for _ in range(AN_HOUR)} == {("ann", token)}
    assert (arena.ask("ann", ANN, "token"), arena.token) == ("ann", token)
    for wants in ("token", "leave", "new-version"):
        assert arena.ask("eve", ANN, wants) == "No bot eve has joined here; check the name."
    assert arena.playing == ["ann"]
    stored = (arena.folder / FILE).read_text() + repr(arena.store.run())
    assert not any(secret in stored for secret in (token, ANN))


def test_a_name_is_that_of_its_first_author_until_it_is_left(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The results of the bot that left stay its own: the next one is another version."""
    arena.ask("ann", ANN)
    for name in ("ann", "Ann", "änn", "greedy", "GREEDY", "", "x" * 10_000, "ann/2", "\x00"):
        assert "; choose another" in arena.ask(name, BOB)
        assert arena.status == 403, name
    for wants in ("leave", "new-version"):
        assert arena.ask("ann", BOB, wants).startswith("There is a bot ann of somebody else")
    assert arena.playing == ["ann"]
    arena.ask("ann", ANN, "leave")
    arena.ask("ann", BOB)
    assert arena.status == 403
    monkeypatch.setattr(joining, "FREED_AFTER", timedelta(0))
    assert arena.ask("ann", BOB) == "ann/2"
    assert arena.ask("Ann", CAT).startswith("The name is that of the bot ann")
    assert arena.ask("ann", ANN, "new-version").startswith("There is a bot ann/2 of somebody else")
    arena.ask("ann", BOB, "leave")
    arena.store.decide(Disqualify(bot="ann/2"))
    assert arena.ask("Ann", CAT).startswith("The name is that of the bot ann")
    arena.store.decide(Undo(bot="ann/2"))
    assert arena.ask("Ann", CAT) == "Ann"
    assert arena.playing == ["Ann"]


def test_a_new_version_takes_the_place_of_the_last_one(arena: Arena) -> None:
    tokens = set()
    for wants, said, playing in (
        ("join", "ann", ["ann"]),
        ("new-version", "ann/2", ["ann/2"]),
        ("join", "ann/2", ["ann/2"]),
        ("new-version", "ann/3", ["ann/3"]),
        ("leave", "ann/3", []),
        ("leave", "ann/3 no longer plays.", []),
        ("token", "ann/3", []),
        ("join", "ann/3 has left; enter it anew with --new-version.", []),
        ("new-version", "ann/4", ["ann/4"]),
    ):
        assert (arena.ask("ann", ANN, wants), arena.playing) == (said, playing)
        tokens.add(arena.token)
    assert len(tokens - {""}) == 4


def test_a_bot_that_changes_its_statements_is_a_new_version(arena: Arena) -> None:
    for version in ("1", "2"):
        arena.about = {"name": "ann", "version": version}
        assert arena.ask("ann", ANN) == "ann"  # the runner has not checked it yet
    arena.store.record_about({"ann": Identity("ann", "1")})
    assert arena.ask("ann", ANN, "token") == "ann"
    assert [arena.ask("ann", ANN) for _ in range(2)] == ["ann/2"] * 2
    arena.about = {}  # it could not be asked
    assert arena.ask("ann", ANN) == "ann/2"
    assert arena.playing == ["ann/2"]


def test_no_more_bots_than_an_author_and_the_ladder_may_have(arena: Arena) -> None:
    assert [arena.ask(name, ANN) for name in ("a1a", "a2a")] == ["a1a", "a2a"]
    assert "An author may have 2 bots" in arena.ask("a3a", ANN)
    assert arena.ask("a1a", ANN, "new-version") == "a1a/2"
    assert arena.ask("bob", BOB) == "bob"
    assert "The ladder is full, with 4 bots" in arena.ask("cat", CAT)
    assert arena.status == 403
    assert arena.client.get("/join").text.count("The ladder is full") == 1


def test_names_that_never_play_do_not_fill_the_ladder(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("bot-0", "bot-1", "bot-2"):
        assert arena.ask(name, sha256(name.encode()).hexdigest()) == name
    assert "The ladder is full" in arena.ask("ann", ANN)
    arena.store.record_checks({}, {"bot-2": "It moves out of turn."})
    assert arena.ask("dan", CAT) == "dan", "a bot that has failed the check takes no place"
    assert "The ladder is full" in arena.ask("ann", ANN)
    monkeypatch.setattr("tournament.run.joining._UNSEATED", timedelta(0))
    arena.store.record_checks({"bot-0": Identity()}, {"bot-1": "It moves out of turn."})
    assert arena.ask("ann", ANN) == "ann"
    arena.store.add(next(iter(played.played(played.cup(["ann", "bot-0", "greedy"])))))
    arena.run.refresh()
    table = arena.client.get("/").text.partition('class="rows"')[2].partition("</ol>")[0]
    assert ("bot-0" in table, "bot-1" in table) == (True, False)
    assert "bot-1" in arena.client.get("/figures").text


def test_the_organiser_decides(arena: Arena) -> None:
    for name, key in (("ann", ANN), ("bob", BOB)):
        arena.ask(name, key)
    arena.invitations.revoke("bob")
    assert "This token was revoked" in arena.ask("bob", BOB)
    tokens = [stich("invite", arena.folder, name).stdout.strip() for name in ("bob", "dan")]
    assert [arena.invitations.bot_of(hash_of(token)) for token in tokens] == ["bob", "dan"]
    assert arena.playing == ["ann", "bob", "dan"]
    assert "This token was revoked" in arena.ask("bob", BOB)
    assert "of somebody else" in arena.ask("dan", CAT)
    arena.store.decide(Disqualify(bot="ann"))
    for wants in ("join", "new-version"):
        assert arena.ask("ann", ANN, wants) == "The organiser decided that ann no longer plays."
    arena.store.decide(Finish())
    assert (arena.ask("cat", CAT), arena.status) == ("The ladder is over.", 403)
    page = arena.client.get("/join").text
    assert ("The ladder is over." in page, "stich join" in page) == (True, False)


def test_a_disqualified_author_is_out_with_all_versions(arena: Arena) -> None:
    for name, wants in (("ann", "join"), ("ann", "new-version"), ("anna", "join")):
        arena.ask(name, ANN, wants)
    disqualified = stich("disqualify", arena.folder, "ann", "--yes").stdout
    assert "Of the same author, and still playing: anna." in disqualified
    assert arena.playing == ["anna"]
    assert arena.store.run().disqualified == {"ann", "ann/2"}
    attempts = [("ann2", "join"), ("eve", "join"), ("anna", "new-version"), ("ann", "new-version")]
    for name, wants in attempts:
        assert "The organiser " in arena.ask(name, ANN, wants)
        assert arena.status == 403, name
    assert arena.ask("eve", ANN).endswith("unless the organiser invites it (`stich invite`).")
    assert arena.ask("eve", CAT) == "eve"
    stich("invite", arena.folder, "ann-again")
    assert arena.playing == ["anna", "eve", "ann-again"]
    assert stich("undo", arena.folder).stdout == "Taken back: disqualify ann.\n"
    assert arena.store.run().disqualified == frozenset()
    assert "ann/2" in arena.playing


@pytest.mark.parametrize("arena", ['code = "étude 9"'], indirect=True)
def test_a_code_is_asked_for_once_and_never_shown(arena: Arena) -> None:
    assert "asks for a code; add --code" in arena.ask("ann", ANN)
    assert "The code is wrong; add --code" in arena.ask("ann", ANN, code="etude 9")
    assert arena.status == 403
    assert arena.ask("ann", ANN, code="étude 9") == "ann"
    assert arena.ask("ann", ANN, "new-version") == "ann/2"
    shown = "".join(arena.client.get(path).text for path in ("/", "/join", "/bots/ann"))
    assert "--code CODE" in shown
    assert "étude" not in shown + repr(arena.store.run())


@pytest.mark.parametrize("arena", ["open = false"], indirect=True)
def test_a_ladder_by_invitation_says_so(arena: Arena) -> None:
    for text in (arena.ask("ann", ANN), arena.client.get("/join").text):
        assert "by invitation: ask the organiser for a token" in text


def test_what_is_no_call_is_refused(arena: Arena) -> None:
    wrong: list[dict[str, object]] = [{"name": "ann", "key": key} for key in ("", "00", "x" * 64)]
    wrong += [{"name": "ann"}, {"name": 1, "key": ANN}, {"name": "ann", "key": ANN, "wants": "x"}]
    for body in ("", "[]", "{", "[" * 60_000, *map(json.dumps, wrong)):
        answer = arena.client.post("/join", data=body)
        assert answer.status_code == 400, body[:80]
        assert answer.json == {"detail": "This is not a call of `stich join`."}


def test_a_flood_is_refused_and_other_addresses_are_not(
    arena: Arena, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind a proxy on the same machine, which names the address; anybody else cannot."""
    monkeypatch.setattr("web.arena.join.AN_HOUR", 5)

    def ask(name: str, key: str, peer: str, forwarded: str = "") -> int:
        arena.ask(name, key, REMOTE_ADDR=peer, HTTP_X_FORWARDED_FOR=forwarded)
        return arena.status

    assert ask("ann", ANN, "127.0.0.1", "192.0.2.1") == 200
    flood = {ask("ann", BOB, "127.0.0.1", f"1.1.1.{i}, 192.0.2.1") for i in range(4)}
    assert flood == {403}
    same = (("127.0.0.1", "192.0.2.1"), ("::ffff:127.0.0.1", "192.0.2.1"), ("::ffff:192.0.2.1",))
    assert [ask("bob", BOB, *address) for address in same] == [429] * 3
    assert ask("bob", BOB, "127.0.0.1", "192.0.2.2") == 200
    direct = [ask("ann", CAT, "2001:db8::1", f"192.0.2.{i}") for i in range(6)]
    assert direct == [403] * 5 + [429]
    assert ask("ann", CAT, "2001:db8::2") == 429
    assert ask("ann", CAT, "2001:db8:0:1::2") == 403
    monkeypatch.setattr("web.arena.join.monotonic", lambda: inf)
    assert ask("ann", CAT, "2001:db8::2") == 403


def test_pages_show_connected_bots_and_the_versions_of_a_bot(arena: Arena) -> None:
    for wants in ("join", "new-version"):
        arena.ask("ann", ANN, wants)
    assert "Connected now: nobody." in arena.client.get("/").text
    arena.store.show(Present(connected=("ann/2",)))
    arena.run.refresh()
    page = arena.client.get("/").text
    assert 'Connected now: <a href="/bots/ann/2">ann/2</a>.' in page
    assert 'class="join" href="/join"' in page
    # the QR code, and no link to a wheel, which a checkout does not have
    join = arena.client.get("/join").text
    assert all(part in join for part in ("<svg", "pip install ./stich-*.whl"))
    assert "<progress" not in page, "a ladder plans no number of matches"
    author = sha256(bytes.fromhex(ANN)).hexdigest()[:16]
    assert author in repr(arena.store.run())
    assert not any(author in arena.client.get(path).text for path in ("/about", "/bots/ann"))
    for name in ("ann", "ann/2"):
        versions = re.findall(r'<a href="(/bots/[^"]+)">', arena.client.get(f"/bots/{name}").text)
        assert versions == ["/bots/ann/2", "/bots/ann"]
    arena.ask("ann", ANN, "leave")
    arena.run.refresh()
    for name in ("ann", "ann/2"):
        assert f"{name} left; its results stand" in arena.client.get(f"/bots/{name}").text


def test_the_commands_of_an_author(arena: Arena) -> None:
    with served(arena.client.application) as url:
        arena.ask("ann", make_key().derive("author", url))
        token = arena.token
        arena.ask("bob", BOB)
        assert stich("join", f"{url}/", "ann", "--print-token").stdout == f"{token}\n"
        assert "ann no longer plays" in stich("leave", url, "ann").stdout
        refused = stich("join", url, "bob", "--print-token")
        assert (refused.returncode, refused.stdout) == (1, "")
        assert "of somebody else; choose another name" in refused.stderr
        why = f"{url}/nothing: no ladder answers there; check the address"
        assert why in stich("leave", f"{url}/nothing", "ann").stderr
    with serving(make_server("127.0.0.1", 0, create_rules())) as url:
        why = f"{url}: a rules service (`stich serve`) answers there, not an arena; give the"
        assert why in stich("leave", url, "ann").stderr
    for gone, why in ((url, "it does not answer"), ("http://a.invalid", "its host is not found")):
        refused = stich("leave", gone, "ann")
        assert refused.returncode == 1
        assert refused.stderr == f"{gone}: {why}; check the address, and try again.\n"


def test_the_page_serves_the_installed_program_for_all_systems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = tmp_path / "stich-9.9.dist-info"
    included = ["stich/__init__.py", "games/rules.py", f"{about.name}/METADATA"]
    others = ["games/rules.cpython-311-x86_64-linux-gnu.so", f"{about.name}/direct_url.json"]
    for name in (*included, *others):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("Name: stich\nVersion: 9.9\n")
    record = "".join(f"{name},,\n" for name in ("../../bin/stich", *included, *others))
    (about / "RECORD").write_text(record)
    monkeypatch.setattr("web.arena.app.distribution", lambda _name: PathDistribution(about))
    arena = Arena(tmp_path)
    with arena.store:
        page = arena.client.get("/join").text
        assert "pip install http://localhost/stich-9.9-py3-none-any.whl" in page
        wheel = ZipFile(BytesIO(arena.client.get("/stich-9.9-py3-none-any.whl").data))
    assert wheel.namelist() == [f"{about.name}/WHEEL", *included, f"{about.name}/RECORD"]
