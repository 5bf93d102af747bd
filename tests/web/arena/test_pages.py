import csv
import gzip
import io
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from html import unescape
from itertools import islice
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po
from flask.testing import FlaskClient
from markupsafe import escape

import games
from tests.support.make_catalogs import CATALOGS, messages, texts, untranslated
from tests.support.pages import ROOT
from tests.support.tournament.played import change, cup, exported, played, run, unfinished
from tournament.display.replay import cards_of
from tournament.formats.seeds import commitment
from tournament.model import Identity, Present, Upcoming
from tournament.records import Disqualify, Pause, Resume, Skip, Withdraw
from tournament.results.files.match_file import MatchFile
from tournament.run.resume import only_runner
from tournament.store.store import Store
from web.arena.app import create_app
from web.arena.live_run import LiveRun
from web.child_process import command
from web.ui.languages import LANGUAGES

# Names with markup, in four scripts and with 32 wide characters.
NAMES = ("</script><b>x", 'a/"b"?c&d', f"Bör Жук 한글{'斗' * 32}")


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with run(tmp_path_factory.mktemp("run"), cup(NAMES), {NAMES[1]: 12}) as made:
        made.record_about({NAMES[0]: Identity("<b>x</b>", "<b>x")})
        yield made


@pytest.fixture(scope="module")
def client(store: Store) -> FlaskClient:
    return create_app(store).test_client()


def test_a_file_without_times_has_all_pages_but_no_digest(store: Store) -> None:
    objects = exported(store, "matches")
    lines = [json.dumps({**line, "started": ""}).encode() for line in objects]
    client = create_app(MatchFile(lines, "file")).test_client()
    for path in ("/", "/about", f"/matches/{objects[0]['match']}", "/watch/next"):
        assert client.get(path).status_code == 200, path
    assert client.get("/digest").status_code == 404


def test_the_first_page_has_podium_and_table_to_watch(store: Store, client: FlaskClient) -> None:
    page = unescape(client.get("/").text)
    lines = LiveRun(store).snapshot().table.standings
    first = f"<h1>{lines[0].bot} won Test cup</h1>"
    around = ("Over: 6 matches<", "The most points in one match", 'aria-current="page">Table<')
    assert all(part in page for part in (first, *around, 'class="watch" href="/watch"'))
    podium = page.partition('class="podium"')[2].partition("</ol>")[0]
    places = [podium.index(f">{line.bot}<") for line in lines]
    assert places == sorted(places)
    shown = page.partition('class="watch"')[2].partition("</a>")[0]
    moves = list(store.matches())[-1].moves[-50:]
    assert shown.count('class="card ') == max(len(cards_of(move)) for move in moves)
    assert "&lt;b&gt;x&lt;/b&gt; &lt;b&gt;x" in client.get("/about").text, "what it says that it is"
    assert "final: 6 matches, 2 blocks" in client.get("/figures").text


def test_a_damaged_match_or_run_is_said_in_a_sentence(tmp_path: Path) -> None:
    of = cup(seating="fixed")
    first, second = (replace(record, wall_ms=1e300) for record in played(of))
    damaged = replace(second, moves=("bid:9", *second.moves[1:]))
    path = f"/matches/{damaged.match}"
    with unfinished(tmp_path, of, [first, damaged]) as store:
        client = create_app(store).test_client()
        seat = {"move": len(damaged.moves) - 1, "seat": 0}
        answers = [client.get(path), client.post(f"{path}/play", data=seat)]
        live = client.get("/watch/next", query_string={"live": damaged.match})
        assert [client.get(path).status_code for path in ("/", "/stage", "/watch")] == [200] * 3
        change(tmp_path, "UPDATE meta SET value = '{' WHERE key = 'config'")
        client = create_app(store).test_client()
        pages = {page: client.get(page) for page in ("/", "/figures", "/nothing", "/play")}
    assert [answer.status_code for answer in answers] == [503, 503]
    assert all(f"Match {damaged.match}: is damaged" in answer.text for answer in answers)
    assert (live.get_json()["match"], live.get_json()["ended"]) == (first.match, None)
    assert [page.status_code for page in pages.values()] == [503, 503, 404, 200]
    assert "The run cannot be read" in pages["/"].text


