"""The choice of a few items that are evenly spread over a list."""

from collections.abc import Sequence


def spread(items: Sequence[int], limit: int) -> list[int]:
    """Return up to `limit` items, evenly spread over the list, in the order of the list."""
    if len(items) <= limit:
        return list(items)
    return [items[i * len(items) // limit] for i in range(limit)]
