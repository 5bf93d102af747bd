"""The tokens of connecting bots. A file of the run holds their hashes, but never the tokens."""

import fcntl
import hashlib
import os
import secrets
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import msgspec
from msgspec import structs

from tournament.errors import StichError
from tournament.records import prepare
from tournament.store.engine import StoreError

FILE: Final = "invitations.json"
_ASK: Final = "Ask the organiser of the cup for a new one."


class TokenRefused(StichError):
    """A token is not valid, or a program may not connect with it. The message says why."""


class _Invitation(msgspec.Struct, frozen=True):
    bot: str
    sha256: str
    made: str  # like the other times, in ISO 8601
    expires: str
    revoked: str | None = None


prepare(_Invitation)


class Invitations:
    """The invitations of a run, in a file of the run's `folder` that is read again whenever it has
    changed. All members but `arena_url` raise StoreError if the file exists but cannot be read."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._address = folder / "arena-url"
        self._stamp: tuple[int, int] | None = None
        self._by_hash: dict[str, _Invitation] = {}

    def invite(self, bot: str, days: int) -> str:
        """Create a token for a bot, store its hash, and return the token. The token expires after
        `days` days. The bot's other tokens are revoked.

        Raises:
            OSError or StoreError: if the token cannot be stored.
        """
        token = secrets.token_hex(32)
        self.accept(bot, token, days)
        return token

    def accept(self, bot: str, token: str, days: int) -> bool:
        """Store the hash of a bot's token, which expires after `days` days, revoke the bot's other
        tokens, and return True. If the token is known already, even for another bot, change
        nothing, and return False.

        Raises:
            TokenRefused: if the token is known, but no longer valid.
            OSError or StoreError: if the token cannot be stored.
        """
        token_hash, now = hash_of(token), datetime.now(UTC)
        self._refresh()
        if token_hash in self._by_hash:
            self.bot_of(token_hash)
            return False
        made, expires = (_iso(moment) for moment in (now, now + timedelta(days=days)))
        self.revoke(bot, _Invitation(bot, token_hash, made, expires))
        return True

    def revoke(self, bot: str, *instead: _Invitation) -> bool:
        """Revoke all tokens of a bot, and add the invitations in `instead`. Return whether the bot
        had a token that was not revoked, even if it had expired. Processes take turns.

        Raises:
            OSError or StoreError: if the change cannot be stored.
        """
        new = self._path.with_suffix(".new")
        with ExitStack() as stack:
            folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY)
            stack.callback(os.close, folder)  # this also releases the lock
            fcntl.flock(folder, fcntl.LOCK_EX)
            now, before = _iso(datetime.now(UTC)), self._read()
            after = [
                structs.replace(old, revoked=now) if old.bot == bot and not old.revoked else old
                for old in before
            ]
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            stack.callback(new.unlink, missing_ok=True)
            with open(descriptor, "wb") as file:
                file.write(msgspec.json.format(msgspec.json.encode([*after, *instead]), indent=1))
                file.flush()
                os.fsync(descriptor)
            new.replace(self._path)
            os.fsync(folder)
        return after != before

    @property
    def arena_url(self) -> str:
        """The URL at which the arena was last served (not that of a proxy), or
        http://127.0.0.1:8000 if none has been stored. Assigning a URL stores it in the run's
        folder.

        Raises:
            OSError: if the file with the URL cannot be read or written.
        """
        try:
            return self._address.read_text("utf-8")
        except FileNotFoundError:
            return "http://127.0.0.1:8000"

    @arena_url.setter
    def arena_url(self, url: str) -> None:
        self._address.write_text(url, "utf-8")

    @property
    def exist(self) -> bool:
        """Whether there is any invitation, valid or not. Reading it may raise StoreError."""
        self._refresh()
        return bool(self._by_hash)

    def bot_of(self, token_hash: str) -> str:
        """Return the bot whose token has this SHA-256, in hexadecimal.

        Raises:
            TokenRefused: if no token has this SHA-256, or the token was revoked or has expired.
            StoreError: if the file exists but cannot be read.
        """
        self._refresh()
        invitation = self._by_hash.get(token_hash)
        if invitation is None:
            raise TokenRefused(f"This token is not known here; copy it whole. {_ASK}")
        if invitation.revoked is not None:
            raise TokenRefused(f"This token was revoked at {invitation.revoked}. {_ASK}")
        if invitation.expires <= _iso(datetime.now(UTC)):
            raise TokenRefused(f"This token expired at {invitation.expires}. {_ASK}")
        return invitation.bot

    def _refresh(self) -> None:
        with self._reading():
            try:
                status = self._path.stat()
            except FileNotFoundError:
                self._by_hash, self._stamp = {}, None
                return
        stamp = status.st_mtime_ns, status.st_ino
        if stamp != self._stamp:
            self._by_hash = {invitation.sha256: invitation for invitation in self._read()}
            self._stamp = stamp

    def _read(self) -> list[_Invitation]:
        with self._reading():
            try:
                return msgspec.json.decode(self._path.read_bytes(), type=list[_Invitation])
            except FileNotFoundError:
                return []

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Raise OSErrors and DecodeErrors of the code in this context as StoreErrors."""
        try:
            yield
        except (OSError, msgspec.DecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else error
            fix = "restore it, or delete it and invite all bots again"
            raise StoreError(f"{self._path} cannot be read ({why}); {fix}.") from None


def hash_of(token: str) -> str:
    """Return the SHA-256 of a token in hexadecimal. Tokens are random, so no salt is needed."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
