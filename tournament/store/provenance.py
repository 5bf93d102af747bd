"""Who wrote what is in a store: the proofs of its facts and of its matches, made and checked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from tournament.paths import KEY_FILE, state_folder
from tournament.store import rows
from tournament.store.engine import RESTORE, StoreError
from tournament.store.signing import (
    Proofs,
    SigningKey,
    Verifier,
    digest,
    own_key,
    trusted_keys,
)

PROOFS = "proofs"
"""The key of the row in `meta` that signs the others."""

WRITTEN = "written"
"""The key of the row in `meta` with the number of matches, which has a proof of its own."""

LOGS = "logs"
"""The key of the fact that the store has signed logs, so that one that is missing is missed."""

_UNSIGNED = (
    "Warning: {where} was written by stich 0.2.0, which did not sign results: nothing shows who"
    " wrote them."
)
_UNKNOWN = (
    "Note: {where} is signed by the key {signer}. This machine has no key to compare it with;"
    " compare it with the one that the organiser announced."
)


class Provenance:
    """Who has signed a store, and whether a row is theirs.

    Without a `verifier` nothing is signed. `warning` is for people, "" if there is nothing to say.
    `logs` says whether there must be signed logs, if only empty ones.
    """

    def __init__(
        self,
        where: str,
        run: str,
        signer: str,
        verifier: Verifier | None,
        warning: str = "",
        *,
        logs: bool = False,
    ) -> None:
        self.logs = logs
        self._where = where
        self.run = run
        self.signer = signer
        self._verifier = verifier
        self.warning = warning

    @property
    def signed(self) -> bool:
        """Whether the store is of a version with signatures."""
        return self._verifier is not None

    def new_check(self) -> ProofCheck:
        """For one pass over matches."""
        return ProofCheck(self._where, self.run, self._verifier)

    def check_writer(self, key: SigningKey) -> None:
        """StoreError unless this key has signed what is there."""
        if not self.signed:
            raise StoreError(
                f"{self._where}: was begun by stich 0.2.0, which did not sign results; finish it"
                " with that version, or run the cup again elsewhere."
            )
        if key.public != self.signer:
            raise StoreError(
                f"{self._where}: was begun with another signing key, {self.signer}; to resume it"
                f" here, copy {KEY_FILE} from the state folder of who began it to"
                f" {state_folder()}, or run the cup again elsewhere."
            )

    def check_facts(self, facts: Mapping[str, str]) -> None:
        """StoreError unless the runner wrote these facts, the texts of their rows."""
        if self._verifier is None:
            return
        try:
            proofs = Proofs(*map(bytes.fromhex, json.loads(facts[PROOFS])))
            written = self._verifier.holds(signed_facts(facts), proofs)
        except (KeyError, TypeError, ValueError):
            written = False
        if not written:
            raise changed_facts(self._where)

    def holds(self, data: bytes, proofs: Proofs) -> bool:
        """Whether the signer has signed this data."""
        return self._verifier is not None and self._verifier.holds(data, proofs)

    def check_details(self, row: Any, faults: Sequence[Mapping[str, Any]]) -> None:
        """StoreError unless the runner wrote these moves and faults of a checked row."""
        if self.signed and row.details != digest_of_details(row.data, faults):
            raise not_written(self._where, row.match)


class ProofCheck:
    """Checks the proofs of matches in one pass over them; a store of version 0.2.0 has none."""

    def __init__(self, where: str, run: str, verifier: Verifier | None) -> None:
        self._where = where
        self._run = run
        self._verifier = verifier
        self._seen: set[int] = set()

    def check(self, row: Sequence[Any]) -> None:
        """StoreError unless the runner wrote this row of SUMMARY_COLUMNS and PROOF_COLUMNS."""
        if self._verifier is None:
            return
        sequence, details, mac, signature = row[rows.PROOFS]
        try:
            data = signed_match(self._run, row, sequence, details)
            written = self._verifier.holds(data, Proofs(mac, signature))
        except TypeError:  # there is no proof, or a value has another type
            written = False
        if not written:
            raise not_written(self._where, row[0])
        if sequence in self._seen:
            raise StoreError(f"{self._where}: has match {row[0]} twice; {RESTORE}.")
        self._seen.add(sequence)

    def check_complete(self, written: str | None) -> None:
        """StoreError if matches are missing among those that were read, which must be all.

        `written` is the text of the row WRITTEN at the moment of reading.
        """
        if self._verifier is None:
            return
        count = 0
        if written is not None:
            try:
                count, mac, signature = json.loads(written)
                proofs = Proofs(bytes.fromhex(mac), bytes.fromhex(signature))
                known = self._verifier.holds(signed_count(self._run, count), proofs)
            except (TypeError, ValueError):
                known = False
            if not known:
                raise changed_facts(self._where)
        missing = max(count, max(self._seen, default=-1) + 1) - len(self._seen)
        if missing:
            raise StoreError(
                f"{self._where}: {missing} of the matches that the runner wrote are missing;"
                f" {RESTORE}."
            )


def not_written(where: str, match: str) -> StoreError:
    """The error for a match that another program has written or changed."""
    return StoreError(
        f"{where}: match {match} was not written by the runner of this run, or has been changed"
        f" since; {RESTORE}."
    )


def changed_facts(where: str) -> StoreError:
    """The error for facts of a run that another program has written or changed."""
    return StoreError(
        f"{where}: what it says about the run was not written by its runner, or has been changed"
        f" since; {RESTORE}."
    )


def signed_count(run: str, count: int) -> bytes:
    """What is signed of the number of matches."""
    return rows.dumps([WRITTEN, run, count]).encode("ascii")


def prove_count(run: str, count: int, key: SigningKey) -> str:
    """The text of the row WRITTEN."""
    return rows.dumps([count, *(proof.hex() for proof in key.prove(signed_count(run, count)))])


def signed_match(run: str, row: Sequence[Any], sequence: int, details: bytes) -> bytes:
    """What is signed of a match: the run, its place in the order of writing, the row's
    SUMMARY_COLUMNS, of which `times` is the last, and the digest of the details."""
    values, times = row[: rows.SUMMARY_SIZE - 1], bytes(row[rows.SUMMARY_SIZE - 1])
    return rows.dumps([run, sequence, *values]).encode("ascii") + b"\0" + details + times


def digest_of_details(data: bytes, faults: Sequence[Mapping[str, Any]]) -> bytes:
    """The digest of a match's details and of the rows of its faults, in any order."""
    parts = [data]
    for fault in sorted(faults, key=lambda fault: (fault["seat"], fault["turn"])):
        about = [fault["match"], fault["seat"], fault["turn"], fault["kind"], fault["detail"]]
        parts += [rows.dumps(about).encode("ascii"), fault["data"]]
    return digest(*parts)


