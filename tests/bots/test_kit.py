import http.client
import json
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any, cast

import pytest

from bots import kit
from tests.support.service.contract import contract
from tests.support.serving import serving as in_thread
from tournament.bot.about import about_problems

CLOCK = {"move_ms": 1000, "bank_ms": 5000}
REQUEST: dict[str, Any] = {"protocol": 1, "match": "m-1", "turn": 1, "clock": CLOCK}
REQUEST |= {"view": {"game": "doudizhu"}, "moves": ["pass", "bid:1"]}


BODY = json.dumps(REQUEST).encode()


@contextmanager
def serving(move: Any, **options: Any) -> Iterator[int]:
    bot = kit.Bot(move, name="t", version="1", games=["doudizhu"], **options)
    server = kit.Server(bot, "127.0.0.1", 0)
    with in_thread(server):
        yield server.port


def ask(port: int, path: str = "/move", body: bytes = BODY) -> tuple[int, Any]:
    """Send a request on a separate connection; the status and the value of the answer."""
    with closing(http.client.HTTPConnection("127.0.0.1", port)) as connection:
        connection.request("POST" if body else "GET", path, body)
        answer = connection.getresponse()
        text = answer.read()
        assert answer.getheader("Content-Length") == str(len(text))
        assert answer.getheader("Content-Type") == "application/json"
        return answer.status, json.loads(text)


def first(view: Any, moves: Any) -> str:
    return str(moves[0])


def test_the_protocol_number_is_that_of_the_contract() -> None:
    schemas = contract()["components"]["schemas"]
    for name in ("BotCard", "BotMoveRequest", "BotStart", "BotEnd"):
        number = schemas[name]["properties"]["protocol"]
        assert (number["minimum"], number["maximum"]) == (kit.PROTOCOL, kit.PROTOCOL)


def test_a_card_a_move_with_its_info_and_hooks() -> None:
    seen: list[Any] = []
    info = {"comment": "a bluff", "nodes": 480}
    supports = {"doudizhu": {"players": [3]}}
    hooks = {"start": seen.append, "end": seen.append}
    with serving(lambda view, moves: ("pass", info), supports=supports, **hooks) as port:
        _, card = ask(port, "/", b"")
        assert card["supports"] == supports
        assert about_problems(card, ["doudizhu"]) == []
        assert ask(port, "/start", b'{"match": "m", "seat": 1}') == (200, {})
        assert ask(port) == (200, {"move": "pass", "info": info})
        assert ask(port, "/end", b'{"scores": [1, -1, 0]}') == (200, {})
    assert seen == [{"match": "m", "seat": 1}, {"scores": [1, -1, 0]}]


def test_bodies_that_cannot_be_read_are_refused() -> None:
    with serving(first) as port:
        for length in ("16777217", "9" * 5000, "-1", "1_0", "\u00b2", None):
            header = f"Content-Length: {length}" if length else "Transfer-Encoding: chunked"
            message = f"POST /move HTTP/1.1\r\nHost: x\r\n{header}\r\n\r\n"
            with socket.create_connection(("127.0.0.1", port)) as client:
                client.sendall(message.encode("latin-1"))
                received = client.makefile("rb").read()
            assert received.startswith(b"HTTP/1.1 400 "), header
            assert b"Connection: close" in received, header
        assert ask(port, body=b"[" * 100_000)[0] == 400
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.sendall(b"POST /move HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{")
            client.shutdown(socket.SHUT_WR)  # it disconnects, which is no failure of the bot
            assert client.makefile("rb").read() == b""


def test_an_exception_is_shown_and_answered_500(capfd: pytest.CaptureFixture[str]) -> None:
    errors = [ConnectionError("no model"), ValueError("no idea"), SystemExit(3)]

    def fail(view: Any, moves: Any) -> Any:
        if not errors:
            return "pass", {"nodes": object()}  # cannot be written as JSON
        raise errors.pop()

    with serving(fail) as port:
        for name in ("SystemExit", "ValueError", "ConnectionError", "TypeError"):
            status, answer = ask(port)
            assert (status, name in answer["error"]) == (500, True)
    shown = capfd.readouterr().err
    assert shown.count("Traceback") == 4
    assert "in fail" in shown


def test_a_third_parameter_gets_the_clock_or_the_request() -> None:
    request = {**REQUEST, "from_a_later_protocol": [1, {"a": None}]}
    assert kit.adapt(lambda view, moves, clock: clock)(request) == CLOCK
    assert kit.adapt(lambda view, moves, request: request)(request) == request


def test_an_author_reads_which_argument_is_wrong() -> None:
    late = (lambda view, moves, hurry: "", lambda view, moves, *, clock: "")
    for wrong in (lambda view: "", lambda: "", *late):
        with pytest.raises(TypeError, match=r"<lambda> must take .* clock"):
            kit.adapt(wrong)
    three = cast("kit.MoveFunction", lambda view, moves: 3)
    bot = kit.Bot(three, name="x", version="1", games=["doudizhu"])
    with pytest.raises(TypeError, match="<lambda> must return a string, not 3"):
        bot.reply("/move", BODY)
    with pytest.raises(TypeError, match=r"games must be a list of names, as in \['doudizhu'\]"):
        kit.Bot(first, name="x", version="1", games="doudizhu")


@pytest.mark.parametrize("words", [["--depth", "3"], ["--p", "x", "model.bin"]])
def test_arguments_of_the_author_are_left_alone(
    monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    served: list[int] = []
    monkeypatch.setattr(kit.Server, "serve_forever", lambda server: served.append(server.port))
    kit.run(first, name="x", version="1", games=["doudizhu"], argv=["--port", "0", *words])
    assert len(served) == 1
