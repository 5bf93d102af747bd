"""A language model as a bot, behind any OpenAI-compatible endpoint.

A folder, as `stich new-bot llm` writes it, holds `settings.toml` and the prompt for each turn.
"""

import hashlib
import json
import logging
import os
import re
import sys
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from textwrap import shorten
from threading import Lock
from time import monotonic
from typing import Any, Final

import msgspec

import games
from bots import kit, sensible
from bots.cards import ORDER
from bots.chat import Endpoint, Message, NoCompletion, Settings

_log = logging.getLogger(__name__)

_MAX_REMEMBERED: Final = 1000  # seats, in all matches together
_CAUSES: Final = {  # of a fallback
    "refusal": "the model refused",
    "cut": "the answer was cut at max_tokens",
    "tool_call": "the model called a tool",
    "illegal": "the model's move is not legal",
    "unreadable": "there is no move in the answer",
    "timeout": "the endpoint did not answer in time",
    "no_connection": "no connection to the endpoint",
}
# Cards may be separated by spaces: "play:3c 3d" must not be read as the 3c alone.
_CARDS: Final = r"\w+(?:[ ,]+(?:[2-9TJQKA][cdhs]|[BR]j)\b)*(?:=\w+)?"
_MOVE: Final = re.compile(
    rf'(?:\[|"move": *"?)(\d+)\b|\b(pass\b|(?:bid|call|trump|give|discard|play):\s?{_CARDS})',
    re.IGNORECASE,
)
_UNUSED: Final = ("## Golden games", "## Set-up positions", "## Options\n")  # sections of rules
_OPTION: Final = re.compile(r"^\| `(\w+)` \|.*\| (.*) \|$", re.MULTILINE)


def lean(page: str, options: Mapping[str, object]) -> str:
    """Return a page of rules without its golden games, set-up positions and options that are off.

    `options` must have all options of the match. An option is off if it is False, 0 or None. In
    place of the table of options, a list of the options that are on is added at the end.
    """
    values = [
        f"- `{name}` is {str(options[name]).lower()}: {meaning}"
        for name, meaning in _OPTION.findall(page)
        if options.get(name) not in (False, None)
    ]
    sections = [part for part in re.split(r"(?m)^(?=## )", page) if not part.startswith(_UNUSED)]
    paragraphs = (part for section in sections for part in section.strip().split("\n\n"))
    used = [part for part in paragraphs if not _is_unused(part, options)]
    text = "\n\n".join([*used, "## Options of this match", "\n".join(values)])
    return re.sub(r"\s*\*\*\(D\)\*\*", "", text) + "\n"


def _is_unused(paragraph: str, options: Mapping[str, object]) -> bool:
    needs = re.match(r"With `(\w+)`", paragraph)
    is_off = needs is not None and not options.get(needs[1], True)
    return is_off or paragraph.startswith(("*Golden game", "| option |"))


def read_answer(text: str, moves: Sequence[str]) -> tuple[str, str]:
    """Return the move and the comment in a model's answer.

    The last move in the answer counts. A number is an index into `moves` if it is in brackets, is
    the whole answer, or is the value of "move". If it is too large for an index, it is returned as
    the move. The move need not be legal, and is "" if the answer has none. If the answer is JSON
    with a "move" and a "comment", these are used. Otherwise the comment is the whole answer. Text
    up to `</think>` is ignored.
    """
    text = comment = text.rpartition("</think>")[2].strip()
    with suppress(ValueError, TypeError, LookupError, RecursionError):
        answer = json.loads(text)
        text, comment = str(answer["move"]), str(answer["comment"])
    matches = [*_MOVE.finditer(f"[{text}]" if text.isdecimal() else text)]
    if not matches:
        return "", comment
    number, written = matches[-1].groups()
    if written:
        kind, colon, rest = re.sub("[ ,]", "", written).partition(":")
        return kind.lower() + colon + rest, comment
    index = int(number[:9])
    return moves[index] if index < len(moves) else number[:9], comment