def test_standings_and_digest_are_there_for_programs(store: Store, client: FlaskClient) -> None:
    table = LiveRun(store).snapshot().table
    assert client.get("/standings.json").json == json.loads(json.dumps(table.to_dict()))
    answer = client.get("/standings.csv")
    assert answer.mimetype == "text/csv"
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    scores = [(row["bot"], float(row["score"])) for row in rows]
    assert scores == [(line.bot, line.score) for line in table.standings]
    assert {"first_rank", "last_rank", "timeout", "median_ms"} < rows[0].keys()
    answer = client.get("/digest")
    assert (answer.headers["Cache-Control"], answer.json) == ("no-store", store.digest()._asdict())


def test_the_rules_of_each_game_are_ten_lines_and_three_pictures(store: Store) -> None:
    client = create_app(store).test_client()  # which keeps the language
    for game in games.GAMES:
        for language in LANGUAGES:
            page = client.get(f"/rules/{game}?lang={language}").text
            assert (page.count("<li>"), page.count("<figure")) == (10, 3), game
            assert f'href="/rules/{game}/all"' in page
        page = client.get(f"/rules/{game}/all").text
        assert f"<code>{game}</code></h1>" in page.replace("(", "").replace(")", "")
    assert client.get("/rules/chess/all").status_code == 404


def test_sixty_bots_are_a_small_page_with_authors_and_previews(tmp_path: Path) -> None:
    of = cup([f"bot-{number}" for number in range(60)], deals=1)
    of = replace(of, bots=tuple(replace(bot, author=f"<{bot.name}>") for bot in of.bots))
    with unfinished(tmp_path, of, islice(played(of), 60)) as store:
        client = create_app(store).test_client()
        page = client.get("/")
        links = re.findall(r'(?:src|href)="(/assets/[^"]+)"', page.text)
        packed = {"Accept-Encoding": "gzip"}
        answers = [client.get(path, headers=packed) for path in ("/", *links)]
        large = [answer for answer in answers if len(answer.data) > 1000]
        assert {answer.content_encoding for answer in large} == {"gzip"}
        assert len(answers) <= 6
        assert sum(len(answer.data) for answer in answers) < 30_000
        assert gzip.decompress(answers[0].data) == page.data
        assert page.text.count('<small class="author">&lt;bot-') == 60
        assert "1st to" not in page.text
        preview = re.search(r'og:image" content="http://localhost(/[^"]+)"', page.text)
        assert preview
        assert client.get(preview[1]).data.startswith(b"\x89PNG")


def test_every_link_of_every_page_leads_somewhere(client: FlaskClient) -> None:
    seen, tagged, waiting = set[str](), set[str](), ["/", "/stage", "/embed"]
    while waiting:
        path = waiting.pop()
        if path in seen:
            continue
        seen.add(path)
        answer = client.get(path, buffered=True)
        assert answer.status_code == 200, path
        if etag := answer.headers.get("ETag"):
            unchanged = client.get(path, headers={"If-None-Match": etag})
            assert (etag.isascii(), unchanged.status_code, unchanged.data) == (True, 304, b"")
            tagged.add(path)
        policy = answer.headers["Content-Security-Policy"]
        assert ("default-src 'none'" in policy, "unsafe" in policy) == (True, False)
        assert ("frame-ancestors *" in policy) is (path == "/embed")
        if answer.mimetype == "text/html":
            assert not any(part in answer.text for part in (" style=", "<b>x")), path
            if path in ("/", "/figures", "/about", "/embed", "/matches", "/stage"):
                assert all(str(escape(name)) in answer.text for name in NAMES), path
            links = re.findall(r'(?:href|src)="([^"]*)', answer.text)
            assert not any(link.startswith(("http", "//")) for link in links)
            links = [link for link in links if "lang=" not in link]  # the same page
            waiting += [unescape(link.split("#")[0]) for link in links if link.startswith("/")]
    assert {"/figures", "/about", "/reading", "/standings.csv", "/rules/doudizhu"} <= seen
    bots = {path for path in seen if path.startswith("/bots/")}
    assert {"/", "/figures", *bots} <= tagged
    assert (len(bots), sum(path.startswith("/matches/") for path in seen)) == (3, 6)