def signed_facts(facts: Mapping[str, str]) -> bytes:
    """What is signed of the facts of a run, from the texts of their rows."""
    signed = sorted((key, facts[key]) for key in facts if key not in (PROOFS, WRITTEN))
    return rows.dumps(signed).encode("ascii")


def prove_facts(facts: Mapping[str, str], key: SigningKey) -> str:
    """The text of the row that signs the others."""
    return rows.dumps([proof.hex() for proof in key.prove(signed_facts(facts))])


def unsigned(where: str) -> Provenance:
    """That of a store of version 0.2.0."""
    return Provenance(where, "", "", None, _UNSIGNED.format(where=where))


def read_provenance(where: str, facts: Mapping[str, str]) -> Provenance:
    """Who has signed a store with these facts, the texts of their rows.

    StoreError if it is not a key that the user trusts, or the facts are not theirs.
    """
    own = own_key()
    run, signer = (str(json.loads(facts.get(key, '""'))) for key in ("run", "signer"))
    warning = ""
    if signer not in trusted_keys():
        if own is None:
            warning = _UNKNOWN.format(where=where, signer=signer)
        elif signer and own.public != signer:
            raise StoreError(
                f"{where}: is signed by the key {signer}, which is not yours; if it is"
                f" the one that its organiser announced, run: stich trust {signer}"
            )
    verifier = Verifier(signer, own)
    found = Provenance(where, run, signer, verifier, warning, logs=LOGS in facts)
    found.check_facts(facts)
    return found