class ModelPlayer:
    """A player that asks a model until it has a legal move, or runs out of tries or time.

    `prompt` is the contents of `prompt.md`. `rules` maps each game to its page of rules. Several
    threads may call `move` at once.
    """

    def __init__(
        self, settings: Settings, prompt: str, rules: Mapping[str, str], endpoint: Endpoint
    ) -> None:
        self.settings = settings
        self.endpoint = endpoint
        self._prompt = prompt
        self._rules = rules
        self._turns: dict[tuple[str, int], deque[Message]] = {}
        self._lock = Lock()

    def move(
        self, view: dict[str, Any], moves: list[str], request: Mapping[str, Any]
    ) -> tuple[str, dict[str, str | float], str | None]:
        """Return the move, information about it, and the reason for a fallback, or None.

        The model has until shortly before the clock of the request runs out. The information has
        the model's comment, and numbers such as tokens and cost. If the model makes no legal move,
        the setting `fallback` decides. With "sensible", `sensible` moves. With "none", the move is
        the last one that the model wrote, or "", and the reason is None.
        """
        settings = self.settings
        seconds = (request["clock"]["move_ms"] + request["clock"]["bank_ms"]) / 1000
        until = monotonic() + seconds - min(1, seconds / 10)
        position = games.get(view["game"]).view(view)
        described = games.describe(position, position.moves() if settings.list_moves else None)
        prompt = self._prompt.replace("{rules}", lean(self._rules[view["game"]], view["options"]))
        with self._lock:
            messages = [*self._turns.get((request["match"], view["seat"]), ())]
        messages.append({"role": "user", "content": prompt.replace("{position}", described)})
        used: Counter[str] = Counter()
        numbers: dict[str, float] = {}
        move = comment = problem = words = cause = ""
        for attempt in range(settings.retries + 1):
            numbers["retries"] = attempt
            try:
                reply = self.endpoint.ask(messages, until, used)
                words = reply.words
                move, comment = read_answer(words, moves if settings.list_moves else ())
                move = position.check(move).text
            except games.IllegalMove as error:
                cause = reply.cause or ("illegal" if move else "unreadable")
                used[cause] += 1
                shown = self.endpoint.without_key(move)
                detail = error.detail if shown == move else ""  # the detail quotes part of the move
                problem = f"{shown[:200]!r} is not legal ({error.reason}): {detail}"
                if reply.cause:
                    problem = f"{_CAUSES[cause]}, and {problem}"
                messages.append({"role": "assistant", "content": words or "(nothing)"})
                messages.append({"role": "user", "content": f"{problem} Choose a legal move."})
            except NoCompletion as error:
                cause, problem = error.cause, str(error)
                if cause != "unreadable":
                    break
            else:
                numbers.setdefault("first_try", 1)
                problem = ""
                break
            numbers["first_try"] = 0
        fallback = None
        if problem:
            problem = self.endpoint.without_key(problem)
            _log.warning("%s; fallback: %s", problem, settings.fallback)
            comment = f"({problem}) {comment}"
            move = self.endpoint.without_key(move)[:200]
            if settings.fallback == "sensible":
                status = cause.removeprefix("http_")
                fallback = _CAUSES.get(cause, f"the endpoint answered {status}")
                move = sensible.move(view, moves)
        else:
            self._remember(request["match"], view["seat"], games.describe(position, None), words)
        comment = shorten(self.endpoint.without_key(comment)[:8000], 2000, placeholder=" […]")
        info: dict[str, str | float] = {"comment": comment, **numbers, **used}
        if (cost := settings.cost(used)) is not None:
            info["cost"] = cost
        return move, info, fallback

    def _remember(self, match: str, seat: int, position: str, words: str) -> None:
        with self._lock:
            turns = self._turns.pop((match, seat), None) or deque(maxlen=2 * self.settings.memory)
            turns += {"role": "user", "content": position}, {"role": "assistant", "content": words}
            self._turns[match, seat] = turns
            if len(self._turns) > _MAX_REMEMBERED:
                del self._turns[next(iter(self._turns))]


def load(folder: Path, environment: Mapping[str, str]) -> ModelPlayer:
    """Return the player that the files of a folder describe, with its key from `environment`.

    A missing file of transcripts is created. Exit with a message if any other file or the key is
    missing or wrong, or if the transcripts cannot be written.
    """
    try:
        settings = msgspec.toml.decode((folder / "settings.toml").read_bytes(), type=Settings)
        prompt = _text(folder / "prompt.md")
        rules = {game: _text(folder / f"docs/rules/{game}.md") for game in ORDER}
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
    transcripts = None
    if settings.transcripts is not None:
        transcripts = folder / settings.transcripts
        try:
            transcripts.open("ab").close()
        except OSError as error:
            sys.exit(f"{error.filename}: {error.strerror}; fix transcripts in settings.toml.")
    return ModelPlayer(settings, prompt, rules, Endpoint(settings, key, transcripts))


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8")
    except UnicodeDecodeError:
        sys.exit(f"{file}: is not UTF-8; save it as UTF-8.")


def run(folder: Path) -> None:
    """Check the endpoint of the model that a folder describes, then serve the model as a bot.

    Exit with a message if `load`, `Endpoint.probe` or `kit.run` fails. Ctrl-C ends the process.
    """
    player = load(folder, os.environ)
    try:
        player.endpoint.probe()
    except NoCompletion as error:
        sys.exit(f"The model cannot play: {error}\nFix base_url, model or the key.")
    files = b"".join((folder / name).read_bytes() for name in ("settings.toml", "prompt.md"))
    version = hashlib.sha256(files).hexdigest()[:8]  # a run records the version of each bot
    kit.run(player.move, name=player.settings.model, version=version, games=list(ORDER))
    os._exit(0)  # after Ctrl-C, do not wait for requests in progress
