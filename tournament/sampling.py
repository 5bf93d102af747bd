"""An evenly spread choice of a few items."""

from collections.abc import Sequence


def spread(items: Sequence[int], limit: int) -> list[int]:
    """Up to `limit` of the items, evenly spread over the list, in their order."""
    if len(items) <= limit:
        return list(items)
    return [items[i * len(items) // limit] for i in range(limit)]
