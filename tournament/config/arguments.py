"""Bots as users name them on a command line."""

from tournament.config.cup import Bot, reference_command
from tournament.formats.format import REFERENCE_BOTS
from tournament.settings.keys import command, url
from tournament.settings.locations import short

DEFAULT_BOTS = ("sensible", "greedy")
"""The opponents if the user names none."""


def is_url(text: str) -> bool:
    """Return whether a string that names a bot begins with http:// or https://."""
    return text.startswith(("http://", "https://"))


def parse_bot(text: str) -> Bot:
    """Return the bot that `text` names by a reference bot's name, a URL or a command. The bot's
    name is `text`.

    Raises:
        ValueError: if `text` is blank, or not a valid URL or command. The message has the fix.
    """
    if not text.strip():
        raise ValueError("A bot is a URL, a command, or one of " + ", ".join(REFERENCE_BOTS) + ".")
    if text in REFERENCE_BOTS:
        return Bot(text, command=reference_command(text))
    problem = url(text) if is_url(text) else command(text)
    if problem:
        raise ValueError(f"{short(text)}: {problem}")
    return Bot(text, url=text) if is_url(text) else Bot(text, command=text)
