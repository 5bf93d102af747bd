"""Completion of words by the shell; a run that cannot be read completes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from click import Context, Parameter
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from tournament.store.reader import StoreReader

_MAX_READ = 20_000
_MAX_OFFERED = 100


def folders(ctx: Context, param: Parameter, incomplete: str) -> list[CompletionItem]:
    """Folders, as the shell itself completes them."""
    return [CompletionItem(incomplete, type="dir")]


def files(ctx: Context, param: Parameter, incomplete: str) -> list[CompletionItem]:
    """Files and folders, as the shell itself completes them."""
    return [CompletionItem(incomplete, type="file")]


def games(ctx: Context, param: Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of games."""
    from games import GAMES

    return _starting(GAMES, incomplete)


def bots(ctx: Context, param: Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of reference bots; files if no name matches."""
    from tournament.config import REFERENCE_BOTS

    return _starting(REFERENCE_BOTS, incomplete) or [CompletionItem(incomplete, type="file")]


def matches(ctx: Context, param: Parameter, incomplete: str) -> list[CompletionItem]:
    """Ids of the run's first matches, each with its bots."""

    def read(store: StoreReader) -> Iterator[tuple[str, str]]:
        for match in islice(store.summaries(), _MAX_READ):
            yield match.match, ", ".join(match.seating)

    return _in_run(ctx, read, incomplete)


def run_bots(ctx: Context, param: Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of the run's bots."""
    return _in_run(ctx, lambda store: ((bot, "") for bot in store.get("bots", ())), incomplete)


def _in_run(
    ctx: Context, read: Callable[[StoreReader], Iterator[tuple[str, str]]], incomplete: str
) -> list[CompletionItem]:
    from tournament.store.reader import StoreReader
    from tournament.store.store import StoreError

    # After an option without its value, click leaves the arguments unparsed in args.
    target = ctx.params.get("target") or next(iter(ctx.args), None)
    if target is None:
        return []
    try:
        with StoreReader.open(target) as store:
            found = (
                CompletionItem(word, help=about or None)
                for word, about in read(store)
                if word.startswith(incomplete)
            )
            return list(islice(found, _MAX_OFFERED))
    except StoreError:
        return []


def _starting(words: Iterable[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(word) for word in words if word.startswith(incomplete)]
