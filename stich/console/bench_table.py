"""The result of `stich bench`, and the comparison of two results, as Markdown, and the badge."""

from collections.abc import Sequence
from html import escape

import games
from tournament.bench.play import Landmark
from tournament.bench.record import FEWEST_BLOCKS, Comparison, Difference, Record, Result
from tournament.bench.suite import PUBLIC_SEED, USUAL

_GREEN, _RED, _GREY = "#3a7d1f", "#b3261e", "#5f6368"
_CHARACTER = 7
"""A generous width of a character of the badge, in pixels."""


def result_table(record: Record, landmarks: Sequence[Landmark]) -> str:
    """Return the result of `stich bench` as Markdown: a heading, a table with a column for each bot
    in `landmarks`, and notes, which name the problems in the record. Without results, only the
    heading and the problems are returned."""
    deals = "public deals" if record.seed == PUBLIC_SEED else "other deals"
    below = [
        f"{games.get(problem.game).title}, {problem.players} players: {problem.why}"
        for problem in record.problems
    ]
    if record.results:
        parts = [f"{_game(result)} {_over_par(result)}" for result in record.results]
        below += [
            "Over par: points per deal more than sensible makes in the bot's place, with the 95 %"
            " interval where six blocks or more differ. On the right: other bots over par.",
            f"{record.title} over par in {record.suite}: " + "; ".join(parts),
        ]
    others = list(dict.fromkeys(landmark.bot for landmark in landmarks))
    return _markdown(
        f"{record.title}: {record.suite}, {deals}",
        ["Game", "Over par", "Blocks", "Faults", "Fallback", "ms a move", *others],
        [_result_row(result, landmarks, others) for result in record.results],
        below,
    )


def _result_row(result: Result, landmarks: Sequence[Landmark], others: Sequence[str]) -> list[str]:
    faults = result.faults
    marks = {
        landmark.bot: landmark.over_par for landmark in landmarks if landmark.key == result.key
    }
    return [
        _game(result),
        _over_par(result),
        str(result.blocks),
        str(faults.timeout + faults.unreachable + faults.invalid + faults.illegal),
        f"{result.fallback:.0%}" if result.fallback else "–",
        "–" if result.move_ms is None else f"{result.move_ms:.1f}",
        *(f"{marks[name]:+.2f}" if name in marks else "–" for name in others),
    ]


def _over_par(result: Result) -> str:
    if result.low is None or result.high is None:
        return f"{result.over_par:+.2f}"
    return f"{result.over_par:+.2f} [{result.low:+.2f}, {result.high:+.2f}]"


def comparison_table(old: Record, new: Record, comparison: Comparison) -> str:
    """Return the comparison of two results as a Markdown table with notes. Differences are the new
    bot's points per deal minus the old bot's."""
    rows = []
    for difference in comparison.differences:
        mean, arm = difference.mean, difference.arm
        interval = f"{mean:+.2f}"
        if arm is not None:
            interval += f" [{mean - arm:+.2f}, {mean + arm:+.2f}]"
        rows.append([_game(difference), interval, str(difference.blocks), _verdict(difference)])
    kind = "The same deals, compared block by block."
    if not comparison.paired:
        kind = "Different deals: the intervals are wider than with the same deals."
    below = [f"{kind} All intervals hold together with 95 % confidence."]
    if comparison.left_out:
        below.append(f"Only one of the bots has played: {'; '.join(comparison.left_out)}.")
    return _markdown(
        f"{new.title} minus {old.title}: {new.suite}",
        ["Game", "Points a deal", "Blocks", "Verdict"],
        rows,
        below,
    )


def _verdict(difference: Difference) -> str:
    if difference.verdict in ("better", "worse"):
        return difference.verdict
    if difference.verdict == "same":
        few = difference.blocks < FEWEST_BLOCKS
        return "the same in every block" + " so far; more blocks are needed" * few
    if difference.arm is None:
        return "unknown: too few blocks"
    arm, blocks = difference.arm, difference.blocks
    return f"no difference beyond ±{arm:.2f}; {4 * blocks} blocks would show ±{arm / 2:.2f}"


def badge(record: Record) -> str:
    """Return the badge of a result, as SVG. If the bot has a result at a single table, the badge
    shows the points over par. If not, it shows at how many tables the interval is wholly over par.
    If there are problems, it says so and is red. Otherwise it is green if more intervals are wholly
    over par than wholly below par, red if fewer are, and grey if the numbers are equal."""
    results = record.results
    above = sum(result.low is not None and result.low > 0 for result in results)
    below = sum(result.high is not None and result.high < 0 for result in results)
    if len(results) == 1:
        message = f"{_game(results[0])} {results[0].over_par:+.2f}"
    else:
        message = f"over par at {above} of {len(results)} tables"
    colour = _GREEN if above > below else _RED if below > above else _GREY
    if record.problems:
        message, colour = f"{message}, with problems", _RED
    label = f"stich {record.suite}"
    left, right = (_CHARACTER * len(text) + 10 for text in (label, message))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="20" role="img">'
        f"<title>{escape(label)}: {escape(message)}</title>"
        f'<rect width="{left}" height="20" fill="#333"/>'
        f'<rect x="{left}" width="{right}" height="20" fill="{colour}"/>'
        '<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11"'
        ' text-anchor="middle">'
        f'<text x="{left / 2}" y="14">{escape(label)}</text>'
        f'<text x="{left + right / 2}" y="14">{escape(message)}</text></g></svg>\n'
    )


def _game(table: Result | Difference) -> str:
    rules = "" if table.rules == USUAL else f", {table.rules}"
    return f"{games.get(table.game).title}, {table.players}{rules}"


def _markdown(
    title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], below: Sequence[str]
) -> str:
    """Return Markdown: a heading, a table unless `rows` is empty, and a paragraph for each item of
    `below`. All text except `heads` is escaped."""
    lines = [f"### {_plain(title)}", ""]
    if rows:
        lines += [_row(heads), _row(["---"] + ["---:"] * (len(heads) - 1))]
        lines += [_row([_plain(cell) for cell in row]) for row in rows]
    for sentence in below:
        lines += ["", _plain(sentence)]
    return "\n".join(lines)


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _plain(text: str) -> str:
    """Return text with Markdown's special characters escaped. A bot's name may contain them."""
    special = "\\`*_{}[]<>#|!&~"
    return "".join(f"\\{letter}" if letter in special else letter for letter in text)
