"""The digest of a store, and the user's note of it.

The digest covers the matches, chained in the order in which they were written, and all the rest.
The note is a small file in the user's state folder, beside the signing key. So a store that was
changed, or replaced by an earlier copy, is found out before its run has ended. When it has, the
digest is signed.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.engine import Connection

from tournament.paths import RUNS_FOLDER
from tournament.store import rows
from tournament.store.engine import StoreError
from tournament.store.signing import read_state, state_path, writing
from tournament.store.tables import blocks, decisions, details, epochs, matches, meta, voids

DIGEST = "digest"
"""The key of the row in `meta` with the digest, which does not cover itself."""

SIGNATURE = "signature"
"""The key of the row in `meta` with the signature of a finished run, which it does not cover."""

_NOTE_SIZE = 512  # bytes: always the same, so that one call overwrites a note
MATCHES = (
    sa.select(matches.c.match, matches.c.number, matches.c.faulty)
    .add_columns(*(blocks.c[name] for name in ("key", "block", "round", "seatings")))
    .add_columns(matches.c.summary, details.c.data)
    .join(blocks, blocks.c.id == matches.c.block_id)
    .join(details, details.c.match == matches.c.match)
)


class Digest(NamedTuple):
    """The number of matches, the digest that is chained over them, and that of all the rest."""

    length: int = 0
    matches: str = ""
    rest: str = ""

    def signed(self, run: str) -> bytes:
        """What is signed of a finished run."""
        return rows.dumps(["stich run", run, *self]).encode("ascii")


def digest_of_rest(connection: Connection) -> str:
    """Return the digest of `meta`, decisions, void matches and epochs."""
    queries = (
        sa.select(meta.c.key, meta.c.value).where(meta.c.key.not_in([DIGEST, SIGNATURE])),
        sa.select(decisions.c.id, decisions.c.data),
        sa.select(voids.c.id, voids.c.data),
        sa.select(epochs.c.id, epochs.c.data),
    )
    found = [sorted(map(list, connection.execute(query))) for query in queries]
    return hashlib.sha256(rows.dumps(found).encode("ascii")).hexdigest()


def digest_of(connection: Connection) -> Digest:
    """The digest of all that is in a store, read anew."""
    query = MATCHES.order_by(matches.c.sequence)
    found = connection.execute(query, execution_options={"yield_per": 2000})
    return chained(Digest(rest=digest_of_rest(connection)), found)


def chained(before: Digest, found: Iterable[Sequence[Any]]) -> Digest:
    """The digest after further matches, each with the values of `rows.insert_match`."""
    length, chain = before.length, before.matches
    for *known, summary, data in found:
        head = rows.dumps([chain, *known, len(summary), len(data)]).encode("ascii")
        chain = hashlib.sha256(head + summary + data).hexdigest()
        length += 1
    return before._replace(length=length, matches=chain)


def note(run: str, *known: Digest) -> None:
    """Note the digest of a run's store: before and after what is about to be committed."""
    path = state_path(RUNS_FOLDER, run)
    text = json.dumps({"run": run, "digests": known}).ljust(_NOTE_SIZE - 1) + "\n"
    with writing(path):
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.pwrite(descriptor, text.encode("ascii"), 0)
        finally:
            os.close(descriptor)


def noted(run: str) -> list[Digest]:
    """The digests that the user's note allows the store of a run to have; none without a note."""
    path = state_path(RUNS_FOLDER, run)
    data = read_state(path)
    try:
        return [] if data is None else [Digest(*each) for each in json.loads(data)["digests"]]
    except (ValueError, LookupError, TypeError) as error:
        raise StoreError(f"{path}: cannot be read ({error}); restore it.") from None


def forget(run: str) -> None:
    """Remove the note of a run whose store is not kept."""
    with suppress(OSError):
        state_path(RUNS_FOLDER, run).unlink()
