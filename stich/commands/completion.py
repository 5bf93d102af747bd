"""Completion of words by the shell; a run that cannot be read completes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from click import Context, Parameter
from click.shell_completion import CompletionItem

Complete = Callable[[Context, Parameter, str], list[CompletionItem]]

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
    return _in_run(ctx, _matches, incomplete)


def run_bots(ctx: Context, param: Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of the run's bots."""
    return _in_run(ctx, _run_bots, incomplete)


def _matches(target: str) -> Iterator[tuple[str, str]]:
    from tournament.store.reader import StoreReader

    with StoreReader.open(target) as store:
        for match in islice(store.summaries(), _MAX_READ):
            yield match.match, ", ".join(match.seating)


def _run_bots(target: str) -> Iterator[tuple[str, str]]:
    from tournament.store.reader import StoreReader

    with StoreReader.open(target) as store:
        for name in store.get("bots", ()):
            yield name, ""


def _in_run(
    ctx: Context, read: Callable[[str], Iterable[tuple[str, str]]], incomplete: str
) -> list[CompletionItem]:
    from tournament.store.store import StoreError

    # After an option without its value, click leaves the arguments unparsed in args.
    target = ctx.params.get("target") or next(iter(ctx.args), None)
    if target is None:
        return []
    found: list[CompletionItem] = []
    try:
        for word, about in read(target):
            if word.startswith(incomplete):
                found.append(CompletionItem(word, help=about or None))
            if len(found) == _MAX_OFFERED:
                break
    except StoreError:
        return []
    return found


def _starting(words: Iterable[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(word) for word in words if word.startswith(incomplete)]
