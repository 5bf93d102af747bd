"""Results as text, for the terminal, the pages and the report, mostly translated."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from tournament.formats import FORMATS
from tournament.formats.knockout import Knockout
from tournament.formats.ladder import NEW, Ladder
from tournament.language import N_, ngettext
from tournament.language import gettext as _
from tournament.model import Identity, Run
from tournament.records import Join
from tournament.results.course import CourseRound, CourseTable
from tournament.results.integrity import LEAST, LEVEL, Flag, Leniency
from tournament.results.standings import MoveTimes, Standing, Standings
from tournament.text import listed, plural, printable

_ORDINALS: Final = {
    0: N_("%(number)dth"),
    1: N_("%(number)dst"),
    2: N_("%(number)dnd"),
    3: N_("%(number)drd"),
}

_HEADLINES: Final = {  # by the number of bots in first place, and whether the cup is finished
    (0, False): N_("Nobody leads %(cup)s yet"),
    (0, True): N_("%(cup)s is over"),
    (1, False): N_("%(bots)s leads %(cup)s"),
    (1, True): N_("%(bots)s won %(cup)s"),
    (2, False): N_("%(bots)s share the lead of %(cup)s"),
    (2, True): N_("%(bots)s share the first place of %(cup)s"),
}

_STAGES: Final = {"final": N_("Final"), "bronze": N_("Bronze"), "semi-final": N_("Semi-final")}
_STAGE_WORDS: Final = {
    "final": N_("in the final"),
    "bronze": N_("for third place"),
    "semi-final": N_("in the semi-final"),
}
_OTHER_STAGE: Final = N_("in its last round")


def format_rank(line: Standing) -> str:
    """Return a bot's rank or ranks, such as "2" or "2–4", or "–" if the bot is new or has left."""
    first, last = line.rank
    return "–" if line.status else str(first) if first == last else f"{first}–{last}"


