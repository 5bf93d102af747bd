"""The result of a benchmark and the comparison of two in Markdown, and as a badge."""

from collections.abc import Sequence
from html import escape

import games
from tournament.bench.compare import Comparison, Difference
from tournament.bench.play import Landmark
from tournament.bench.record import Record, Result
from tournament.bench.suite import PUBLIC_SEED, USUAL

_GREEN, _RED, _GREY = "#3a7d1f", "#b3261e", "#5f6368"
_CHARACTER = 7
"""The width of a character of the badge, generously."""


def result_table(record: Record, landmarks: Sequence[Landmark]) -> str:
    """The result of a benchmark, in Markdown."""
    deals = "public deals" if record.seed == PUBLIC_SEED else "other deals"
    below = [
        f"{games.get(problem.game).title}, {problem.players} players: {problem.why}"
        for problem in record.problems
    ]
    if record.results:
        parts = [f"{_game(one)} {_over_par(one)}" for one in record.results]
        below += [
            "Over par: points a deal more than sensible makes in the bot's place, with the 95 %"
            " interval where six blocks or more differ. On the right: other bots over par.",
            f"{record.title} over par in {record.suite}: " + "; ".join(parts),
        ]
    return _markdown(
        f"{record.title}: {record.suite}, {deals}",
        ["Game", "Over par", "Blocks", "Faults", "Fallback", "ms a move", *_names(landmarks)],
        [_result_row(result, landmarks) for result in record.results],
        below,
    )


def _names(landmarks: Sequence[Landmark]) -> list[str]:
    """The names of the bots that were measured."""
    return [*dict.fromkeys(one.bot for one in landmarks)]


def _result_row(result: Result, landmarks: Sequence[Landmark]) -> list[str]:
    faults = result.faults
    marks = {one.bot: one.over_par for one in landmarks if one.key == result.key}
    return [
        _game(result),
        _over_par(result),
        str(result.blocks),
        str(faults.timeout + faults.unreachable + faults.invalid + faults.illegal),
        f"{result.fallback:.0%}" if result.fallback else "–",
        "–" if result.move_ms is None else f"{result.move_ms:.1f}",
        *(f"{marks[name]:+.2f}" if name in marks else "–" for name in _names(landmarks)),
    ]


def _over_par(result: Result) -> str:
    """The points over par with their interval."""
    if result.low is None or result.high is None:
        return f"{result.over_par:+.2f}"
    return f"{result.over_par:+.2f} [{result.low:+.2f}, {result.high:+.2f}]"


def comparison_table(old: Record, new: Record, found: Comparison) -> str:
    """The result of a comparison of two bots, in Markdown."""
    rows = []
    for each in found.differences:
        interval = f"{each.mean:+.2f}"
        if each.arm is not None:
            interval += f" [{each.mean - each.arm:+.2f}, {each.mean + each.arm:+.2f}]"
        rows.append([_game(each), interval, str(each.blocks), _verdict(each)])
    kind = "The same deals, compared block by block."
    if not found.paired:
        kind = "Different deals: the intervals are wider than on the same ones."
    below = [f"{kind} All intervals hold together with 95 % confidence."]
    if found.left_out:
        below.append(f"Only one has played: {'; '.join(found.left_out)}.")
    return _markdown(
        f"{new.title} less {old.title}: {new.suite}",
        ["Game", "Points a deal", "Blocks", "Verdict"],
        rows,
        below,
    )


def _verdict(found: Difference) -> str:
    """The verdict in words, with the smallest difference that this number of blocks can show."""
    if found.verdict in ("better", "worse"):
        return found.verdict
    if found.verdict == "same":
        return "the same in every block"
    if found.arm is None:
        return "unknown: too few blocks"
    return (
        f"no difference beyond ±{found.arm:.2f}; {4 * found.blocks} blocks would see"
        f" ±{found.arm / 2:.2f}"
    )


def badge(record: Record) -> str:
    """An SVG badge: the points over par at one table, or the number of tables at which the bot is
    over par."""
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


def _game(found: Result | Difference) -> str:
    rules = "" if found.rules == USUAL else f", {found.rules}"
    return f"{games.get(found.game).title}, {found.players}{rules}"


def _markdown(
    title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], below: Sequence[str]
) -> str:
    """A title, a table with these headings if it has rows, and sentences below it."""
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
    """The text with Markdown escaped, because a bot chooses its own name."""
    special = "\\`*_{}[]<>#|!&~"
    return "".join(f"\\{letter}" if letter in special else letter for letter in text)
