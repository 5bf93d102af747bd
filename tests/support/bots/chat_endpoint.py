"""A stand-in for a chat completions endpoint. It refuses what OpenAI's reference does not allow,
and answers with acts: one for each request, and the last for all later requests."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.serving import serving

Act = Callable[["Handler", dict[str, Any]], None]
KEY = "sk-stand/in-0123456789"
USAGE = {"prompt_tokens": 1000, "completion_tokens": 50, "total_tokens": 1050}


def completion(words: Any, usage: Any = USAGE, finish: str = "stop", **message: Any) -> Any:
    reply = {"role": "assistant", "content": words, "refusal": None} | message
    choice = {"index": 0, "message": reply, "logprobs": None, "finish_reason": finish}
    about = {"id": "chatcmpl-1", "created": 1, "model": "stand-in", "object": "chat.completion"}
    return {**about, "choices": [choice], "usage": usage}


def says(words: Any, **fields: Any) -> Act:
    return lambda handler, body: handler.answer(200, completion(words, **fields))


def moves(move: str, comment: str = "why not") -> Act:
    return says(json.dumps({"comment": comment, "move": move}))


def answers(status: int, body: Any = "", **headers: str) -> Act:
    return lambda handler, _: handler.answer(status, body, headers)


def breaks_off(handler: Handler, _: dict[str, Any]) -> None:
    """Close the connection in the middle of an answer."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{")
    handler.close_connection = True


def stalls(handler: Handler, _: dict[str, Any]) -> None:
    """Send empty lines while somebody listens, like some endpoints while a model thinks."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
    while not handler.server.closing.wait(0.05):
        handler.wfile.write(b"1\r\n\n\r\n")


def without_schema(act: Act) -> Act:
    """An endpoint that does not support structured output."""
    unknown = answers(400, {"error": {"message": "Unknown parameter: 'response_format'."}})
    return lambda handler, body: (unknown if "response_format" in body else act)(handler, body)


class Handler(BaseHTTPRequestHandler):
    server: ChatEndpoint
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        problem = self._problem(body)
        act = answers(418, problem) if problem else self.server.act(body)
        act(self, body)

    def _problem(self, body: dict[str, Any]) -> str | None:
        """What in a request the reference does not allow, or None."""
        known = "model|messages|temperature|max_tokens|response_format|reasoning_effort"
        roles = " ".join(message["role"] for message in body["messages"])
        checks = {
            "path": self.path == "/v1/chat/completions",
            "content type": self.headers["Content-Type"] == "application/json",
            "key": self.headers["Authorization"] == f"Bearer {self.server.key}",
            "parameters": all(re.fullmatch(known, name) for name in body),
            "model": isinstance(body["model"], str),
            "temperature": 0 <= body.get("temperature", 1) <= 2,
            "roles": re.fullmatch("user( assistant user)*", roles),
            "an empty message": all(message["content"] for message in body["messages"]),
        }
        if "response_format" in body:
            form = body["response_format"]["json_schema"]
            schema = form["schema"]
            checks["strict"] = form["strict"] is True and schema["additionalProperties"] is False
            checks["required"] = sorted(schema["required"]) == sorted(schema["properties"])
            checks["name of the schema"] = re.fullmatch("[a-zA-Z0-9_-]{1,64}", form["name"])
        return next((name for name, passed in checks.items() if not passed), None)

    def answer(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        data = body if isinstance(body, str) else json.dumps(body)
        self.send_response(status)
        about = {"Content_Type": "application/json", "Content_Length": str(len(data.encode()))}
        for name, value in {**about, **(headers or {})}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data.encode())

    def log_message(self, format: str, *args: Any) -> None:
        pass


class ChatEndpoint(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, acts: tuple[Act, ...], key: str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self._acts = list(acts)
        self.key = key
        self.url = f"http://127.0.0.1:{self.server_port}/v1"
        self.bodies: list[dict[str, Any]] = []
        self.closing = threading.Event()

    def act(self, body: dict[str, Any]) -> Act:
        self.bodies.append(body)
        return self._acts.pop(0) if len(self._acts) > 1 else self._acts[0]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that has disconnected is not an error here."""


@contextmanager
def endpoint(*acts: Act, key: str = KEY) -> Iterator[ChatEndpoint]:
    server = ChatEndpoint(acts, key)
    with serving(server):
        yield server
        server.closing.set()
