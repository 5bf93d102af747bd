"""The digest of a store, and the user's note of it.

The digest covers the matches, chained in the order in which they were written, and the facts,
decisions and void matches. The note is a small file in the user's state folder, beside the signing
key, where no bot in a sandbox can write. So a store that was changed, or replaced by an earlier
copy, is found out before its run has ended. When it has, the digest is signed.
"""

from __future__ import annotations

import hashlib
import itertools
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
from tournament.store.signing import not_kept, state_path
from tournament.store.tables import blocks, decisions, details, faults, matches, meta, voids

DIGEST = "digest"
"""The key of the row in `meta` with the digest, which does not cover itself."""

SIGNATURE = "signature"
"""The key of the row in `meta` with the signature of a finished run, which it does not cover."""

_NOTE_SIZE = 512  # bytes: always the same, so that one call overwrites a note
_CHUNK = 2000


class Digest(NamedTuple):
    """The number of matches, the digest that is chained over them, and that of all the rest."""

    length: int = 0
    matches: str = ""
    rest: str = ""

    def signed(self, run: str) -> bytes:
        """What is signed of a finished run."""
        return rows.dumps(["stich run", run, *self]).encode("ascii")


def chained(before: str, values: Sequence[Any], data: bytes | None, faults: Iterable[Any]) -> str:
    """The digest after one more match: `values` are its SUMMARY_COLUMNS, `data` its details, and
    `faults` the FAULT_COLUMNS of its faults, by seat and turn."""
    *texts, times = values
    parts = [before.encode("ascii"), rows.dumps(texts).encode("ascii"), times, data or b""]
    for *about, evidence in faults:
        parts += [rows.dumps(about).encode("ascii"), evidence]
    whole = hashlib.sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "big"))
        whole.update(part)
    return whole.hexdigest()


def digest_of_rest(connection: Connection) -> str:
    """The digest of facts, decisions and void matches."""
    facts = sa.select(meta.c.key, meta.c.value).where(meta.c.key.not_in([DIGEST, SIGNATURE]))
    found = [
        [list(row) for row in connection.execute(query)]
        for query in (
            facts.order_by(meta.c.key),
            sa.select(decisions.c.id, decisions.c.data).order_by(decisions.c.id),
            sa.select(voids.c.id, voids.c.data).order_by(voids.c.id),
        )
    ]
    found[0].sort()  # databases order texts differently
    return hashlib.sha256(rows.dumps(found).encode("ascii")).hexdigest()


def digest_of(connection: Connection) -> Digest:
    """The digest of all that is in a store, read anew."""
    joined = matches.join(blocks, blocks.c.id == matches.c.block_id)
    query = (
        sa.select(*rows.SUMMARY_COLUMNS, details.c.data)
        .select_from(joined.outerjoin(details, details.c.match == matches.c.match))
        .order_by(matches.c.sequence)
    )
    of_faults = (
        sa.select(*rows.FAULT_COLUMNS)
        .join(matches, matches.c.match == faults.c.match)
        .order_by(matches.c.sequence, faults.c.seat, faults.c.turn)
    )
    options = {"yield_per": _CHUNK}
    grouped = itertools.groupby(
        connection.execute(of_faults, execution_options=options), key=lambda row: row.match
    )
    having, evidence = next(grouped, ("", iter(())))
    count, chain = 0, ""
    for *values, data in connection.execute(query, execution_options=options):
        here = values[0] == having
        chain = chained(chain, values, data, evidence if here else ())
        count += 1
        if here:
            having, evidence = next(grouped, ("", iter(())))
    return Digest(count, chain, digest_of_rest(connection))


def note(run: str, *known: Digest) -> None:
    """Note the digest of a run's store: before and after what is about to be committed."""
    path = state_path(RUNS_FOLDER, run)
    text = json.dumps({"run": run, "digests": known}).ljust(_NOTE_SIZE - 1) + "\n"
    try:
        try:
            descriptor = os.open(path, os.O_WRONLY)
        except FileNotFoundError:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.pwrite(descriptor, text.encode("ascii"), 0)
        finally:
            os.close(descriptor)
    except OSError as error:
        raise not_kept(path, error) from None


def noted(run: str) -> list[Digest]:
    """The digests that the user's note allows the store of a run to have; none without a note."""
    path = state_path(RUNS_FOLDER, run)
    try:
        found = json.loads(path.read_bytes())
        return [Digest(*each) for each in found["digests"]]
    except (FileNotFoundError, NotADirectoryError):
        return []
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise StoreError(f"{path}: cannot be read ({error}); restore it.") from None


def forget(run: str) -> None:
    """Remove the note of a run whose store is not kept."""
    with suppress(OSError):
        state_path(RUNS_FOLDER, run).unlink()
