import hashlib
import itertools
import re
import runpy
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import ExitStack
from io import BytesIO
from typing import Any

import pytest
import requests
from flask.testing import FlaskClient
from selenium.webdriver import Chrome

from service.app import create_app
from service.settings import Settings
from tests.support.browser import chromium, console_errors, text, wait
from tests.support.pages import blocks
from tests.support.service.contract import ROOT
from tests.support.service.running import Running
from tests.support.service.sealed import SEAL_KEYS, hashed
from tests.support.serving import serving
from tools import hostile


@pytest.fixture
def relay(running: Running) -> Iterator[Any]:
    program = runpy.run_path(str(ROOT / "examples" / "sealed-table" / "relay.py"))
    server = program["make_server"](0, running.url, "doudizhu", 3)
    handler = server.RequestHandlerClass
    server.url = f"http://127.0.0.1:{server.server_port}"
    server.table = handler.table
    server.received = []
    answer = handler.do_POST

    def logged(self: Any) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        server.received.append(body.decode())
        self.rfile = BytesIO(body)
        answer(self)

    handler.do_POST = logged
    with serving(server):
        yield server


def shown_moves(browser: Chrome) -> list[str]:
    script = "return [...document.querySelectorAll('#moves button')].map((b) => b.dataset.move)"
    return list(browser.execute_script(script))


@pytest.mark.slow
def test_three_browsers_play_at_one_table(relay: Any) -> None:
    with ExitStack() as stack:
        browsers = [stack.enter_context(chromium()) for _ in range(3)]
        for browser in browsers:
            browser.get(relay.url)
        for browser in browsers:
            wait(browser, lambda page: text(page, "#hand"))
        hands = [text(browser, "#hand").split() for browser in browsers]
        assert [len(hand) for hand in hands] == [17, 17, 17]
        cards = [card for hand in hands for card in hand if card != "Joker"]
        assert len(set(cards)) == len(cards)
        keys = [browser.execute_script("return sessionStorage.secret") for browser in browsers]
        me = re.compile(r"Seat (\d) \(you\)")
        page_of = {int(me.findall(text(page, "#seats"))[0]): page for page in browsers}
        plies = 0
        while (turn := relay.table.view["turn"]) is not None:
            browser, before = page_of[turn], relay.table.sealed

            def passed_on(_: Chrome, before: str = before) -> bool:
                return bool(relay.table.sealed != before)

            moves = wait(browser, shown_moves)
            move = "bid:3" if "bid:3" in moves else moves[-1]
            browser.find_element("css selector", f'button[data-move="{move}"]').click()
            wait(browser, passed_on)
            plies += 1
        assert plies > 10
        for browser in browsers:
            wait(browser, lambda page: "over" in text(page, "#status"))
            assert text(browser, "#status") == "The game is over. The seed deals the hand you had."
            assert console_errors(browser) == []
    sent = "\n".join(relay.received)
    assert sent.count("hash") >= 3
    assert not any(key in sent for key in keys)
    assert not re.search(r'"(key|hands?|seed)"', sent)


def test_the_relay_accepts_only_the_next_ply(running: Running, relay: Any) -> None:
    for seat, key_hash in enumerate(hashed(["0", "1", "2"])):
        assert requests.post(relay.url + "/join", json={"hash": key_hash}).json() == {"seat": seat}
    old = requests.get(relay.url + "/table").json()["sealed"]
    turn = relay.table.view["turn"]
    move = {"sealed": old, "key": str(turn)}
    passed, bid = (
        running.post("/v1/sealed/advance", {**move, "moves": [text]})["sealed"]
        for text in ("pass", "bid:1")
    )
    for token, status in ((passed, 200), (bid, 409), (old, 409), (passed[:-1], 409)):
        assert requests.post(relay.url + "/table", json={"sealed": token}).status_code == status
    assert requests.get(relay.url + "/table").json()["sealed"] == passed
    half = hostile.WAYS["half-body"][0]
    with hostile.running(half, every=lambda sock, *_: half(sock, {})) as relay.table.service:
        refused = requests.post(relay.url + "/table", json={"sealed": passed})
    assert refused.json() == {"detail": "The rules service does not answer."}


