"""An evenly spread choice of a few items."""

from collections.abc import Sequence


def spread(items: Sequence[int], limit: int) -> list[int]:
    """At most `limit` of the items, in their order, evenly spread over all."""
    if len(items) <= limit:
        return list(items)
    return [items[i * len(items) // limit] for i in range(limit)]
