"""The choice of a few items that are evenly spread over a list."""

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def spread(items: Sequence[T], limit: int) -> list[T]:
    """Return up to `limit` items, evenly spread over the list, in the order of the list."""
    count = min(limit, len(items))
    return [items[i * len(items) // count] for i in range(count)]
