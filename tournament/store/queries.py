"""The queries of a store's matches."""

from typing import Any

import sqlalchemy as sa

from tournament.store.tables import blocks, details, matches


def summary_query(*extra: sa.ColumnElement[Any]) -> sa.Select[Any]:
    """Return the query for the rows that `rows.to_summary` converts, in the order of the schedule.

    `extra` are additional columns of the rows.
    """
    return in_order(
        sa.select(matches.c.summary, blocks.c.block, blocks.c.seatings, *extra).join(
            blocks, blocks.c.id == matches.c.block_id
        )
    )


def in_order(query: sa.Select[Any]) -> sa.Select[Any]:
    """Return the query with rows in the order of the schedule."""
    return query.order_by(blocks.c.block, matches.c.number)


def match_query() -> sa.Select[Any]:
    """Return the query for the rows that `rows.to_record` converts, in no particular order."""
    finished = matches.alias()
    played = sa.select(sa.func.count()).where(finished.c.block_id == blocks.c.id).scalar_subquery()
    return (
        sa.select(
            matches.c.match,
            blocks.c.block,
            details.c.data,
            (played == blocks.c.seatings).label("complete"),
        )
        .join(matches, matches.c.block_id == blocks.c.id)
        .outerjoin(details, details.c.match == matches.c.match)
    )


# Made once. Ordered by id, because SQLite would read all matches for any other order.
BY_ID = (
    match_query()
    .where(matches.c.match >= sa.bindparam("begin"), matches.c.match < sa.bindparam("end"))
    .order_by(matches.c.match)
    .limit(2)
)
