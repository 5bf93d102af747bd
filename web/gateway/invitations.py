"""The tokens of a run's bots: a file of the run, with the SHA-256 of each and never a token."""

import fcntl
import hashlib
import json
import os
import secrets
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from tournament.errors import StichError

FILE: Final = "invitations.json"
_ASK: Final = "Ask the organiser of the cup for a new one."


class TokenRefused(StichError):
    """A token is not valid. The message is a sentence that says why."""


@dataclass(frozen=True, slots=True)
class Invitation:
    """A bot's token: its SHA-256, and when it was made, expires and was revoked, in ISO 8601."""

    bot: str
    sha256: str
    made: str
    expires: str
    revoked: str | None = None


class Invitations:
    """The invitations in the folder of a run. The file is read again when it has changed."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._address = folder / "arena-url"
        self._stamp: tuple[int, int] | None = None
        self._by_hash: dict[str, Invitation] = {}

    def invite(self, bot: str, days: int) -> str:
        """Make and store a new token of a bot, which replaces the bot's other tokens. Return the
        token.

        Raises:
            OSError: if the token cannot be stored.
        """
        token = secrets.token_hex(32)
        self.accept(bot, token, days)
        return token

    def accept(self, bot: str, token: str, days: int) -> bool:
        """Store a token as the bot's, in place of its other tokens. Return whether the token is
        new.

        Raises:
            TokenRefused: if the token is no longer valid.
            OSError: if the token cannot be stored.
        """
        token_hash, now = hash_of(token), datetime.now(UTC)
        self._refresh()
        if token_hash in self._by_hash:
            self.bot_of(token_hash)
            return False
        made, expires = (_iso(moment) for moment in (now, now + timedelta(days=days)))
        self.revoke(bot, Invitation(bot, token_hash, made, expires))
        return True

    def revoke(self, bot: str, *instead: Invitation) -> bool:
        """Revoke a bot's tokens and add the invitations `instead`. Return whether the bot had a
        token that was not yet revoked.

        Raises:
            OSError: if the change cannot be stored.
        """
        new = self._path.with_suffix(".new")
        with ExitStack() as stack:
            folder = os.open(self._path.parent, os.O_RDONLY | os.O_DIRECTORY)
            stack.callback(os.close, folder)  # which releases the lock, whatever happens
            fcntl.flock(folder, fcntl.LOCK_EX)
            now, before = _iso(datetime.now(UTC)), self._read()
            kept = [
                replace(one, revoked=now) if one.bot == bot and one.revoked is None else one
                for one in before
            ]
            descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            stack.callback(new.unlink, missing_ok=True)
            with open(descriptor, "w", encoding="utf-8") as file:
                json.dump([asdict(one) for one in (*kept, *instead)], file, indent=1)
                file.flush()
                os.fsync(descriptor)
            new.replace(self._path)
            os.fsync(folder)
        return kept != before

    @property
    def arena_url(self) -> str:
        """The URL where the arena was last served. Authors connect there, unless the arena is
        behind a proxy."""
        try:
            return self._address.read_text("utf-8")
        except FileNotFoundError:
            return "http://127.0.0.1:8000"

    @arena_url.setter
    def arena_url(self, url: str) -> None:
        self._address.write_text(url, "utf-8")

    @property
    def exist(self) -> bool:
        """Whether there is any invitation, valid or not."""
        self._refresh()
        return bool(self._by_hash)

    def bot_of(self, token_hash: str) -> str:
        """Return the bot whose token has this SHA-256.

        Raises:
            TokenRefused: if no token has this SHA-256, or the token is no longer valid.
        """
        self._refresh()
        found = self._by_hash.get(token_hash)
        if found is None:
            raise TokenRefused(f"This token is not known here; copy it whole. {_ASK}")
        if found.revoked is not None:
            raise TokenRefused(f"This token was revoked at {found.revoked}. {_ASK}")
        if found.expires <= _iso(datetime.now(UTC)):
            raise TokenRefused(f"This token expired at {found.expires}. {_ASK}")
        return found.bot

    def _refresh(self) -> None:
        try:
            status = self._path.stat()
        except FileNotFoundError:
            self._by_hash, self._stamp = {}, None
            return
        stamp = status.st_mtime_ns, status.st_ino
        if stamp != self._stamp:
            self._by_hash = {one.sha256: one for one in self._read()}
            self._stamp = stamp

    def _read(self) -> list[Invitation]:
        try:
            data = json.loads(self._path.read_text("utf-8"))
        except FileNotFoundError:
            return []
        return [Invitation(**one) for one in data]


def hash_of(token: str) -> str:
    """The SHA-256 of a token in hexadecimal. Tokens are random, so the hash needs no salt."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="seconds")
