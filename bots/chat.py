"""A client for OpenAI-compatible chat completions that tells all kinds of failures apart.

The key is removed from the endpoint's texts in logs, errors and transcripts. Only the words of a
completion are returned as they came.
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
from typing import Annotated, Any, Final

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


class EndpointSettings(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """The endpoint's settings in `settings.toml`, whose comments explain each key."""

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

    def cost(self, used: Mapping[str, int]) -> float | None:
        """Return the price of the tokens in `used`.

        The result is None if `used` has no output tokens, or if both the input price and the output
        price are 0. The settings have prices per million tokens, and the result is in the same
        currency.
        """
        if "output_tokens" not in used or not (self.input_price or self.output_price):
            return None
        cached = min(used.get("cached_tokens", 0), used["input_tokens"])
        cached_price = self.input_price if self.cached_price is None else self.cached_price
        price = (used["input_tokens"] - cached) * self.input_price + cached * cached_price
        return (price + used["output_tokens"] * self.output_price) / 1_000_000


class NoCompletion(Exception):
    """The endpoint did not answer with a chat completion. The text explains why.

    `cause` is the name under which such failures are counted: `timeout`, `no_connection`,
    `unreadable`, or `http_` with the status.
    """

    def __init__(self, cause: str, why: str) -> None:
        super().__init__(why)
        self.cause = cause


class Unreadable(NoCompletion):
    """The endpoint's answer is not a chat completion."""


class RequestRefused(NoCompletion):
    """The endpoint refuses the request for good."""


class _Busy(NoCompletion):
    """The endpoint may accept the request later.

    `after` is the time to wait in seconds, or None if the endpoint gave no time.
    """

    after: float | None = None


@dataclass(slots=True)
class Completion:
    """A chat completion.

    `words` is the model's text. `cause` says why the text may hold no move: `refusal`, `cut` (at
    max_tokens) or `tool_call`. It is "" after an ordinary answer. `usage` counts tokens by name.
    """

    words: str = ""
    cause: str = ""
    usage: Counter[str] = field(default_factory=Counter)


