"""What a shell may complete; a look into a run that fails completes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from click import Context, Parameter
from click.shell_completion import CompletionItem

Complete = Callable[[Context, Parameter, str], list[CompletionItem]]

_LOOKED_AT = 20_000
_OFFERED = 100


def folders(ctx: Context, param: Parameter, incomplete: str) -> list[CompletionItem]:
    """Folders, as the shell itself completes them."""
    return [CompletionItem(incomplete, type="dir")]


def games(ctx: Context, param: Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of games."""
    from games import GAMES

    return _begin(GAMES, incomplete)


def bots(ctx: Context, param: Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of reference bots; files where none begins so."""
    from tournament.config import HOUSE_BOTS

    return _begin(HOUSE_BOTS, incomplete) or [CompletionItem(incomplete, type="file")]


def matches(ctx: Context, param: Parameter, incomplete: str) -> list[CompletionItem]:
    """Ids of the run's matches, each with who played; of long runs the first ones."""
    return _in_run(ctx, _matches, incomplete)


def seated(ctx: Context, param: Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of the run's bots."""
    return _in_run(ctx, _seated, incomplete)


def _matches(target: str) -> Iterator[tuple[str, str]]:
    from tournament.store.store import Store

    with Store.open(target) as store:
        for match in islice(store.summaries(), _LOOKED_AT):
            yield match.match, ", ".join(match.seating)


def _seated(target: str) -> Iterator[tuple[str, str]]:
    from tournament.store.store import Store

    with Store.open(target) as store:
        for name in store.get("bots", ()):
            yield name, ""


def _in_run(
    ctx: Context, read: Callable[[str], Iterable[tuple[str, str]]], incomplete: str
) -> list[CompletionItem]:
    from tournament.store.store import StoreError

    # Behind an option without its value click has parsed no arguments, and left them in args.
    target = ctx.params.get("target") or next(iter(ctx.args), None)
    if target is None:
        return []
    found: list[CompletionItem] = []
    try:
        for word, about in read(target):
            if word.startswith(incomplete):
                found.append(CompletionItem(word, help=about or None))
            if len(found) == _OFFERED:
                break
    except StoreError:
        return []
    return found


def _begin(words: Iterable[str], incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(word) for word in words if word.startswith(incomplete)]
