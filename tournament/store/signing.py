"""The user's key for signing finished runs, and the public keys that the user trusts."""

from __future__ import annotations

import hmac
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING

from tournament.paths import KEY_FILE, state_folder
from tournament.store.engine import StoreError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_TRUSTED_FILE = "trusted-keys"  # in the state folder
_SIZE = 32
_FIX = "set XDG_STATE_HOME to a folder in which you can write"


class SigningKey:
    """A user's private key (Ed25519), made from 32 secret bytes."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret

    @cached_property
    def _private(self) -> Ed25519PrivateKey:
        # Imported here: most commands never sign.
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

        return Ed25519PrivateKey.from_private_bytes(self._secret)

    @cached_property
    def public(self) -> str:
        """The public key as 64 hexadecimal digits."""
        return self._private.public_key().public_bytes_raw().hex()

    def derive(self, *about: str) -> str:
        """Return a secret of 64 hexadecimal digits, derived from the key and the words `about`."""
        return hmac.digest(self._secret, json.dumps(about).encode(), "sha256").hex()

    def sign(self, data: bytes) -> str:
        """Return the signature of `data` as hexadecimal digits."""
        return self._private.sign(data).hex()


def is_signed(data: bytes, signature: str, public: str) -> bool:
    """Return whether `signature` is a signature of `data` under the public key `public`. Both are
    in hexadecimal digits. If either is malformed, return False."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        key.verify(bytes.fromhex(signature), data)
    except (InvalidSignature, ValueError):
        return False
    return True


def state_path(*names: str) -> Path:
    """Return the path of a file in the user's state folder. The names are the parts of the path.

    Raises:
        StoreError: if the user has no home folder.
    """
    try:
        return state_folder().joinpath(*names)
    except RuntimeError:
        raise StoreError(f"There is no home folder for the signing key; {_FIX}.") from None


def read_state(path: Path) -> bytes | None:
    """Return the contents of a file in the state folder, or None if there is no such file.

    Raises:
        StoreError: if the file cannot be read.
    """
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise StoreError(f"{path}: cannot be read: {error.strerror}.") from None


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Create the folder of a file, and raise OSErrors of the code in this context as StoreError.

    Raises:
        StoreError: if the folder cannot be created, or the code within raises an OSError.
    """
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        yield
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror}; {_FIX}.") from None


def make_key() -> SigningKey:
    """Return the user's signing key. Create the key if there is none.

    Raises:
        StoreError: if the key cannot be used or others can read it, or the user has no home folder.
    """
    path = state_path(KEY_FILE)
    if read_state(path) is None:
        with writing(path), NamedTemporaryFile("w", encoding="ascii", dir=path.parent) as file:
            file.write(secrets.token_bytes(_SIZE).hex() + "\n")  # its mode is 0600
            file.flush()
            os.fsync(file.fileno())
            with suppress(FileExistsError):  # if two processes create a key, the first one wins
                os.link(file.name, path)
    try:
        secret = bytes.fromhex((read_state(path) or b"").decode("ascii"))
    except ValueError:
        secret = b""
    if len(secret) != _SIZE:
        raise StoreError(
            f"{path}: this is not a signing key; restore it, or move it away, and a new one is made"
            " (which cannot resume earlier runs)."
        )
    if path.stat().st_mode & 0o077:
        raise StoreError(f"{path}: others can read the signing key; `chmod 600` it.")
    return SigningKey(secret)


def trusted_keys() -> set[str]:
    """Return the public keys that the user has chosen to trust. The user's own key is not added.

    Raises:
        StoreError: if the list of trusted keys cannot be read, or the user has no home folder.
    """
    text = read_state(state_path(_TRUSTED_FILE)) or b""
    return set(text.decode("ascii", "replace").split())


def is_trusted(public: str) -> bool:
    """Return whether a public key is the user's own key or one that the user has chosen to trust.

    Raises:
        StoreError: if the user's key or the list of trusted keys cannot be used, or the user has no
            home folder.
    """
    has_key = read_state(state_path(KEY_FILE)) is not None
    return public in trusted_keys() or (has_key and make_key().public == public)


def trust(public: str) -> None:
    """Add a public key to the list of keys that the user trusts. The key is not checked.

    Raises:
        StoreError: if the list of trusted keys cannot be written, or the user has no home folder.
    """
    path = state_path(_TRUSTED_FILE)
    with writing(path), path.open("a", encoding="ascii") as file:
        file.write(public + "\n")
