"""The Jinja environment of the templates, for the report and for the pages."""

import re
from importlib.resources import files
from inspect import isfunction
from typing import Final

from jinja2 import Environment, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from tournament.decisions import exclusion_labels, sentence
from tournament.display import formatting
from tournament.language import N_, catalog
from tournament.text import printable_lines, utc
from web.ui import plots

_LINK: Final = re.compile(r"\[([^]]+)\]\([^)]+\)")
_TIME: Final = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d:\d\d) UTC")
_COURSE_TITLES: Final = {
    "knockout": N_("Bracket"),
    "swiss": N_("Rounds"),
    "halving": N_("Stages"),
    "gauntlet": N_("Challenger"),
}


def with_times(text: str) -> Markup:
    """Return the text as escaped HTML, with each UTC time, such as "2026-05-01 18:30 UTC", in a
    `time` element, which live.js shows in the reader's time zone."""
    html = _TIME.sub(r'<time datetime="\1T\2Z">\g<0></time>', str(escape(text)))
    return Markup(html)  # noqa: S704 - escaped


def markdown(name: str) -> Markup:
    """Return the Markdown file `name` of the folder `templates` as HTML, with each link replaced
    by its text."""
    page = files("web.ui").joinpath("templates", name).read_text("utf-8")
    html = MarkdownIt().enable("table").render(_LINK.sub(r"\1", page))
    return Markup(html)  # noqa: S704 - our own page


def prepare_templates(environment: Environment) -> None:
    """Change `environment` so that it can render the templates of this package, which may use all
    functions of `formatting`. An undefined variable raises UndefinedError."""
    functions = {name: value for name, value in vars(formatting).items() if isfunction(value)}
    environment.add_extension("jinja2.ext.i18n")
    environment.policies["ext.i18n.trimmed"] = True
    environment.install_gettext_callables(  # type: ignore[attr-defined] # of the extension
        lambda text: catalog().gettext(text),
        lambda singular, plural, num: catalog().ngettext(singular, plural, num),
        newstyle=True,
    )
    environment.undefined = StrictUndefined
    environment.trim_blocks = environment.lstrip_blocks = True
    environment.globals.update(
        course_title=_COURSE_TITLES,
        exclusion_labels=exclusion_labels,
        markdown=markdown,
        score_bars=plots.score_bars,
        **functions,
    )
    environment.filters.update(
        printable_lines=printable_lines,
        sentence=sentence,
        utc=utc,
        with_times=with_times,
        **functions,
    )
