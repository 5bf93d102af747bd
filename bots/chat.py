"""A client for OpenAI-compatible chat completions that distinguishes all kinds of failure.

The key is removed from logs, errors and transcripts, but not from the words of a completion.
"""

import json
import logging
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from textwrap import shorten
from threading import Lock
from time import monotonic, sleep
from typing import Annotated, Any, Final, Literal

import msgspec
import requests
from urllib3.exceptions import HTTPError, InvalidHeader
from urllib3.util.retry import Retry

_log = logging.getLogger(__name__)

Message = Mapping[str, str]

_ANSWER_LIMIT: Final = 4 * 1024 * 1024
_MOST_TOKENS: Final = 10**9
_SCHEMA: Final = {
    "type": "object",
    "properties": {"comment": {"type": "string"}, "move": {"type": "string"}},
    "required": ["comment", "move"],
    "additionalProperties": False,
}
_STRUCTURED: Final = {
    "type": "json_schema",
    "json_schema": {"name": "move", "strict": True, "schema": _SCHEMA},
}
_NotNegative = Annotated[float, msgspec.Meta(ge=0)]


class Settings(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The contents of `settings.toml`, whose comments explain each key."""

    base_url: Annotated[str, msgspec.Meta(pattern="^https?://")]
    model: str
    key_variable: Annotated[str, msgspec.Meta(pattern="^([A-Z_][A-Z0-9_]*)?$")] = ""
    temperature: float | None = None
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    timeout_s: Annotated[float, msgspec.Meta(gt=0)] = 60
    transcripts: str | None = None
    input_price: _NotNegative = 0
    cached_price: _NotNegative | None = None
    output_price: _NotNegative = 0
    request: dict[str, Any] = {}
    retries: Annotated[int, msgspec.Meta(ge=0)] = 2
    list_moves: bool = True
    memory: Annotated[int, msgspec.Meta(ge=0, le=1000)] = 0
    fallback: Literal["sensible", "none"] = "sensible"

    def cost(self, used: Mapping[str, int]) -> float | None:
        """Return the cost of the tokens that `used` counts by kind, as `Completion.usage` does, in
        the currency of the prices.

        Return None if output tokens were not counted, or if neither input nor output has a price.
        """
        if "output_tokens" not in used or not (self.input_price or self.output_price):
            return None
        asked = used.get("input_tokens", 0)
        cached = min(used.get("cached_tokens", 0), asked)
        cached_price = self.input_price if self.cached_price is None else self.cached_price
        price = (asked - cached) * self.input_price + cached * cached_price
        return (price + used["output_tokens"] * self.output_price) / 1_000_000


class NoCompletion(Exception):
    """The endpoint did not answer with a chat completion. The text explains why.

    `cause` is `timeout`, `no_connection`, `unreadable`, or `http_` and the status.
    """

    def __init__(self, cause: str, why: str) -> None:
        super().__init__(why)
        self.cause = cause


class _Busy(NoCompletion):
    """The endpoint may accept the request later."""

    after: float | None = None  # the seconds to wait, if the endpoint says so


class _Part(msgspec.Struct):
    type: str
    text: str | None = None
    refusal: str | None = None


class _Message(msgspec.Struct):
    content: str | list[_Part] | None = None
    refusal: str | None = None
    tool_calls: list[Any] | None = None
    function_call: Any = None


class _Choice(msgspec.Struct):
    message: _Message
    finish_reason: str | None = None


class _InputTokens(msgspec.Struct):
    cached_tokens: float | None = None


class _Usage(msgspec.Struct):
    prompt_tokens: float | None = None
    prompt_tokens_details: _InputTokens | None = None
    prompt_cache_hit_tokens: float | None = None
    completion_tokens: float | None = None


class _Answer(msgspec.Struct):
    choices: Annotated[list[_Choice], msgspec.Meta(min_length=1)]
    usage: _Usage | None = None


# Made here: msgspec crashes if two threads are the first to decode a type at the same time.
_to_answer = msgspec.json.Decoder(_Answer).decode


@dataclass(slots=True)
class Completion:
    """A chat completion."""

    words: str = ""  # the model's text, followed by the text of any refusal
    cause: str = ""  # why there may be no move: `refusal`, `cut` (at max_tokens) or `tool_call`
    # What the endpoint counted: `input_tokens`, `cached_tokens`, `output_tokens`.
    usage: Counter[str] = field(default_factory=Counter)


class Endpoint:
    """The endpoint of a model. Several threads may use it at once. `key` is "" if none is needed.

    If `transcripts` is given, each request is appended to this file with its answer, as a line of
    JSON without the key. A failure to write is only logged.
    """

    def __init__(self, settings: Settings, key: str, transcripts: Path | None) -> None:
        self._settings = settings
        self._key = key
        self._shown_key = _json_forms(key)
        self._transcripts = transcripts
        self._lock = Lock()
        self._structured = True
        self._threads = ThreadPoolExecutor(256)

    def ask(self, messages: Sequence[Message], until: float, used: Counter[str]) -> Completion:
        """Return a completion for these messages. After a temporary failure, wait and try again.

        If the endpoint refuses structured output, ask without it, in later requests too. `until` is
        the deadline, as a `monotonic` time. Even if there is no completion, add to the counts in
        `used`: of calls (key "calls"), of tokens (keys as in `Completion.usage`), and of failures
        by cause (keys as in `NoCompletion`).

        Raises:
            NoCompletion: if there is no completion by the deadline, if the endpoint refuses the
                request, or if its answer is not a completion.
        """
        settings = self._settings
        body = {
            "model": settings.model,
            "temperature": settings.temperature,
            "max_tokens": settings.max_tokens,
            "messages": messages,
            "response_format": _STRUCTURED if self._structured else None,
            **settings.request,
        }
        pause = 0.5
        while True:
            try:
                reply = self._ask_once(body, until, used)
            except _Busy as busy:
                used[busy.cause] += 1
                wait = busy.after or pause
                if monotonic() + wait >= until:
                    raise
                _log.warning("%s; asking again in %g s", busy, wait)
                sleep(wait)
                pause = min(2 * pause, 30)
            except NoCompletion as error:
                if body["response_format"] is None or not error.cause.startswith("http_"):
                    used[error.cause] += 1
                    raise
                body["response_format"] = None  # perhaps only structured answers are refused
            else:
                self._structured = body["response_format"] is not None
                return reply

    def probe(self) -> None:
        """Ask for one word. If the endpoint is busy or unreachable for `timeout_s`, only log that.

        Raises:
            NoCompletion: if the endpoint refuses the request, for example because of the key or the
                model, or is not a chat endpoint.
        """
        until = monotonic() + self._settings.timeout_s
        try:
            self.ask([{"role": "user", "content": "Answer with the word: ready"}], until, Counter())
        except _Busy as busy:
            _log.warning("%s; starting all the same", busy)

    def _ask_once(self, body: Mapping[str, Any], until: float, used: Counter[str]) -> Completion:
        began = monotonic()
        seconds = min(self._settings.timeout_s, until - began)
        if seconds <= 0:
            raise _Busy("timeout", "there was no time to ask")
        used["calls"] += 1
        completion = Completion()
        try:
            completion = self._read(*self._post(body, seconds))
            used.update(completion.usage)
            return completion
        except NoCompletion as error:
            completion = Completion(str(error), error.cause)
            raise
        finally:
            self._write_transcript(body["messages"], completion, monotonic() - began)

    def _post(self, body: Mapping[str, Any], seconds: float) -> tuple[requests.Response, str]:
        def post() -> tuple[requests.Response, bytes]:
            with requests.post(
                self._settings.base_url.rstrip("/") + "/chat/completions",
                json={name: value for name, value in body.items() if value is not None},
                headers={"Authorization": f"Bearer {self._key}"} if self._key else {},
                auth=lambda request: request,  # no password from a .netrc
                timeout=seconds,
                stream=True,
                allow_redirects=False,
            ) as response:
                return response, response.raw.read(_ANSWER_LIMIT, decode_content=True)

        try:
            # `requests` applies its timeout to each read, and many endpoints send spaces meanwhile.
            response, data = self._threads.submit(post).result(seconds)
        except TimeoutError:
            why = f"the endpoint did not answer within {seconds:.1f} s"
            raise _Busy("timeout", why) from None
        except (requests.RequestException, HTTPError) as error:
            cause = "timeout" if isinstance(error, requests.Timeout) else "no_connection"
            why = self.without_key(f"no answer from the endpoint: {error}")
            raise _Busy(cause, why) from None
        return response, data.decode(errors="replace")

    def _read(self, response: requests.Response, answer: str) -> Completion:
        excerpt = shorten(self.without_key(answer)[:2000], 300)
        status = response.status_code
        says = f"the endpoint answered {status}: {excerpt}"
        if status in (408, 425, 429) or status >= 500:
            busy = _Busy(f"http_{status}", says)
            with suppress(InvalidHeader, ValueError, OverflowError):
                header = response.headers.get("Retry-After", "")
                busy.after = max(0.1, Retry().parse_retry_after(header))
            raise busy
        if status != 200:
            raise NoCompletion(f"http_{status}", says)
        try:
            return _completion(_to_answer(answer))
        except (msgspec.DecodeError, RecursionError):
            raise NoCompletion("unreadable", f"no chat completion: {says}") from None

    def _write_transcript(
        self, messages: Sequence[Message], reply: Completion, took_s: float
    ) -> None:
        if self._transcripts is None:
            return
        line = {
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "messages": [
                {**message, "content": self.without_key(message["content"])} for message in messages
            ],
            "answer": self.without_key(reply.words),
            "cause": reply.cause,
            "usage": reply.usage,
            "latency_ms": round(took_s * 1000),
        }
        try:
            with self._lock, self._transcripts.open("a", encoding="ascii") as file:
                file.write(json.dumps(line) + "\n")
        except OSError as error:
            _log.warning("the transcript is not written: %s", error.strerror)

    def without_key(self, text: str) -> str:
        """Return `text` with the key, plain or with JSON escapes, replaced by "(key)"."""
        return self._shown_key.sub("(key)", text) if self._key else text


def _json_forms(key: str) -> re.Pattern[str]:
    """Return a pattern that matches the key with any JSON escapes (\\/, \\u0041), even nested."""
    escapes = r"(?:\\(?:u005[cC])?){0,16}+"
    characters = [f"(?:{re.escape(c)}|u00(?i:{ord(c):02x}))" for c in key if c != "\\"]
    return re.compile(escapes.join(characters) or re.escape(key))


def _completion(answer: _Answer) -> Completion:
    choice, usage = answer.choices[0], answer.usage or _Usage()
    message, reason = choice.message, choice.finish_reason
    content = message.content or ""
    parts = [_Part("text", content)] if isinstance(content, str) else content
    words = "".join(part.text or "" for part in parts if part.type == "text")
    refusal = message.refusal or "".join(part.refusal or "" for part in parts)
    cause = ""
    if reason == "length":
        cause = "cut"
    elif refusal or reason == "content_filter":
        cause = "refusal"
    elif message.tool_calls or message.function_call:
        cause = "tool_call"
    details = usage.prompt_tokens_details or _InputTokens()
    cached = details.cached_tokens
    counts = {
        "input_tokens": usage.prompt_tokens,
        "cached_tokens": usage.prompt_cache_hit_tokens if cached is None else cached,
        "output_tokens": usage.completion_tokens,
    }
    tokens = {n: int(min(max(0, c), _MOST_TOKENS)) for n, c in counts.items() if c is not None}
    return Completion(words + refusal, cause, Counter(tokens))
