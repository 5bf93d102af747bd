"""Who is signed in: authors, each for one bot, by its token."""

from __future__ import annotations

import secrets
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Final

from web.gateway.invitations import Invitations, TokenRefused, hash_of

LASTS_S: Final = 12 * 3600.0
SESSIONS_OF_A_TOKEN: Final = 8
WRONG_TOKENS: Final = 10
"""How many wrong tokens an address may send at once; afterwards one in `_ANOTHER_S`."""
_ANOTHER_S: Final = 10.0
_ADDRESSES: Final = 4096


class TooManyGuesses(Exception):
    """This address has sent too many wrong tokens."""


@dataclass(frozen=True, slots=True)
class _Session:
    token_hash: str
    ends: float


class Sessions:
    """Sessions by their secret keys, in memory: a restart signs everybody out. Safe for threads.

    A session ends with its token, so a key never lets in for longer than the token itself.
    """

    def __init__(self, invitations: Invitations, clock: Callable[[], float] = monotonic) -> None:
        self._invitations = invitations
        self._clock = clock
        self._lock = threading.Lock()
        self._sessions: dict[str, _Session] = {}
        self._guesses = _Guesses(clock)

    @property
    def any_invitation(self) -> bool:
        """Whether the organiser has invited anybody."""
        return self._invitations.exist

    def sign_in(self, bot: str, token: str, address: str) -> str:
        """The key of a new session for a bot. TokenRefused; TooManyGuesses from this address."""
        with self._lock:
            self._guesses.check(address)
            try:
                token_hash = self._valid(bot, hash_of(token))
            except TokenRefused:
                self._guesses.count(address)
                raise
            now = self._clock()
            self._sessions = {
                key: session for key, session in self._sessions.items() if session.ends > now
            }
            same = [key for key, one in self._sessions.items() if one.token_hash == token_hash]
            for key in same[: max(0, len(same) + 1 - SESSIONS_OF_A_TOKEN)]:
                del self._sessions[key]
            key = secrets.token_urlsafe(32)
            self._sessions[key] = _Session(token_hash, now + LASTS_S)
            return key

    def check(self, bot: str, key: str) -> None:
        """TokenRefused unless this is the key of a session for a bot."""
        with self._lock:
            session = self._sessions.get(key)
            if session is None or session.ends <= self._clock():
                raise TokenRefused("You are signed out; sign in again with the token.")
            self._valid(bot, session.token_hash)

    def sign_out(self, key: str) -> None:
        """End a session, if there is one with this key."""
        with self._lock:
            self._sessions.pop(key, None)

    def _valid(self, bot: str, token_hash: str) -> str:
        if self._invitations.bot_of(token_hash) != bot:
            raise TokenRefused("This token is that of another bot; sign in on that bot's page.")
        return token_hash


class _Guesses:
    """The wrong tokens of each address: a bucket that fills slowly."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._free_at: OrderedDict[str, float] = OrderedDict()  # when none counts any more

    def check(self, address: str) -> None:
        """TooManyGuesses if this address may not send another token now."""
        most = WRONG_TOKENS * _ANOTHER_S
        if self._free_at.get(address, 0.0) > self._clock() + most - _ANOTHER_S:
            raise TooManyGuesses

    def count(self, address: str) -> None:
        """This address has sent a wrong token."""
        free_at = max(self._clock(), self._free_at.pop(address, 0.0))
        self._free_at[address] = free_at + _ANOTHER_S
        if len(self._free_at) > _ADDRESSES:
            self._free_at.popitem(last=False)
