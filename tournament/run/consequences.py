"""The effects of withdrawing or disqualifying a bot, shown to the organiser for confirmation."""

from collections.abc import Iterator

from tournament.formats.scores import Scores
from tournament.model import StoredRun
from tournament.records import Disqualify, Withdraw
from tournament.store.store import Store
from tournament.text import plural

_NO_RESULTS = "the results of all its tables stop counting"


def consequences(store: Store, bot: str, kind: type[Withdraw] | type[Disqualify]) -> list[str]:
    """Return sentences that say what a decision of this `kind` about a bot would change, and until
    when the organiser could reverse the decision.

    Raises:
        StoreError: if the store has no run or cannot be read.
    """
    run = store.run()
    stands = "its results stand" if kind is Withdraw else _NO_RESULTS
    if kind is Disqualify and run.cup.is_ladder and not run.finished:
        stands = f"{_NO_RESULTS} when the next epoch begins"
    return [
        f"{bot} no longer plays, and {stands}.",
        *_lost(store, run, bot, kind),
        f"`stich undo` takes this back {_undone(run, bot)}.",
    ]


def _lost(
    store: Store, run: StoredRun, bot: str, kind: type[Withdraw] | type[Disqualify]
) -> Iterator[str]:
    played = [match for match in store.summaries() if bot in match.table]
    if kind is Disqualify and played:
        yield f"{plural(len(played), 'finished match', 'finished matches')} will not count."
    if run.finished or bot in run.gone:
        return
    format, players = run.cup.format, run.cup.players
    if not format.skips_tables:
        yield (
            "No table and no round falls away: at its tables the others play on against default"
            " moves in its place."
        )
        return
    present = [name for name in run.cup.names if name not in run.gone]
    plan, scores = run.plan(), Scores(store)
    after = plan.total(run, scores, run.gone | {bot})
    fewer = plan.total(run, scores, run.gone) - after
    tables = format.tables(len(present), players)
    if bot not in format.always():
        tables -= format.tables(len(present) - 1, players) if len(present) > players else 0
    if fewer:
        at = f" at {plural(tables, 'table')}" if tables else ""
        yield f"{plural(fewer, 'match', 'matches')}{at} will not be played."
    if run.cup.is_ladder:
        if len(present) <= players:
            yield "Too few bots are left for a table: the ladder waits until another one joins."
        return
    if after <= store.count():
        yield "This leaves no table: the cup ends now."


def _undone(run: StoredRun, bot: str) -> str:
    """Return until when the exclusion of a bot can be reversed (see `last_exclusion`), in words
    that end a sentence, such as "at any time"."""
    if run.finished:
        return "at any time"
    if run.cup.is_ladder:
        return "until the next epoch begins"
    if not run.cup.format.skips_tables:
        return f"until a match is played in which {bot} is struck out"
    look = "the next look of [stop] or " if run.cup.stop.top is not None else ""
    return f"until {look}the cup has ended"
