"""A language model as a bot, with a stand-in for its endpoint."""

import json
import logging
import math
import os
import random
import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import games
from bots import kit, llm, sensible
from bots.chat import Settings
from bots.kits import find
from stich.cli import cli
from tests.support.bots.chat_endpoint import (
    KEY,
    USAGE,
    Act,
    answers,
    breaks_off,
    completion,
    endpoint,
    moves,
    says,
    stalls,
    without_schema,
)
from tests.support.pages import blocks
from tests.support.serving import serving

START = games.get("doudizhu").start(3, "cards", {})
VIEW, MOVES = START.view(START.turn).to_dict(), START.moves().texts()
ILLEGAL = moves("play:3c")
REFUSES = says(None, refusal="I must not gamble.")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    find("llm").copy(tmp_path / "bot")
    return tmp_path / "bot"


def change(folder: Path, **settings: Any) -> None:
    """Change keys of settings.toml, also those that are commented out."""
    path = folder / "settings.toml"
    text = path.read_text()
    for name, value in settings.items():
        text, count = re.subn(f"(?m)^(# )?{name} = .*", f"{name} = {json.dumps(value)}", text)
        assert count == 1, name
    path.write_text(text)


def load(folder: Path, url: str, key: str = KEY, **settings: Any) -> llm.ModelPlayer:
    """The player of a folder whose settings name this endpoint."""
    change(folder, base_url=url, key_variable="STAND_IN_KEY", **settings)
    return llm.load(folder, {"STAND_IN_KEY": f"{key}\n"})


def turn(move_ms: int = 30_000, match: str = "m") -> dict[str, Any]:
    return {"match": match, "clock": {"move_ms": move_ms, "bank_ms": 0}}


def decide(
    folder: Path, *acts: Act, move_ms: int = 30_000, key: str = KEY, **settings: Any
) -> tuple[str, dict[str, Any], list[dict[str, Any]]]:
    """The bot's move, its info with `why` it is a fallback, and the requests to the endpoint."""
    with endpoint(*acts, key=key) as server:
        player = load(folder, server.url, key, **settings)
        move, info, why = player.move(VIEW, MOVES, turn(move_ms))
        return move, {**info, "why": why}, server.bodies


def test_a_good_answer(folder: Path) -> None:
    move, info, bodies = decide(folder, moves("bid:2", "strong"), input_price=2, output_price=10)
    assert move == "bid:2"
    counts = {"calls": 1, "first_try": 1, "retries": 0, "input_tokens": 1000, "output_tokens": 50}
    assert info == {"comment": "strong", "why": None, "cost": 0.0025, **counts}
    (body,) = bodies
    assert (body["model"], body["temperature"], body["max_tokens"]) == ("qwen3:8b", 0.0, 2000)
    (message,) = body["messages"]
    assert games.describe(START.view(START.turn), START.moves()) in message["content"]
    assert "A bomb beats everything but a higher bomb and the rocket" in message["content"]
    assert "olden game" not in message["content"]
    assert "`spring`" not in message["content"]  # an option that is off
    assert "- `deals` is 1: the number of deals" in message["content"]


def test_prompt_and_request_are_the_authors(folder: Path) -> None:
    (folder / "prompt.md").write_text("{position}Nothing else.")
    with (folder / "settings.toml").open("a") as settings:
        settings.write("\nreasoning_effort = 'low'\n")
    move, _, (body,) = decide(folder, moves("bid:1"), list_moves=False)
    assert (move, body["reasoning_effort"]) == ("bid:1", "low")
    position = games.describe(START.view(START.turn))
    assert body["messages"][0]["content"] == f"{position}Nothing else."


@pytest.mark.parametrize(
    ("words", "move"),
    [
        ("I would rather play:3c3d than pass. So: **bid:2**.", "bid:2"),
        ('```json\n{"comment": "x", "move": "bid:2"}\n```', "bid:2"),
        ('So {"move": 2}', "bid:2"),
        ("Either [1] or [2]", "bid:2"),
        ("2", "bid:2"),
        ('{"comment": "pass?", "move": "[2] bid:2"}', "bid:2"),
        ('{"comment": "pass?", "move": 2}', "bid:2"),
        ('<think>play:3c?</think>{"comment": "", "move": "Bid: 2"}', "bid:2"),
        ("Pass.", "pass"),
        ("play:3c 3d, Bj=flush", "play:3c3dBj=flush"),
        ("[" + "9" * 5000 + "]", "9" * 9),
        ("passed", ""),
        ("", ""),
        ("[" * 100_000, ""),
    ],
)
def test_the_move_is_found_in_the_words(words: str, move: str) -> None:
    assert llm.read_answer(words, ["pass", "bid:1", "bid:2"])[0] == move


