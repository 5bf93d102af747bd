"""A language model as a bot: any endpoint of OpenAI's chat completions, hosted or on this machine.

`run` serves the model that a folder's `settings.toml` names, told its turns by `prompt.md`;
`stich new-bot llm` writes such a folder. The key comes from the environment, and is taken out of
all that the endpoint says before it is logged or answered.
"""

import hashlib
import json
import logging
import os
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from textwrap import shorten
from time import monotonic, sleep
from typing import Annotated, Any, Final, Literal

import msgspec
import requests
from urllib3.exceptions import HTTPError, InvalidHeader
from urllib3.util.retry import Retry

import games
from bots import kit, sensible
from bots.cards import ORDER

_log = logging.getLogger(__name__)

_ANSWER_LIMIT: Final = 4 * 1024 * 1024
_TOKENS: Final = {"input_tokens": "prompt_tokens", "output_tokens": "completion_tokens"}
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
# Cards go on over spaces: "play:3c 3d" must not be read as the 3c alone.
_CARDS: Final = r"\w+(?:[ ,]+(?:[2-9TJQKA][cdhs]|[BR]j)\b)*(?:=\w+)?"
_MOVE: Final = re.compile(
    rf'(?:\[|"move": *"?)(\d+)\b|\b(pass\b|(?:bid|call|trump|give|discard|play):\s?{_CARDS})',
    re.IGNORECASE,
)

_NotNegative = Annotated[float, msgspec.Meta(ge=0)]


