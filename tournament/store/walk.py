"""Recomputing the chain of a store from the store's rows.

Database errors pass through as SQLAlchemyError (see `store_errors`).
"""

from base64 import b64decode
from collections import Counter
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tournament.records import Revocation
from tournament.store import rows
from tournament.store.chain import ChainBroken, Digest, content_of, following
from tournament.store.engine import stream
from tournament.store.tables import (
    SIGNATURE,
    blocks,
    decisions,
    details,
    entries,
    epochs,
    matches,
    meta,
    voids,
)

_WRITTEN: dict[str, sa.Select[Any]] = {
    "meta": sa.select(*meta.c["entry", "key", "value"]).where(meta.c.key != SIGNATURE),
    "blocks": sa.select(*blocks.c["entry", "key", "block", "round", "seatings"]),
    "matches": sa.select(*matches.c["entry", "match", "number", "faulty"])
    .add_columns(blocks.c.key, matches.c.summary, details.c.data)
    .join(blocks, blocks.c.id == matches.c.block_id)
    .join(details, details.c.match == matches.c.match),
    **{
        table.name: sa.select(*table.c["entry", "id", "data"])
        for table in (voids, decisions, epochs)
    },
}
"""For each table, the query for its rows: the number of the row's entry, then the values that the
entry covers."""


def walk(connection: Connection) -> Iterator[tuple[str, Digest]]:
    """Yield (name of the table that was written to, digest after the entry) for each entry of the
    chain, in the order of writing. The digests are recomputed from the rows.

    A row of `meta` or `blocks` may have been replaced by a later entry, and a match may have become
    void. All other rows must be as they were written.

    Raises:
        ChainBroken: at the first entry that does not agree with the rows, or at the end if a
            replaced row is missing or a row has no entry.
        ValueError, zlib.error: if a void match is damaged.
    """
    written = {
        table: stream(connection, query.order_by(query.selected_columns.entry))
        for table, query in _WRITTEN.items()
    }
    ahead = {table: next(result, None) for table, result in written.items()}
    revoked = _revoked(connection)
    replaced: set[tuple[str, str]] = set()
    last = Digest()
    for number, table, name, content, digest in stream(
        connection, sa.select(entries).order_by(entries.c.entry)
    ):
        here = f"entry {number} ({table}, {name})"
        row = ahead.get(table)
        if number != last.entries + 1:
            raise ChainBroken(f"The store lacks entry {last.entries + 1}.")
        if row is not None and row.entry == number:
            if content_of(row[1:]) != content or str(row[1]) != name:
                raise ChainBroken(f"The store does not hold what {here} wrote: it was changed.")
            ahead[table] = next(written[table], None)
            replaced.discard((table, name))
        elif table in (meta.name, blocks.name):
            replaced.add((table, name))
        elif table == matches.name and revoked[content]:
            revoked[content] -= 1
        else:
            raise ChainBroken(f"The store lacks what {here} wrote.")
        last = following(last, table, name, content)
        if last.digest != digest:
            raise ChainBroken(f"The digest of {here} is not that of what was written until then.")
        yield table, last
    for table, name in sorted(replaced):
        raise ChainBroken(f"The store lacks {name} ({table}), which was written.")
    for table, row in ahead.items():
        if row is not None:
            raise ChainBroken(f"The store has a row in {table} ({row[1]}) without an entry.")


def _revoked(connection: Connection) -> Counter[str]:
    """Return the number of finished matches that became void, by the hash in each match's entry."""
    counts = Counter[str]()
    for row in stream(connection, sa.select(voids)):
        void = rows.to_void(row)
        if isinstance(void, Revocation):
            data = b64decode(void.record)
            counts[content_of(rows.match_values(rows.unpack_match(data), data))] += 1
    return counts