def test_the_model_is_told_why_a_move_is_illegal(folder: Path) -> None:
    parts = [{"type": "reasoning", "summary": []}, {"type": "text", "text": "I say bid:3"}]
    acts = says("play:3c"), says("play:3c"), says(None, refusal="No."), says(parts)
    move, info, bodies = decide(folder, *map(without_schema, acts))
    assert (move, info["comment"]) == ("bid:3", "I say bid:3")
    assert (info["first_try"], info["retries"], info["why"]) == (0, 2, None)
    assert (info["calls"], info["input_tokens"]) == (4, 3000)
    assert ["response_format" in body for body in bodies] == [True, False, False, False]
    _, answer, why, refusal, again = (message["content"] for message in bodies[-1]["messages"])
    with pytest.raises(games.IllegalMove) as error:
        START.view(START.turn).check("play:3c")
    assert (answer, refusal) == ("play:3c", "No.")
    assert error.value.detail in why
    assert "'' is not a move" in again


def test_the_fallback_plays_unless_it_is_none(folder: Path) -> None:
    move, info, bodies = decide(folder, ILLEGAL, retries=1)
    assert (move, "is not legal" in info["why"]) == (sensible.move(VIEW, MOVES), True)
    assert (info["first_try"], info["retries"], len(bodies)) == (0, 1, 2)
    assert re.fullmatch(r"\('play:3c' is not legal \(wrong-phase\): .*why not", info["comment"])
    move, info, _ = decide(folder, ILLEGAL, fallback="none")
    assert (move, info["why"], info["retries"]) == ("play:3c", None, 1)


@pytest.mark.parametrize(
    "trouble",
    [
        answers(429, {"error": {"message": "slow down"}}, Retry_After="0"),
        answers(503, "busy", Retry_After="Wed, 21 Oct 2015 07:28:00 GMT"),
        answers(500, Retry_After="9" * 5000),
        breaks_off,
    ],
)
def test_a_failure_that_may_pass_is_tried_again(folder: Path, trouble: Act) -> None:
    move, info, bodies = decide(folder, trouble, moves("bid:2"))
    assert (move, info["first_try"], info["retries"], info["calls"]) == ("bid:2", 1, 0, 2)
    assert bodies[0] == bodies[1]


@pytest.mark.parametrize("limits", [{"move_ms": 800}, {"timeout_s": 0.2, "move_ms": 1500}])
def test_an_endpoint_that_sends_spaces_for_ever(folder: Path, limits: dict[str, Any]) -> None:
    move, info, bodies = decide(folder, stalls, **limits)
    assert (move, bool(info["why"])) == (sensible.move(VIEW, MOVES), True)
    assert "did not answer within" in info["comment"]
    assert len(bodies) == info["calls"]
    assert (len(bodies) > 1) is ("timeout_s" in limits)


CACHED = {**USAGE, "prompt_tokens_details": {"cached_tokens": 800}}
COUNTED = {"input_tokens": 1000, "cached_tokens": 800, "output_tokens": 50, "cost": 0.0038}
ENDLESS = {"prompt_tokens": 0, "completion_tokens": 10**30}
BOUNDED = {"input_tokens": 0, "output_tokens": 10**9, "cost": 20_000}


@pytest.mark.parametrize(
    ("usage", "counts"), [(None, {}), ({}, {}), (CACHED, COUNTED), (ENDLESS, BOUNDED)]
)
def test_tokens_are_counted_as_reported(folder: Path, usage: Any, counts: Any) -> None:
    prices: dict[str, Any] = {"input_price": 10, "output_price": 20, "cached_price": 1}
    _, info, _ = decide(folder, says("bid:1", usage=usage), **prices)
    assert info["why"] is None
    assert {key: n for key, n in info.items() if "tokens" in key or key == "cost"} == counts
    assert Settings("http://x", "m", output_price=2).cost({"output_tokens": 10**6}) == 2


OTHER = 'a/b"c\\d'
ESCAPED = "".join(f"\\u{ord(c):04X}" for c in KEY)
FORMS = [(KEY, form) for form in (KEY, ESCAPED, ESCAPED.lower(), json.dumps(ESCAPED))]
FORMS.append((OTHER, json.dumps(OTHER).replace("/", r"\/")[1:-1]))