class Settings(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """What `settings.toml` says; the file of the kit explains each key."""

    base_url: Annotated[str, msgspec.Meta(pattern="^https?://")]
    model: str
    key_variable: Annotated[str, msgspec.Meta(pattern="^([A-Z_][A-Z0-9_]*)?$")] = ""
    temperature: float | None = None
    max_tokens: Annotated[int, msgspec.Meta(ge=1)] | None = None
    retries: Annotated[int, msgspec.Meta(ge=0)] = 2
    timeout_s: Annotated[float, msgspec.Meta(gt=0)] = 60
    list_moves: bool = True
    fallback: Literal["sensible", "none"] = "sensible"
    input_price: _NotNegative = 0
    output_price: _NotNegative = 0
    request: dict[str, Any] = {}


class NoAnswer(Exception):
    """The endpoint did not answer; the text says why."""


class Unreadable(NoAnswer):
    """What it answered is no chat completion."""


class _Refused(NoAnswer):
    """It does not take this request."""


class _Busy(NoAnswer):
    """It may take it later: after so many seconds, if it says so."""

    after: float | None = None


class Endpoint:
    """Where a model is asked; several threads may do so at once."""

    def __init__(self, settings: Settings, key: str) -> None:
        self._settings = settings
        self._key = key
        self._shown_key = _json_forms(key)
        self._structured = True
        self._threads = ThreadPoolExecutor(256)

    def ask(self, messages: Sequence[Mapping[str, str]], until: float, used: Counter[str]) -> str:
        """The model's words; what may pass is tried again `until` then (of `monotonic`).

        Calls and tokens are added to `used`. Raises NoAnswer.
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
                words = self._ask_once(body, until, used)
            except _Busy as busy:
                wait = busy.after or pause
                if monotonic() + wait >= until:
                    raise
                _log.warning("%s; asking again in %g s", busy, wait)
                sleep(wait)
                pause = min(2 * pause, 30)
            except _Refused:
                if body["response_format"] is None:
                    raise
                body["response_format"] = None  # perhaps that is all it does not know
            else:
                self._structured = body["response_format"] is not None
                return words

    def _ask_once(self, body: Mapping[str, Any], until: float, used: Counter[str]) -> str:
        seconds = min(self._settings.timeout_s, until - monotonic())
        if seconds <= 0:
            raise NoAnswer("there was no time to ask")
        used["calls"] += 1

        def post() -> tuple[requests.Response, bytes]:
            with requests.post(
                self._settings.base_url.rstrip("/") + "/chat/completions",
                json={name: value for name, value in body.items() if value is not None},
                headers={"Authorization": f"Bearer {self._key}"} if self._key else {},
                auth=lambda request: request,  # no other from a .netrc
                timeout=seconds,
                stream=True,
                allow_redirects=False,
            ) as response:
                return response, response.raw.read(_ANSWER_LIMIT, decode_content=True)

        try:
            # The time-outs of requests are for each read; many endpoints send spaces meanwhile.
            response, data = self._threads.submit(post).result(seconds)
        except TimeoutError:
            raise _Busy(f"the endpoint did not answer within {seconds:.1f} s") from None
        except (requests.RequestException, HTTPError) as error:
            raise _Busy(self.without_key(f"no answer from the endpoint: {error}")) from None
        answer = data.decode(errors="replace")
        excerpt = shorten(self.without_key(answer)[:2000], 300)
        says = f"the endpoint answered {response.status_code}: {excerpt}"
        if response.status_code in (408, 425, 429) or response.status_code >= 500:
            busy = _Busy(says)
            with suppress(InvalidHeader, ValueError, OverflowError):
                header = response.headers.get("Retry-After", "")
                busy.after = max(0.1, Retry().parse_retry_after(header))
            raise busy
        if response.status_code != 200:
            raise _Refused(says)
        try:
            words, usage = _read(answer, response.headers.get("Content-Type", ""))
            for name, wire in _TOKENS.items():
                if wire in usage:
                    used[name] += min(max(0, int(usage[wire])), 10**9)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
            raise Unreadable(f"no chat completion: {says}") from None
        return words

    def without_key(self, text: str) -> str:
        """The text without the key, however the key is escaped as JSON."""
        return self._shown_key.sub("(key)", text) if self._key else text


def _json_forms(key: str) -> re.Pattern[str]:
    """A pattern that matches the key in all forms that JSON has for its characters (\\/, \\u0041),
    also within a string of JSON that was itself written as JSON."""
    escapes = r"(?:\\(?:u005[cC])?){0,16}+"
    characters = [f"(?:{re.escape(c)}|u00(?i:{ord(c):02x}))" for c in key if c != "\\"]
    return re.compile(escapes.join(characters) or re.escape(key))


def _read(answer: str, content_type: str) -> tuple[str, Mapping[str, Any]]:
    """The words and the usage of an answer, whole or streamed; _Busy if a stream has broken off."""
    pieces = [answer]
    if content_type.startswith("text/event-stream"):
        pieces = re.findall(r"^data: *(.*?)\s*$", answer, re.MULTILINE)
        if "[DONE]" not in pieces:
            raise _Busy("the endpoint's stream broke off")
        pieces = pieces[: pieces.index("[DONE]")]
    words: list[str] = []
    usage: Mapping[str, Any] = {}
    for piece in map(json.loads, pieces):
        for choice in piece["choices"][:1]:
            message = choice.get("delta", choice.get("message"))
            words.append(message.get("content") or message.get("refusal") or "")
            if choice.get("finish_reason") == "length":
                _log.warning("the answer was cut at max_tokens")
        usage = piece.get("usage") or usage
    if not words:
        raise LookupError
    return "".join(words), usage


def read_answer(text: str, moves: Sequence[str]) -> tuple[str, str]:
    """The move in a model's words, and the words without the form around them.

    A number is an index of `moves`. The move is empty if there is none, and need not be legal.
    """
    text = comment = text.rpartition("</think>")[2].strip()
    with suppress(ValueError, TypeError, LookupError, RecursionError):
        answer = json.loads(text)
        text, comment = str(answer["move"]), str(answer["comment"])
    found = [*_MOVE.finditer(f"[{text}]" if text.isdecimal() else text)]
    if not found:
        return "", comment
    number, written = found[-1].groups()
    if written:
        kind, colon, rest = re.sub("[ ,]", "", written).partition(":")
        return kind.lower() + colon + rest, comment
    index = int(number[:9])
    return moves[index] if index < len(moves) else number[:9], comment


@dataclass(frozen=True, slots=True)
class Player:
    """A model at a table, asked until its move is legal or its tries or its time are over."""

    settings: Settings
    prompt: str
    rules: Mapping[str, str]
    endpoint: Endpoint

    def move(
        self, view: dict[str, Any], moves: list[str], request: Mapping[str, Any]
    ) -> tuple[str, dict[str, str | float], str | None]:
        """The model's move, or that of the fallback and why, with what it said and cost."""
        settings = self.settings
        seconds = (request["clock"]["move_ms"] + request["clock"]["bank_ms"]) / 1000
        until = monotonic() + seconds - min(1, seconds / 10)
        position = games.get(view["game"]).view(view)
        told = games.describe(position, position.moves() if settings.list_moves else None)
        prompt = self.prompt.replace("{rules}", self.rules[view["game"]])
        messages = [{"role": "user", "content": prompt.replace("{position}", told)}]
        used: Counter[str] = Counter()
        numbers: dict[str, float] = {}
        fallback = None
        move = comment = problem = ""
        for attempt in range(settings.retries + 1):
            numbers["retries"] = attempt
            try:
                words = self.endpoint.ask(messages, until, used)
                move, comment = read_answer(words, moves if settings.list_moves else ())
                move = position.check(move).text
            except games.IllegalMove as error:
                shown = self.endpoint.without_key(move)
                detail = error.detail if shown == move else ""  # which has only a part of the move
                problem = f"{shown[:200]!r} is not legal ({error.reason}): {detail}"
                messages.append({"role": "assistant", "content": words or "(nothing)"})
                messages.append({"role": "user", "content": f"{problem} Choose a legal move."})
            except NoAnswer as error:
                problem = str(error)
                if not isinstance(error, Unreadable):
                    break
            else:
                numbers.setdefault("first_try", 1)
                problem = ""
                break
            numbers["first_try"] = 0
        if problem:
            problem = self.endpoint.without_key(problem)
            _log.warning("%s; fallback: %s", problem, settings.fallback)
            comment = f"({problem}) {comment}"
            move = self.endpoint.without_key(move)[:200]
            if settings.fallback == "sensible":
                fallback = shorten(problem, 200)
                move = sensible.move(view, moves)
        comment = shorten(self.endpoint.without_key(comment)[:8000], 2000, placeholder=" […]")
        info: dict[str, str | float] = {"comment": comment, **numbers, **used}
        if "output_tokens" in used and settings.input_price + settings.output_price:
            price = used["input_tokens"] * settings.input_price
            info["cost"] = (price + used["output_tokens"] * settings.output_price) / 1_000_000
        return move, info, fallback


def load(folder: Path, environment: Mapping[str, str]) -> Player:
    """The player of a folder; exits with a message if a file or the key is missing or wrong."""
    try:
        settings = msgspec.toml.decode((folder / "settings.toml").read_bytes(), type=Settings)
        prompt = (folder / "prompt.md").read_text("utf-8")
        rules = {game: (folder / f"docs/rules/{game}.md").read_text("utf-8") for game in ORDER}
    except OSError as error:
        sys.exit(f"{error.filename}: {error.strerror}; `stich new-bot llm` writes all files.")
    except (msgspec.MsgspecError, ValueError) as error:
        sys.exit(f"{folder}/settings.toml: {error}.")
    if "{position}" not in prompt:
        sys.exit("prompt.md has no {position}, so the model would not see its cards; add it.")
    key = environment.get(settings.key_variable, "").strip()
    if settings.key_variable and not re.fullmatch("[!-~]+", key):
        sys.exit(
            f"The environment variable {settings.key_variable}, which settings.toml names as"
            " key_variable, has no key; export it before you start the bot."
        )
    return Player(settings, prompt, rules, Endpoint(settings, key))


def run(folder: Path) -> None:
    """Serve the player of a folder; exit with a message, before any request, if it is not whole."""
    player = load(folder, os.environ)
    files = b"".join((folder / name).read_bytes() for name in ("settings.toml", "prompt.md"))
    version = hashlib.sha256(files).hexdigest()[:8]  # a run notes what a bot says of itself
    kit.run(player.move, name=player.settings.model, version=version, games=list(ORDER))
    os._exit(0)  # after Ctrl-C: nobody needs the answers that are still to come