def test_what_is_not_there_is_a_page_that_says_so_and_leads_on(store: Store) -> None:
    for path, words in (
        ("/bots/nobody", "There is no bot “nobody” in this cup; the table lists all of them."),
        ("/bots/%3Cb%3Ex", "There is no bot “&lt;b&gt;x” in this cup"),
        ("/bots/nobody?lang=de", "Einen Bot „nobody“ gibt es hier nicht"),
        ("/matches/0000", "There is no finished match “0000” in this run."),
        ("/rules/chess", "There are no rules of “chess”"),
        ("/assets/../app.py", "The address may be mistyped"),
        ("/nothing", "The address may be mistyped"),
    ):
        answer = create_app(store).test_client().get(path)
        assert answer.status_code == 404, path
        assert words in answer.text.partition("<h1>")[2]
        assert '<a href="/">' in answer.text.partition("<main")[2]


def test_a_server_whose_command_has_gone_ends() -> None:
    words, env = command("web.arena.server", "127.0.0.1", 0, {})
    done = subprocess.run(["sh", "-c", '"$@"; exit $?', "sh", *words], env=env, capture_output=True)
    assert (done.returncode, done.stderr) == (1, b"")


READ_ALL = """
import sys
from tournament.store.reader import StoreReader
from web.arena.app import create_app
sys.setprofile(lambda frame, *_: "msgspec" in frame.f_code.co_filename and print(frame))
with StoreReader.open(sys.argv[1]) as store:
    client = create_app(store).test_client()
    print([client.get(page).status_code for page in ("/", "/matches", "/matches.jsonl")])
"""


def test_no_type_is_prepared_only_when_threads_use_it(store: Store) -> None:
    """Two threads that have msgspec prepare the same type at once crash the process."""
    reading = [sys.executable, "-c", READ_ALL, str(store.folder)]
    assert subprocess.check_output(reading, cwd=ROOT, text=True) == "[200, 200, 200]\n"


def test_cards_still_played_elsewhere_are_not_shown(tmp_path: Path) -> None:
    of = cup(commit=True)
    *block, late = islice(played(of), 4)  # a block of three, and one match of the next
    coming = Present(upcoming=(Upcoming(2, "", of.names, played=0, seatings=3),))
    with unfinished(tmp_path, of, [*block, late], coming) as under_way, only_runner(under_way):
        client = create_app(under_way).test_client()
        assert {client.get(f"/matches/{record.match}").status_code for record in block} == {200}
        hidden = client.get(f"/matches/{late.match}")
        assert (hidden.status_code, "still being played" in hidden.text) == (404, True)
        watched = client.get("/watch/next").get_json()["match"]
        assert watched in [record.match for record in block]
        again = client.get("/watch/next", query_string={"shown": watched, "live": late.match})
        assert again.get_json()["match"] == watched
        paths = ("/", "/matches", f"/bots/{of.names[0]}", "/about")
        home, matches, bot, about = pages = [client.get(path).text for path in paths]
    for page in pages:
        assert late.match not in page
        assert "2026-spring" not in page
    assert all(f"/matches/{block[0].match}" in page for page in (matches, bot))
    assert "1 more match has ended." in matches
    assert "Playing: 1 table, 4 of 6 matches<" in home
    assert f"<code>{commitment('2026-spring')}</code>" in about


def test_no_page_tells_a_score_while_the_cards_are_still_played(tmp_path: Path) -> None:
    """An attacker compares pages: with another score of the last match they stay the same."""
    *block, last = list(played(cup()))[:4]
    other = replace(last, scores=last.scores[::-1], adjusted=(9, 9, 9))
    of_bot = ("/bots/{}", "/matches?bot={}&result=won", "/matches?bot={}&result=lost")
    paths = ["/", "/figures", "/embed", "/matches", "/matches?block=2", "/standings.json"]
    paths += ["/standings.csv", *(path.format(bot) for path in of_bot for bot in cup().names)]
    seen, at_the_end = list[list[str]](), set[str]()
    for number, record in enumerate((last, other)):
        with unfinished(tmp_path / str(number), cup(), [*block, record]) as under_way:
            client = create_app(under_way).test_client()
            seen.append([client.get(path).text for path in paths])
            under_way.finish()
            at_the_end.add(create_app(under_way).test_client().get("/matches").text)
    assert seen[0] == seen[1]
    assert len(at_the_end) == 2


