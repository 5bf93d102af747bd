"""A page of rules, without what a match does not use."""

import re
from collections.abc import Mapping
from typing import Final

_UNUSED: Final = ("## Golden games", "## Set-up positions", "## Options\n")
_OPTION: Final = re.compile(r"^\| `(\w+)` \|.*\| (.*) \|$", re.MULTILINE)


def lean(page: str, options: Mapping[str, object]) -> str:
    """The page without recorded games, set-up positions and options that are off.

    Its table of options becomes a list of those that have a value, with the value of the match.
    """
    values = [
        f"- `{name}` is {str(options[name]).lower()}: {meaning}"
        for name, meaning in _OPTION.findall(page)
        if options.get(name) not in (False, None)
    ]
    sections = [part for part in re.split(r"(?m)^(?=## )", page) if not part.startswith(_UNUSED)]
    paragraphs = (part for section in sections for part in section.strip().split("\n\n"))
    kept = [part for part in paragraphs if not _is_unused(part, options)]
    told = "\n\n".join([*kept, "## Options of this match", "\n".join(values)])
    return re.sub(r"\s*\*\*\(D\)\*\*", "", told) + "\n"


def _is_unused(paragraph: str, options: Mapping[str, object]) -> bool:
    """Whether a paragraph is of a recorded game, a table of options, or an option that is off."""
    needs = re.match(r"With `(\w+)`", paragraph)
    if needs is not None and not options.get(needs[1], True):
        return True
    return paragraph.startswith(("*Golden game", "| option |"))
