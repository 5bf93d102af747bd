"""The key with which a runner signs what it writes, so that nobody else can add to a store.

The key belongs to the user and is not in the store: it is in the state folder, readable by its
user alone, and sandboxed bots do not see it. Every signed row has two proofs. The signature
(Ed25519) can be checked on any machine, with the public key. The MAC (HMAC-SHA256) can be checked
only with the private key, but in 2 µs instead of 70: the standings of 100,000 matches would take
7 s longer without it.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import stat
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from tournament.paths import KEY_FILE, TRUSTED_FILE, state_folder
from tournament.store.engine import StoreError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

_SIZE = 32
_FIX = "set XDG_STATE_HOME to a folder in which you can write"


class Proofs(NamedTuple):
    """What shows that a runner has written some data."""

    mac: bytes
    signature: bytes


class SigningKey:
    """A user's private key; `secret` has 32 bytes."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    @cached_property
    def _private(self) -> Ed25519PrivateKey:
        # Imported here: most commands never sign.
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(self._secret)

    @cached_property
    def _begun_mac(self) -> hmac.HMAC:
        return hmac.new(bytes.fromhex(self.derive("mac")), digestmod="sha256")

    @cached_property
    def public(self) -> str:
        """The public key as 64 hexadecimal digits."""
        return self._private.public_key().public_bytes_raw().hex()

    def derive(self, *about: str) -> str:
        """Another secret, the same whenever it is derived: 64 hexadecimal digits."""
        return hmac.digest(self._secret, json.dumps(about).encode(), "sha256").hex()

    def mac(self, data: bytes) -> bytes:
        """The MAC of some data, 32 bytes."""
        mac = self._begun_mac.copy()  # half of hmac.digest is work on the key
        mac.update(data)
        return mac.digest()

    def prove(self, data: bytes) -> Proofs:
        """Both proofs of some data."""
        return Proofs(self.mac(data), self._private.sign(data))


class Verifier:
    """Checks what the holder of a public key has signed; quickly if that is `own`."""

    def __init__(self, public: str, own: SigningKey | None) -> None:
        self._public = public
        self._own = own if own is not None and own.public == public else None

    @cached_property
    def _key(self) -> Ed25519PublicKey:
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

        return Ed25519PublicKey.from_public_bytes(bytes.fromhex(self._public))

    def holds(self, data: bytes, proofs: Proofs) -> bool:
        """Whether the holder of the key has signed this data."""
        if self._own is not None:
            return hmac.compare_digest(self._own.mac(data), proofs.mac)
        from cryptography.exceptions import InvalidSignature

        try:
            self._key.verify(proofs.signature, data)
        except (InvalidSignature, ValueError):
            return False
        return True


def digest(*parts: bytes) -> bytes:
    """The SHA-256 of some parts, each with its length."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(len(part).to_bytes(8, "big") + part)
    return whole.digest()


def _path(name: str) -> Path:
    """A file in the state folder; StoreError if the user has no home."""
    try:
        return state_folder() / name
    except RuntimeError:
        raise StoreError(f"There is no home folder for the signing key; {_FIX}.") from None


def own_key() -> SigningKey | None:
    """The user's key, None if there is none; StoreError if it cannot be used."""
    path = _path(KEY_FILE)
    try:
        with path.open("rb") as file:
            mode = os.fstat(file.fileno()).st_mode
            text = file.read(1000)
        secret = bytes.fromhex(text.decode("ascii"))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StoreError(f"{path}: the signing key cannot be read: {error.strerror}.") from None
    except ValueError:
        secret = b""
    if len(secret) != _SIZE:
        raise StoreError(
            f"{path}: this is not a signing key; restore it, or move it away, and a new one is made"
            " (which cannot resume earlier runs)."
        )
    if stat.S_IMODE(mode) & 0o077:
        raise StoreError(f"{path}: others can read the signing key; `chmod 600` it.")
    return SigningKey(secret)


def make_key() -> SigningKey:
    """The user's key, which is made if there is none; StoreError if it cannot be written."""
    found = own_key()
    if found is not None:
        return found
    folder = _path(KEY_FILE).parent
    fresh = folder / f".{KEY_FILE}-{secrets.token_hex(8)}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with open(descriptor, "w", encoding="ascii") as file:
                file.write(secrets.token_bytes(_SIZE).hex() + "\n")
                file.flush()
                os.fsync(descriptor)
            os.link(fresh, folder / KEY_FILE)  # atomic, and the first of two runners wins
        finally:
            fresh.unlink()
    except FileExistsError:
        pass
    except OSError as error:
        raise StoreError(
            f"{folder}: the key that signs results cannot be kept there: {error.strerror}; {_FIX}."
        ) from None
    made = own_key()
    if made is None:
        raise StoreError(f"{folder}: the signing key has gone; {_FIX}.")
    return made


def trusted_keys() -> set[str]:
    """The public keys of others that the user trusts."""
    path = _path(TRUSTED_FILE)
    try:
        return set(path.read_text("ascii").split())
    except (FileNotFoundError, NotADirectoryError):
        return set()
    except (OSError, ValueError) as error:
        raise StoreError(f"{path}: cannot be read: {error}.") from None


def trust(public: str) -> None:
    """Trust a public key from now on; StoreError if it cannot be noted."""
    path = _path(TRUSTED_FILE)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with path.open("a", encoding="ascii") as file:
            file.write(public + "\n")
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror}; {_FIX}.") from None
