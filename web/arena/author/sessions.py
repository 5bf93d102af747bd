"""Who is signed in: authors, each for one bot, by its token."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Final

from web.gateway.invitations import Invitations, TokenRefused, hash_of

LASTS_S: Final = 12 * 3600.0
SESSIONS_OF_A_TOKEN: Final = 8


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

    @property
    def any_invitation(self) -> bool:
        """Whether the organiser has invited anybody."""
        return self._invitations.exist

    def sign_in(self, bot: str, token: str) -> str:
        """The key of a new session for a bot; TokenRefused. Nobody guesses a token of 256 bits, so
        wrong ones are not counted."""
        with self._lock:
            token_hash = self._valid(bot, hash_of(token))
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