def open_places(line: Standing, table: Standings) -> str:
    """Return the places that the evidence leaves open for a bot, as translated text, such as "1st
    or 2nd".

    During a run, return "still open" if all places are open, or if the number of open places is
    more than two and more than a third of all places. After the end, return "" if all places are
    open, unless there is only one bot.
    """
    first, last = map(_ordinal, line.rank)
    size, bots = line.rank[1] - line.rank[0] + 1, len(table.standings)
    if table.finished and size == bots > 1:
        return ""
    if not table.finished and (size > max(2, bots // 3) or size == bots):
        return _("still open")
    if size == 1:
        return first
    text = N_("%(first)s or %(last)s") if size == 2 else N_("%(first)s to %(last)s")
    return _(text, first=first, last=last)


def headline(table: Standings) -> str:
    """Return a translated sentence, without its full stop, that says who leads or has won the cup,
    that nobody leads yet, or that the cup is over."""
    cup = printable(table.name) or _("the cup")
    first = [line.bot for line in table.standings if line.place == 1]
    text = _HEADLINES[min(len(first), 2), table.finished]
    return _(text, bots=listed(first), cup=cup)


def shown_authors(run: Run) -> dict[str, str]:
    """Return the known authors, keyed by bot: the author in the cup, or else the author that the
    bot last stated. For a bot that joined a ladder, only the latter counts, because the author in
    the cup is an identifier there.
    """
    joined = {decision.bot for decision in run.decisions if isinstance(decision, Join)}
    in_cup = {bot: author for bot, author in run.authors.items() if bot not in joined}
    stated = {bot: about[-1].author for bot, about in run.about.items() if about}
    authors = {bot: in_cup.get(bot) or stated.get(bot) for bot in run.authors}
    return {bot: author for bot, author in authors.items() if author}


def table_lines(table: Standings) -> list[Standing]:
    """Return the lines of the standings that the first page shows, new bots last.

    In a ladder, leave out the bots that no longer play or have not played yet. If no line remains,
    return all lines.
    """
    new = [line for line in table.standings if line.status == "new" and line.matches]
    return [line for line in table.standings if not line.status] + new or list(table.standings)


def _ordinal(number: int) -> str:
    ending = 0 if number % 100 in (11, 12, 13) else number % 10
    return _(_ORDINALS.get(ending, _ORDINALS[0]), number=number)


def info_text(info: Mapping[str, str | float], fallback: str | None = None) -> str:
    """Return the information beside a move as text, such as "fallback: too late · depth 12", or ""
    if there is none.

    `fallback` is the reason for a fallback. Numbers in `info` follow their names, and strings stand
    alone. Unprintable characters are escaped.
    """
    words = [] if fallback is None else [_("fallback: %(why)s", why=fallback)]
    words += [
        value if isinstance(value, str) else f"{name} {format_number(value)}"
        for name, value in info.items()
    ]
    return printable(" · ".join(words))


def format_number(value: float) -> str:
    """Return a finite number from a bot's `info` as text, such as "48,000" or "−1.7". Whole numbers
    have up to ten significant digits, other numbers up to four."""
    return _minus(f"{value:,.10g}" if value == int(value) else f"{value:,.4g}")


def format_score(line: Standing) -> str:
    """Return a bot's score, and its interval if known, such as "+0.91 [0.55…1.27]", or "–" if the
    score is not known."""
    if line.score is None or line.low is None or line.high is None:
        return format_points(line.score)
    return _minus(f"{line.score:+z.2f} [{line.low:z.2f}…{line.high:z.2f}]")


def table_notes(table: Standings) -> Iterator[str]:
    """Yield translated sentences that say what the standings claim and how to read them."""
    if any(line.low is not None for line in table.standings):
        yield _("In brackets: 95 %% intervals.")
    if is_adjusted(table):
        yield _(
            "Points a deal are adjusted for the opponents, as far as strength is one number; they"
            " describe, and no rank rests on them."
        )
    if table.duel is not None:
        yield _("Ranks: those that the duel leaves open.")
    else:
        yield _(
            "Ranks: those the evidence allows. We are 95 %% sure of all ranges together, unless a"
            " bot has rare large losses that have not come yet."
        )
        narrows = table.format in FORMATS and FORMATS[table.format].has_final_ranges
        if narrows and not table.finished and table.stop is None:
            yield _("Ranks shown during the run are cautious; they narrow when it ends.")
    if table.format == Ladder.type:
        yield _(
            "Ranks in a ladder are about the tables drawn, half of them near the top, and about"
            " bots that stay as they are."
        )
    changed = [line.bot for line in table.standings if line.blocks_since_change is not None]
    if changed:
        yield _(
            "Changed while playing, so that earlier blocks do not count: %(bots)s.",
            bots=", ".join(changed),
        )
    if any(line.status == "new" for line in table.standings):
        yield _("Bots with fewer than %(num)d blocks are new and have no place yet.", num=NEW)
    if table.groups > 1:
        yield _(
            "The bots form %(num)d groups that never met: scores cannot be compared between"
            " groups.",
            num=table.groups,
        )
        if not decides_places(table):
            yield _("So there are no places.")


def format_points(points: float | None) -> str:
    """Return points per deal as text, such as "+0.91", or "–" for None."""
    return "–" if points is None else _minus(f"{points:+z.2f}")


def signed(value: int) -> str:
    """Return a whole number of points with its sign, such as "+3", "−6" or "0"."""
    return _minus(f"{value:+d}") if value else "0"


def format_scores(names: Sequence[str], scores: Sequence[int]) -> str:
    """Return the points of each bot, such as "ann +2, bob −2". `scores` is parallel to `names`."""
    pairs = zip(names, scores, strict=True)
    return ", ".join(f"{name} {signed(score)}" for name, score in pairs)


def _minus(text: str) -> str:
    """Return `text` with minus signs, which are as wide as plus signs, in place of hyphens."""
    return text.replace("-", "−")


def format_matches(table: Standings, total: int | None = None) -> str:
    """Return the number of matches played, such as "210 of 300 matches (120 count)".

    `total` is the planned number, or None if it is not known or not to be shown. It is shown until
    the cup is finished, but never for a ladder. If some matches do not count because of a
    disqualification, also show how many count.
    """
    matches = ngettext("%(num)d match", "%(num)d matches", table.played)
    if total and not table.finished and table.format != Ladder.type:
        matches = ngettext(
            "%(played)d of %(num)d match",
            "%(played)d of %(num)d matches",
            total,
            played=table.played,
        )
    if table.matches == table.played:
        return matches
    return _("%(matches)s (%(counted)d count)", matches=matches, counted=table.matches)


def format_stop(table: Standings) -> str:
    """Return an English sentence that says when `[stop]` ends the cup, or why the cup ended, or ""
    if the cup has no `[stop]`."""
    stop = table.stop
    if stop is None:
        return ""
    several = stop.top > 1
    top = f"the top {stop.top}" if several else "the best bot"
    are, were = ("are", "were") if several else ("is", "was")
    sure = f"separated from the rest at {100 * stop.confidence:g} %"
    if stop.blocks is not None:
        named = f": {', '.join(stop.settled)}" if stop.settled else ""
        return f"Ended after {plural(stop.blocks, 'block')}, because {top} {were} {sure}{named}."
    if table.finished:
        return f"Ended because all deals were played; {top} {were} not {sure}."
    return f"Ends as soon as {top} {are} {sure}, or when all deals are played."


def format_versions(stated: Sequence[Identity]) -> str:
    """Return the names and versions in `stated`, which is oldest first, such as "greedy 0.1, then
    greedy 0.2", or "–" if there are none."""
    words = [" ".join(filter(None, (about.name, about.version))) for about in stated]
    return _(", then ").join(filter(None, words)) or "–"


def has_plain(table: Standings) -> bool:
    """Return whether to show plain means too: True if a score is adjusted, except in a ladder."""
    # In a ladder the mean misleads, because half of the tables are near the top.
    return table.format != Ladder.type and is_adjusted(table)


def is_adjusted(table: Standings) -> bool:
    """Return whether the score of any bot is adjusted for the bot's opponents."""
    return any(line.plain != line.score for line in table.standings)


def format_difference(pair: Leniency) -> str:
    """Return a leniency in percentage points, such as "+12.5", or "–" if chances were too few."""
    return "–" if pair.difference is None else _minus(f"{100 * pair.difference:+z.1f}")


def format_flag(flag: Flag) -> str:
    """Return a flag of `stich integrity` as English sentences."""
    first, second = flag.bots
    both = " They have one author." if flag.same_author else ""
    question = " This is a question, not a verdict."
    return f"{first} and {second} seem to go easy on each other.{both}{question}"


FLAG_RULE: Final = (
    "Two bots are flagged if each beats the other's plays at least"
    f" {100 * LEAST:.0f} percentage points less often than the plays of others,"
    f" with p at most {LEVEL}."
)
"""The rule by which `stich integrity` flags two bots."""


def fallback_note(line: Standing) -> str:
    """Return the share of a bot's moves that an adapter or a kit made, such as "83 % of its moves
    were fallbacks", or "" if the share is 0 or not known."""
    if not line.fallback:
        return ""
    if line.fallback < 0.01:
        return _("less than 1 %% of its moves were fallbacks")
    return _("%(share).0f %% of its moves were fallbacks", share=100 * line.fallback)


def fault_count(line: Standing) -> str:
    """Return a bot's number of faults, such as "15 (out 2)" if struck out twice, or "–" for 0."""
    faults = sum(line.faults.values())
    if not faults:
        return "–"
    return f"{faults} (out {line.struck_out})" if line.struck_out else str(faults)


def fault_summary(line: Standing) -> str:
    """Return a bot's faults by kind and how often it was struck out, such as "3 timeout, out 2×".
    Return "–" if there were no faults and it was never struck out."""
    parts = [f"{count} {kind}" for kind, count in line.faults.items() if count]
    if line.struck_out:
        parts.append(_("out %(count)d×", count=line.struck_out))
    return ", ".join(parts) or "–"


def format_times(times: MoveTimes) -> str:
    """Return the median and the 99th percentile in milliseconds, such as "3.1/9.8", or "–" if no
    request was answered."""
    if times.median is None or times.p99 is None:
        return "–"
    return f"{times.median:.1f}/{times.p99:.1f}"


def decides_places(table: Standings) -> bool:
    """Return whether the course of the cup, such as a bracket, decides places. Return False if the
    format is not known."""
    return table.format in FORMATS and FORMATS[table.format].decides_places


def format_winners(winners: Sequence[str]) -> str:
    """Return the winners with a translated heading: "Winner: ann" or "Winners: ann, bob"."""
    bots = ", ".join(winners)
    return ngettext("Winner: %(bots)s", "Winners: %(bots)s", len(winners), bots=bots)


def stage_title(stage: str, round: int) -> str:
    """Return the translated heading of a round, such as "Round 2", "Semi-final" or "Epoch 3".

    `stage` is the stage of a block, such as "round 2", "semi-final" or "epoch 3, even 1". If it is
    "", the heading has the number `round`. An unknown stage is shown escaped, with a first capital.
    """
    kind, _space, number = stage[:40].partition(" ")  # Python reads no number of 5,000 digits
    if kind == "stage" and number.isdecimal():
        return _("Stage %(number)d", number=int(number))
    if not stage or (kind == "round" and number.isdecimal()):
        return _("Round %(round)d", round=int(number or round))
    epoch = number.partition(",")[0]  # of "epoch 3, even 1": the rest means nothing to a reader
    if kind == "epoch" and epoch.isdecimal():
        return _("Epoch %(number)d", number=int(epoch))
    return _(_STAGES[stage]) if stage in _STAGES else printable(stage[:1].upper() + stage[1:])


def bracket_note(round: CourseRound, table: CourseTable) -> str:
    """Return translated sentences about a table of a knockout, or "" if there is nothing to say.
    The sentences say for which places a bronze table is played, and how ties at the table are
    broken. `round` is the round of the table."""
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
