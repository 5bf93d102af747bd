"""Pages of rules, reduced to the parts that matter for one match."""

import re
from collections.abc import Mapping
from typing import Final

_UNUSED: Final = ("## Golden games", "## Set-up positions", "## Options\n")
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
    if needs is not None and not options.get(needs[1], True):
        return True
    return paragraph.startswith(("*Golden game", "| option |"))