@pytest.fixture
def gate(running: Running) -> Iterator[Any]:
    """The gate of the page in front of two services, which it asks in turns."""
    with Running(STICH_SEAL_KEYS=SEAL_KEYS) as other:
        services = itertools.cycle([running, other])
        namespace: dict[str, Any] = {"threading": threading, "hashlib": hashlib}
        for snippet in blocks("docs/sealed.md", "python"):
            exec(snippet, namespace)
        yield namespace["Gate"](lambda path, body: next(services).post(path, body))


def test_the_gate_lets_one_move_through_from_each_ply(gate: Any) -> None:
    start = {"game": "doudizhu", "key_hashes": hashed([f"gate {seat}" for seat in range(3)])}
    assert gate.start({"game": "doudizhu"}) == {"code": "known-hashes"}
    assert gate.start({**start, "players": 4})["code"] == "invalid-request"
    sealed = gate.start(start)["sealed"]
    turn = gate.ask("/v1/sealed/view", {"sealed": sealed})["view"]["turn"]
    first = {"sealed": sealed, "key": f"gate {turn}", "moves": ["pass"]}
    assert gate.advance({**first, "moves": ["play:3c"]})["code"] == "illegal-move"
    assert gate.advance({**first, "sealed": "x.y"})["code"] == "invalid-token"
    after = gate.advance(first)
    assert gate.advance(first) == after, "its answer may have been lost"
    old = {"code": "old-token"}
    assert gate.advance({**first, "moves": ["bid:1"]}) == old
    for hashes in (start["key_hashes"], [*hashed(["fresh"]), *start["key_hashes"][1:]]):
        assert gate.start({**start, "key_hashes": hashes}) == {"code": "known-hashes"}
    assert gate.advance({**first, "moves": ["bid:1"]}) == old, "no start puts the ply back"
    assert gate.advance({**first, "key": "stranger"}) == {"code": "unknown-game"}
    following = {"sealed": after["sealed"], "key": f"gate {(turn + 1) % 3}", "moves": ["bid:3"]}
    assert "sealed" in gate.advance(following)
    assert gate.advance(first) == old


def test_a_gate_whose_service_fails_changes_nothing(gate: Any) -> None:
    ask, lost = gate.ask, []

    def fail_at_first(path: str, body: Any) -> Any:
        answer = ask(path, body)
        if path not in lost:  # the service has done the work, but its answer is lost
            lost.append(path)
            raise ConnectionError
        return answer

    def sent_again(send: Any, request: Any) -> Any:
        with pytest.raises(ConnectionError):
            send(request)
        return send(request)

    gate.ask = fail_at_first
    hashes = hashed([f"lost {seat}" for seat in range(3)])
    sealed = sent_again(gate.start, {"game": "doudizhu", "key_hashes": hashes})["sealed"]
    turn = ask("/v1/sealed/view", {"sealed": sealed})["view"]["turn"]
    lost.append("/v1/sealed/view")
    move = {"sealed": sealed, "key": f"lost {turn}", "moves": ["pass"]}
    after = sent_again(gate.advance, move)
    assert after["view"]["history"] == [{"seat": turn, "move": "pass"}]


def test_two_services_replace_a_key_in_the_steps_of_the_page() -> None:
    rows = re.findall(r"^\| \d \| `(.*?)` \|", (ROOT / "docs/sealed.md").read_text(), re.MULTILINE)
    keys = {name: b64encode(name.encode() * 8).decode() for name in ("2026", "2027")}
    steps = ["2026:…", *rows]
    assert len(steps) == 4

    def service(step: str) -> FlaskClient:
        text = re.sub(r"(\d+):…", lambda match: f"{match[1]}:{keys[match[1]]}", step)
        return create_app(Settings.from_environ({"STICH_SEAL_KEYS": text})).test_client()

    machines = [service(steps[0]), service(steps[0])]
    for step in steps[1:]:
        for number in range(2):
            machines[number] = service(step)
            for sealing, opening in (machines, machines[::-1]):
                started = sealing.post("/v1/sealed/start", json={"game": "dasan"})
                token = started.get_json()["sealed"]
                assert opening.post("/v1/sealed/view", json={"sealed": token}).status_code == 200
    assert token.startswith("2027.")
