"""The database tables of a store."""

import sqlalchemy as sa

metadata = sa.MetaData()

SIGNATURE = "signature"
"""The key in `meta` of the signature of a finished run. Only this row of `meta` has no entry in the
chain, so its `entry` is 0."""


def _entry() -> sa.Column[int]:
    """Return a column for the number of a row's latest entry in the chain."""
    return sa.Column("entry", sa.BigInteger, nullable=False)


entries = sa.Table(
    "entries",
    metadata,
    sa.Column("entry", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("table", sa.String, nullable=False),
    sa.Column("name", sa.String, nullable=False),
    sa.Column("content", sa.String, nullable=False),
    sa.Column("digest", sa.String, nullable=False),
)
"""The chain: one entry for each written row. See `tournament.store.chain`."""
meta = sa.Table(
    "meta",
    metadata,
    sa.Column("key", sa.String, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
    _entry(),
)
blocks = sa.Table(
    "blocks",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("key", sa.String, nullable=False, unique=True),
    sa.Column("block", sa.BigInteger, nullable=False, index=True),
    sa.Column("round", sa.Integer, nullable=False, index=True),
    sa.Column("seatings", sa.Integer, nullable=False),
    _entry(),
)
matches = sa.Table(
    "matches",
    metadata,
    sa.Column("match", sa.String, primary_key=True),
    sa.Column("block_id", sa.Integer, sa.ForeignKey("blocks.id"), nullable=False),
    sa.Column("number", sa.Integer, nullable=False),
    sa.Column("faulty", sa.Boolean, nullable=False),
    sa.Column("summary", sa.LargeBinary, nullable=False),
    sa.Column("entry", sa.BigInteger, nullable=False, unique=True),
    sa.UniqueConstraint("block_id", "number"),
)


def _list(name: str) -> sa.Table:
    number = sa.Column("id", sa.Integer, primary_key=True, autoincrement=False)
    return sa.Table(name, metadata, number, sa.Column("data", sa.Text, nullable=False), _entry())


voids = _list("voids")
"""Matches that do not count and are played again."""
decisions = _list("decisions")
epochs = _list("epochs")
"""The epochs of a ladder."""
present = sa.Table(
    "present",
    metadata,
    sa.Column("id", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("data", sa.Text, nullable=False),
)
"""At most one row: the current state of the run for its pages. The chain has no entry for it."""
details = sa.Table(
    "details",
    metadata,
    sa.Column("match", sa.String, sa.ForeignKey("matches.match"), primary_key=True),
    sa.Column("data", sa.LargeBinary, nullable=False),
)
"""The whole matches, in a separate table so that statistics do not read them."""