def test_what_the_organiser_decided_is_on_the_pages(tmp_path: Path) -> None:
    names = ("ann", "bob", "cat", "dan", "eve")
    records = list(played(cup(names)))
    with unfinished(tmp_path, cup(names), records[:-6]) as under_way, only_runner(under_way):
        attacked = Disqualify(bot="dan", why="It attacked ann.")
        under_way.decide(Pause(why="Lunch <b>."), attacked, Withdraw(bot="eve"))
        client = create_app(under_way).test_client()
        match = next(match for match in under_way.summaries() if "dan" in match.table).match
        paths = ("/", "/bots/ann", "/bots/dan", "/bots/eve", f"/matches/{match}", "/matches")
        home, ann, dan, eve, match_page, _ = pages = [client.get(path).text for path in paths]
        for page in pages:
            assert re.search(r"Paused since <time .+? UTC</time>: Lunch &lt;b&gt;\.<", page)
        tags = (f'<span class="tag">{tag}</span>' for tag in ("disqualified", "withdrawn"))
        assert all(part in home for part in (*tags, "the results of its tables do not count"))
        assert re.search("dan was disqualified.*It attacked ann.*does not count", dan, re.DOTALL)
        assert "Points a deal" not in dan
        assert "eve was withdrawn and no longer plays" in eve
        assert "does not count. Disqualified: dan." in match_page
        assert 'href="/bots/dan"' not in ann.partition("By opponent")[2].partition("<h2")[0]
        under_way.decide(Resume(), *[Skip(bot="bob", why="bob was away.", matches=("m",))] * 9)
        again = create_app(under_way).test_client().get("/").text
        assert not any(part in again for part in ("Paused", "bob was away"))
        assert again.index("The run was resumed.") < again.index("eve was withdrawn")


def ids(catalog: Catalog) -> set[tuple[str, ...]]:
    return {tuple(texts(message.id)) for message in catalog if message.id}


def placeholders(text: str) -> set[str]:
    return set(re.findall(r"%\(\w+\)[sd]|\{\w+\}|<[^>]+>", text))


def test_catalogs_are_complete_and_have_the_same_placeholders() -> None:
    wanted = ids(messages())
    for language in (language for language in LANGUAGES if language != "en"):
        with (CATALOGS / f"{language}.po").open("rb") as lines:
            catalog = read_po(lines, language)
        fix = f"run `make catalogs`, then translate the empty entries of {language}.po"
        assert (ids(catalog) ^ wanted, untranslated(catalog)) == (set(), []), fix
        for message in (message for message in catalog if message.id):
            assert (message.fuzzy, message.check()) == (False, []), message.id
            expected = set().union(*map(placeholders, texts(message.id)))
            assert all(placeholders(text) == expected for text in texts(message.string)), message.id


def test_a_reader_gets_a_language() -> None:
    for address, accepted, language in (
        ("/play", "", "en"),
        ("/play", "de-AT,de;q=0.9,en;q=0.5", "de"),
        ("/play", "zh-TW", "zh"),
        ("/play", "fr", "en"),
        ("/play?lang=zh", "de", "zh"),
        ("/play?lang=tlh", "de", "en"),
        ("/nothing", "de", "de"),
    ):
        client = create_app(None).test_client()
        answer = client.get(address, headers={"Accept-Language": accepted})
        assert f'<html lang="{language}">' in answer.text, address
        assert answer.headers["Content-Language"] == language
        assert set(answer.vary) >= {"Accept-Language", "Cookie"}
    client.get("/play?lang=de")
    client.get("/play?lang=tlh")  # not a language of the pages
    remembered = client.get("/nothing", headers={"Accept-Language": "zh"})
    assert '<html lang="de">' in remembered.text


def test_the_reading_page_has_the_same_parts_in_each_language(store: Store) -> None:
    client = create_app(store).test_client()
    pages = {language: client.get(f"/reading?lang={language}").text for language in LANGUAGES}
    parts = ("<tr>", "<li>", "<code>", "<h1>")
    assert len({tuple(map(page.count, parts)) for page in pages.values()}) == 1
    assert not [language for language, page in pages.items() if "**" in page]  # all is rendered
    assert [language for language, page in pages.items() if "Place" in page] == ["en"]
