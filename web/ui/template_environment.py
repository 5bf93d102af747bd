"""What the templates of the report and of the live pages share: filters, titles, settings."""

from __future__ import annotations

from jinja2 import Environment, StrictUndefined

from tournament.decisions import marks, sentence
from tournament.text import plural, printable, printable_lines
from web.ui import formatting, plots

_COURSE_TITLES = {
    "knockout": "Bracket",
    "swiss": "Rounds",
    "halving": "Stages",
    "gauntlet": "Challenger",
}


def signed(value: int) -> str:
    """Points with their sign: +3, -6, 0."""
    return f"{value:+d}" if value else "0"


_FILTERS = (
    formatting.fault_summary,
    formatting.format_difference,
    formatting.format_flag,
    formatting.format_plain,
    formatting.format_points,
    formatting.format_rank,
    formatting.format_score,
    formatting.format_matches,
    formatting.format_number,
    formatting.format_stop,
    formatting.format_times,
    formatting.format_versions,
    formatting.format_winners,
    formatting.rank_words,
    formatting.stage_title,
    formatting.table_notes,
    plural,
    printable,
    printable_lines,
    sentence,
    signed,
)


def prepare_templates(environment: Environment) -> None:
    """Set up an environment for the templates of this folder."""
    environment.undefined = StrictUndefined
    environment.trim_blocks = environment.lstrip_blocks = True
    environment.globals["course_title"] = _COURSE_TITLES
    environment.globals["bracket_note"] = formatting.bracket_note
    environment.globals["marks"] = marks
    environment.globals["score_bars"] = plots.score_bars
    environment.filters.update({each.__name__: each for each in _FILTERS})