class Endpoint:
    """The endpoint of a model. Several threads may use the same object at once.

    If `transcripts` is given, each request is appended to that file with its answer, as a line of
    JSON without the key.
    """

    def __init__(
        self, settings: EndpointSettings, key: str, transcripts: Path | None = None
    ) -> None:
        self._settings = settings
        self._key = key
        self._shown_key = _json_forms(key)
        self._transcripts = transcripts
        self._lock = Lock()
        self._structured = True
        self._threads = ThreadPoolExecutor(256)

    def ask(self, messages: Sequence[Message], until: float, used: Counter[str]) -> Completion:
        """Return a completion for these messages. Repeat the request after temporary failures.

        If the endpoint refuses a request for structured output, the request is repeated without it,
        and later requests leave it out. `until` is the deadline, as a `monotonic` time. Calls,
        tokens and the causes of failed requests are added to `used`.

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
            except RequestRefused as refused:
                if body["response_format"] is None:
                    used[refused.cause] += 1
                    raise
                body["response_format"] = None  # perhaps only structured answers are refused
            except NoCompletion as error:
                used[error.cause] += 1
                raise
            else:
                self._structured = body["response_format"] is not None
                return reply

    def probe(self) -> None:
        """Check that the endpoint answers, by asking for one word.

        An endpoint that is busy or cannot be reached passes, with a warning in the log.

        Raises:
            NoCompletion: if the endpoint refuses the key or the model, or is not a chat endpoint.
        """
        until = monotonic() + self._settings.timeout_s
        try:
            self.ask([{"role": "user", "content": "Answer with the word: ready"}], until, Counter())
        except _Busy as busy:
            _log.warning("%s; starting all the same", busy)

    def _ask_once(self, body: Mapping[str, Any], until: float, used: Counter[str]) -> Completion:
        """Send one request, and return the completion. Append the request to the transcripts.

        Calls and tokens are added to `used`.

        Raises:
            NoCompletion: if there is no completion within `timeout_s` or by `until`.
        """
        began = monotonic()
        seconds = min(self._settings.timeout_s, until - began)
        if seconds <= 0:
            raise NoCompletion("timeout", "there was no time to ask")
        used["calls"] += 1
        answer, completion = "", Completion()
        try:
            answer, completion = self._read(*self._post(body, seconds))
            used.update(completion.usage)
            return completion
        except NoCompletion as error:
            answer, completion.cause = str(error), error.cause
            raise
        finally:
            self._write(body["messages"], answer, completion, monotonic() - began)

    def _post(self, body: Mapping[str, Any], seconds: float) -> tuple[requests.Response, str]:
        """Send a request. Return the response and its text.

        Raises:
            _Busy: if the endpoint cannot be reached or does not answer within `seconds`.
        """

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

    def _read(self, response: requests.Response, answer: str) -> tuple[str, Completion]:
        """Return the words of the completion in a response, without the key, and the completion.

        Raises:
            _Busy: if the endpoint may accept the request later.
            RequestRefused: if the status is otherwise not 200.
            Unreadable: if the response holds no completion.
        """
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
            raise RequestRefused(f"http_{status}", says)
        try:
            reply = _completion(answer, response.headers.get("Content-Type", ""))
        except (
            ArithmeticError,
            AttributeError,
            LookupError,
            RecursionError,
            TypeError,
            ValueError,
        ):
            raise Unreadable("unreadable", f"no chat completion: {says}") from None
        return self.without_key(reply.words), reply

    def _write(
        self, messages: Sequence[Message], answer: str, reply: Completion, took_s: float
    ) -> None:
        """Append a request to the transcripts. A failed write is only logged."""
        if self._transcripts is None:
            return
        line = {
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            "messages": [
                {**message, "content": self.without_key(message["content"])} for message in messages
            ],
            "answer": answer,
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
        """Return a text with the key, in any JSON-escaped form, replaced by "(key)"."""
        return self._shown_key.sub("(key)", text) if self._key else text


def _json_forms(key: str) -> re.Pattern[str]:
    """Return a pattern that matches the key with any JSON escapes (\\/, \\u0041) of its characters.

    The pattern also matches a key in JSON that was itself written as a string of JSON.
    """
    escapes = r"(?:\\(?:u005[cC])?){0,16}+"
    characters = [f"(?:{re.escape(c)}|u00(?i:{ord(c):02x}))" for c in key if c != "\\"]
    return re.compile(escapes.join(characters) or re.escape(key))


def _completion(answer: str, content_type: str) -> Completion:
    """Return the completion in an answer, which is a JSON object or a stream of events.

    Raises:
        _Busy: if the stream broke off.
        ValueError, TypeError, LookupError, AttributeError or RecursionError: if the answer holds no
            completion.
    """
    pieces = [answer]
    if content_type.startswith("text/event-stream"):
        pieces = re.findall(r"^data: *(.*?)\s*$", answer, re.MULTILINE)
        if "[DONE]" not in pieces:
            raise _Busy("no_connection", "the endpoint's stream broke off")
        pieces = pieces[: pieces.index("[DONE]")]
    reply, chosen = Completion(), False
    for piece in map(json.loads, pieces):
        for choice in piece["choices"][:1]:
            chosen = True
            message = choice.get("delta", choice.get("message"))
            reply.words += _text(message.get("content"))
            if refusal := _text(message.get("refusal")) or _refusal_part(message.get("content")):
                reply.words += refusal
                reply.cause = "refusal"
            elif message.get("tool_calls") or message.get("function_call"):
                reply.cause = "tool_call"
            match choice.get("finish_reason"):
                case "length":
                    reply.cause = "cut"
                case "content_filter":
                    reply.cause = "refusal"
        if piece.get("usage"):
            reply.usage = _usage(piece["usage"])
    if not chosen:
        raise LookupError
    return reply


def _text(content: object) -> str:
    """Return the text of a message's content, or "" if there is no text.

    Raises:
        TypeError: if the content is neither text, null nor a list of parts.
    """
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part.get("type") == "text")
    if content is None or isinstance(content, str):
        return content or ""
    raise TypeError


def _refusal_part(content: object) -> str:
    """Return the refusal among the parts of a message, or "" if there is none."""
    parts = content if isinstance(content, list) else []
    return "".join(part["refusal"] for part in parts if part.get("type") == "refusal")


def _usage(usage: Mapping[str, Any]) -> Counter[str]:
    """Return the numbers of tokens that the endpoint reports for a completion, by name.

    Raises:
        AttributeError, OverflowError, TypeError or ValueError: if the report is not an object with
            finite numbers.
    """
    details = usage.get("prompt_tokens_details") or {}
    counts = {
        "input_tokens": usage.get("prompt_tokens"),
        "cached_tokens": details.get("cached_tokens", usage.get("prompt_cache_hit_tokens")),
        "output_tokens": usage.get("completion_tokens"),
    }
    return Counter(
        {
            name: min(max(0, int(count)), _MOST_TOKENS)
            for name, count in counts.items()
            if count is not None
        }
    )
