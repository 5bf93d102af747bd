"""The course of a cup as text: stages, brackets and winners."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from tournament.formats import FORMATS
from tournament.formats.knockout import Knockout
from tournament.language import N_, ngettext
from tournament.language import gettext as _
from tournament.results.course import CourseRound, CourseTable
from tournament.results.standings import Standings

_STAGES: Final = {"final": N_("Final"), "bronze": N_("Bronze"), "semi-final": N_("Semi-final")}
_STAGE_WORDS: Final = {
    "final": N_("in the final"),
    "bronze": N_("for third place"),
    "semi-final": N_("in the semi-final"),
}
_OTHER_STAGE: Final = N_("in its last round")


def decides_places(table: Standings) -> bool:
    """Return whether the course of the cup, such as a bracket, decides places. Return False if the
    format is not known."""
    return table.format in FORMATS and FORMATS[table.format].decides_places


def format_winners(winners: Sequence[str]) -> str:
    """Return the winners with a heading, such as "Winner: ann" or "Winners: ann, bob"."""
    bots = ", ".join(winners)
    return ngettext("Winner: %(bots)s", "Winners: %(bots)s", len(winners), bots=bots)


def stage_title(stage: str, round: int) -> str:
    """Return the translated heading of a round, such as "Round 2", "Semi-final" or "Epoch 3".
    `stage` is as in `CourseTable`. If `stage` is "", the heading has the number of the round."""
    kind, _space, number = stage.partition(" ")
    if kind == "stage" and number.isdecimal():
        return _("Stage %(number)d", number=int(number))
    if not stage or (kind == "round" and number.isdecimal()):
        return _("Round %(round)d", round=int(number or round))
    epoch = number.partition(",")[0]  # of "epoch 3, even 1": the rest means nothing to a reader
    if kind == "epoch" and epoch.isdecimal():
        return _("Epoch %(number)d", number=int(epoch))
    return _(_STAGES[stage]) if stage in _STAGES else stage[:1].upper() + stage[1:]


def bracket_note(round: CourseRound, table: CourseTable) -> str:
    """Return sentences about a table of a knockout, or "" if there is nothing to say. The sentences
    say for which places a bronze table is played, and how ties at the table are broken."""
    notes = []
    if table.stage == "bronze":
        first = 1 + sum(len(other.bots) for other in round.tables if other.stage == "final")
        notes.append(_("For place %(place)d and those after it.", place=first))
    for upper, lower in pairwise(table.bots):
        if upper.score != lower.score:
            continue
        bots = {"one": upper.bot, "two": lower.bot}
        if upper.advances and lower.advances is False:
            text = _(
                "%(one)s plays on before %(two)s, with equal points, by the mean of all rounds so"
                " far, or if that is equal too by a draw.",
                **bots,
            )
            notes.append(text)
        elif table.stage in ("final", "bronze"):
            text = _(
                "%(one)s and %(two)s have equal points: the mean of all rounds orders them, or they"
                " share the place.",
                **bots,
            )
            notes.append(text)
    return " ".join(notes)


@dataclass(frozen=True, slots=True)
class LastTable:
    """A bot's points per deal at its last table in a knockout, and words such as "in the final"."""

    score: float
    stage: str


def last_tables(table: Standings) -> dict[str, LastTable]:
    """Return the latest table of each bot in a knockout, keyed by bot. Return {} for other formats
    and before the first match."""
    if table.format != Knockout.type or table.course is None:
        return {}
    return {
        bot.bot: LastTable(bot.score, _(_STAGE_WORDS.get(at.stage, _OTHER_STAGE)))
        for round in table.course.rounds
        for at in round.tables
        for bot in at.bots
    }
