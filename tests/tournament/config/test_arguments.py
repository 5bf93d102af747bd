"""Bots and options as they are written on a command line."""

import pytest

from tournament.config import Bot
from tournament.config.arguments import parse_bot


@pytest.mark.parametrize(
    ("text", "bot"),
    [
        ("greedy", Bot("greedy", command="python -m bots.greedy")),
        ("http://h:9000", Bot("http://h:9000", url="http://h:9000")),
        ("./greedy --fast", Bot("./greedy --fast", command="./greedy --fast")),
    ],
)
def test_a_bot_is_a_reference_bot_a_url_or_a_command(text: str, bot: Bot) -> None:
    assert parse_bot(text) == bot


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (" ", "one of random, greedy"),
        ("http://", "http://127.0.0.1:9000"),
        ("node 'bot", "node .bot: "),
        ("a\0b", "a.x00b: must not have control characters"),
    ],
)
def test_what_is_no_bot_is_refused_with_a_fix(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse_bot(text)