@pytest.mark.parametrize("status", [302, 401])
@pytest.mark.parametrize(("key", "form"), FORMS)
def test_the_key_is_never_told_further(
    folder: Path, status: int, key: str, form: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    leak = f"wrong key {form} in Authorization: Bearer {form}"
    refused = answers(status, f"{' ' * 1990}{leak}", Location="http://127.0.0.1:9/elsewhere")
    _, info, bodies = decide(folder, refused, key=key)
    assert len(bodies) == 2  # with a schema and without
    _, legal, _ = decide(folder, moves("bid:1", leak), key=key)
    _, illegal, _ = decide(folder, moves(f"{'x' * 20}{form}"), key=key)
    everything = f"{info}{legal}{illegal}{caplog.text}"
    assert f"endpoint answered {status}: " in everything
    assert "(key)" in everything
    assert key[:6] not in everything
    assert form[:20] not in everything


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("settings.toml", 'key_variable = ""', 'key_variable = "A_KEY"', "A_KEY, .* has no key"),
        ("settings.toml", 'key_variable = ""', 'key_variable = "sk-123"', "`str` matching regex"),
        ("settings.toml", "retries = 2", 'retries = "two"', r"`int`, got `str` - at `\$.retries`"),
        ("settings.toml", "# transcripts = ", 'transcripts = "no/x" # ', "fix transcripts in sett"),
        ("settings.toml", "retries = 2", "retrys = 2", "unknown field `retrys`"),
        ("prompt.md", "{position}", "", r"no \{position\}"),
        ("prompt.md", "{position}", "\xff", r"prompt\.md: is not UTF-8; save it as UTF-8\."),
    ],
)
def test_wrong_settings_are_refused(
    folder: Path, file: str, old: str, new: str, message: str
) -> None:
    text = (folder / file).read_text()
    assert old in text
    encoding = "latin-1" if new == "\xff" else "utf-8"
    (folder / file).write_bytes(text.replace(old, new).encode(encoding))
    with pytest.raises(SystemExit, match=message) as exit_:
        llm.load(folder, {"A_KEY": "sk-1\n2"})
    assert "sk-1" not in str(exit_.value)


TOOL = {"type": "function", "id": "1", "function": {"name": "play", "arguments": "{}"}}


UNREADABLE = [
    says("I am not sure."),
    answers(200),
    answers(200, {"type": "message", "content": [{"type": "text", "text": "bid:1"}]}),
    answers(200, {"choices": []}),
    answers(200, completion({"text": "bid:1"})),
    answers(200, "[" * 100_000),
    says("bid:1", usage={"prompt_tokens": "many"}),
    says("bid:1", usage={"prompt_tokens": math.inf}),
]


@pytest.mark.parametrize(
    ("cause", "why", "act"),
    [
        ("http_401", "the endpoint answered 401", answers(401, {"error": {"message": "bad key"}})),
        ("http_404", "the endpoint answered 404", without_schema(answers(404, "no such model"))),
        ("http_429", "the endpoint answered 429", answers(429, Retry_After="99999")),
        ("http_500", "the endpoint answered 500", answers(500, Retry_After="99999")),
        ("refusal", "the model refused", REFUSES),
        ("refusal", "the model refused", says([{"type": "refusal", "refusal": "No"}])),
        ("refusal", "the model refused", says(None, finish="content_filter")),
        ("tool_call", "the model called a tool", says(None, tool_calls=[TOOL])),
        ("tool_call", "the model called a tool", says(None, function_call=TOOL["function"])),
        ("cut", "the answer was cut at max_tokens", says("I think that", finish="length")),
        ("illegal", "the model's move is not legal", ILLEGAL),
        *(("unreadable", "there is no move in the answer", act) for act in UNREADABLE),
    ],
)
def test_failures_are_counted_by_cause(folder: Path, cause: str, why: str, act: Act) -> None:
    move, info, _ = decide(folder, act, retries=1)
    assert (move, info["why"].startswith(why)) == (sensible.move(VIEW, MOVES), True)
    assert info[cause] == (1 if cause.startswith("http_") else 2)


def test_transcripts_have_each_request_without_the_key(folder: Path) -> None:
    (folder / "prompt.md").write_text(f"{KEY} {{position}}")
    decide(folder, ILLEGAL, moves("bid:1", f"my key is {KEY}"), transcripts="transcripts.jsonl")
    lines = (folder / "transcripts.jsonl").read_text()
    assert KEY not in lines
    first, second = map(json.loads, lines.splitlines())
    assert [len(first["messages"]), len(second["messages"])] == [1, 3]
    assert first["usage"] == {"input_tokens": 1000, "output_tokens": 50}
    assert json.loads(second["answer"]) == {"comment": "my key is (key)", "move": "bid:1"}
    assert second["latency_ms"] >= 0


def test_the_last_turns_stay_in_the_prompt(folder: Path) -> None:
    with endpoint(moves("bid:1", "first"), moves("bid:2"), moves("bid:3"), moves("pass")) as server:
        player = load(folder, server.url, memory=2)
        for match in ("m", "m", "m", "other"):
            player.move(VIEW, MOVES, turn(match=match))
    assert [len(body["messages"]) for body in server.bodies] == [1, 3, 5, 1]
    position, answer, *_ = server.bodies[2]["messages"]
    assert position["content"] == games.describe(START.view(START.turn), None)
    assert json.loads(answer["content"])["comment"] == "first"


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (answers(401, {"error": {"message": "Incorrect API key"}}), "401: .*Incorrect API key"),
        (answers(404, "The model does not exist."), "404: The model does not exist"),
        (answers(200, "<!doctype html>Sign in"), "no chat completion: .*Sign in"),
    ],
)
def test_a_wrong_key_or_model_ends_the_bot_at_the_start(folder: Path, act: Act, words: str) -> None:
    with endpoint(act) as server:
        change(folder, base_url=server.url, key_variable="STAND_IN_KEY")
        environment = {"STAND_IN_KEY": KEY, "PYTHONPATH": os.getcwd()}
        command = [sys.executable, str(folder / "bot.py")]
        ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert ended.returncode == 1
    assert re.search(f"^The model cannot play: .*{words}(.|\n)*Fix", ended.stderr, re.MULTILINE)


def test_a_busy_endpoint_does_not_end_the_bot(folder: Path) -> None:
    with endpoint(answers(429, "slow down", Retry_After="99999")) as server:
        load(folder, server.url).endpoint.probe()


def sometimes_wrong(share: float) -> Act:
    """A model that answers with a number of the list; now and then with one that is not there."""
    draw = random.Random(7)

    def act(handler: Any, body: dict[str, Any]) -> None:
        position, *asked_again = body["messages"]
        wrong = draw.random() < share and not asked_again
        number = draw.choice(re.findall(r"\[(\d+)\] ", position["content"]))
        moves("[9999]" if wrong else number)(handler, body)

    return act


def test_the_page_from_first_to_last_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cup of stand-ins, of which `small` is often wrong and `local` refuses."""
    monkeypatch.chdir(tmp_path)
    page = (Path(__file__).parents[2] / "docs" / "llm.md").read_text()
    (cup,) = blocks("docs/llm.md", "toml")
    commands = "\n".join(re.findall(r"^stich (.*)", page, re.MULTILINE))
    acts = {"small": sometimes_wrong(0.5), "large": sometimes_wrong(0.0), "local": REFUSES}
    with ExitStack() as stack:
        for name, act in acts.items():
            stich(f"new-bot llm {name}")
            server = stack.enter_context(endpoint(act))
            retries = 0 if name == "local" else 2
            player = load(tmp_path / name, server.url, input_price=3, retries=retries)
            bot = kit.Bot(player.move, name=name, version="1", games=["doudizhu"])
            url = stack.enter_context(serving(kit.Server(bot, "127.0.0.1", 0)))
            (port,) = re.findall(rf"PORT=(\d+) python {name}/bot.py", page)
            cup = cup.replace(f"http://127.0.0.1:{port}", url)
            commands = commands.replace(f"http://127.0.0.1:{port}", url)
        cup = cup.replace("concurrency = 8", "concurrency = 1").replace("deals = 50", "deals = 1")
        Path("models.toml").write_text(cup)
        outputs = [stich(command) for command in commands.splitlines()[3:]]
    run = json.loads(stich("standings runs/models --info --json"))
    means = {(mean["bot"], mean["name"]): mean["per_decision"] for mean in run["info"]}
    assert (means["large", "first_try"], means["local", "first_try"]) == (1, 0)
    assert 0 < means["small", "first_try"] < 1
    assert means["small", "cost"] == pytest.approx(0.003 * (1 + means["small", "retries"]))
    shares = {row["bot"]: row["fallback"] for row in run["standings"]}
    assert (shares["local"], shares["large"], shares["sensible"]) == (1, 0, 0)
    report, table = Path("models.html").read_text(), " ".join(outputs[-2].split())
    for text in ("100 % of its moves were fallbacks", "first_try", "input_tokens", "cost"):
        assert text in table
        assert text in report
    assert KEY not in report + "".join(outputs)


def stich(command: str) -> str:
    result = CliRunner().invoke(cli, command.split())
    assert result.exit_code == 0, result.output
    return result.stdout
