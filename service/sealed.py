"""Sealed states: a client keeps a game as a token that the client cannot read.

A token is the ID of a seal key, a dot, and the URL-safe base64 of a nonce and the game, that is, of
the SHA-256 hashes of the seats' keys and the state, encrypted and authenticated with AES-SIV (RFC
5297). A service in which `VERSION` or the fields of states differ refuses the token.
"""

import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from hmac import compare_digest
from typing import Any, Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

import games
from games import State
from service.json_codec import encode
from service.problems import Problem, invalid_request
from service.schemas.positions import STATES

VERSION: Final = 1
INVALID: Final = (
    "The token or the key is not valid here: it was altered or cut off, belongs to another game or"
    " service, or was made with a seal key that is no longer in use."
)
_NONCE: Final = 16
_HASH: Final = 32
_SEATS: Final = max(game.max_players for game in games.GAMES.values())
_WIRE: Final = [
    (name, list(STATES[name].fields), [option.name for option in game.options])
    for name, game in games.GAMES.items()
]
_FORMAT: Final = f"stich sealed state {VERSION} {sha256(repr(_WIRE).encode()).hexdigest()}"


@dataclass(frozen=True, slots=True)
class SealedGame:
    """The content of a token."""

    state: State
    hashes: tuple[bytes, ...]  # SHA-256 of the keys, by seat
    seat: int | None  # whose key came with the token, if any


class Sealer:
    """Seals games with the first of the service's keys, and opens games sealed with any of them.

    `keys` maps the ID of each key to its 32 bytes, and must not be empty.
    """

    def __init__(self, keys: Mapping[str, bytes]) -> None:
        self._ciphers = {name: AESSIV(key) for name, key in keys.items()}
        self._decoy = AESSIV(secrets.token_bytes(32))

    def start(self, state: State, key_hashes: Sequence[str] | None) -> dict[str, Any]:
        """Seal a new game, and return the answer of `/v1/sealed/start`: `sealed` and `keys`.

        `key_hashes` are the SHA-256 hashes of the keys in hexadecimal, by seat. The answer then has
        None for each key. If `key_hashes` is None, draw a key for each seat.

        Raises:
            Problem: if there is not one hash for each seat, or if two seats have the same hash.
        """
        keys: Sequence[str | None] = [None] * state.players
        if key_hashes is None:
            keys = drawn = [secrets.token_urlsafe(_HASH) for _ in keys]
            key_hashes = [sha256(key.encode()).hexdigest() for key in drawn]
        if len(key_hashes) != state.players:
            wrong = f"Must have one hash for each of the {state.players} seats."
            raise invalid_request({"key_hashes": [wrong]})
        if len(set(key_hashes)) < state.players:
            wrong = "Must differ from one another: each seat has a secret of its own."
            raise invalid_request({"key_hashes": [wrong]})
        hashes = tuple(bytes.fromhex(text) for text in key_hashes)
        return {"sealed": self.seal(state, hashes), "keys": keys}

    def seal(self, state: State, hashes: Sequence[bytes]) -> str:
        """Return a new token for a state and the SHA-256 hashes of its seats' keys, by seat."""
        name, cipher = next(iter(self._ciphers.items()))
        nonce = secrets.token_bytes(_NONCE)
        wire = state.to_dict()
        plain = b"".join(hashes).ljust(_SEATS * _HASH) + encode(wire).ljust(padded_size(wire))
        return _token(name, nonce + cipher.encrypt(plain, _bound_to(name, nonce)))

    def open(self, token: str, key: str | None) -> SealedGame:
        """Decrypt a token, and return its game, with the seat whose key is `key`. If `key` is None,
        the seat is None.

        Raises:
            Problem: if the token or the key is not valid. The code is `invalid-token`.
        """
        # Every refusal takes one decryption and a comparison with each hash, so that its time does
        # not reveal what is wrong.
        name, _, body = token.partition(".")
        sealed = _decode(body)
        valid = name in self._ciphers and _token(name, sealed) == token
        cipher = self._ciphers[name] if valid else self._decoy
        try:
            plain = cipher.decrypt(sealed[_NONCE:], _bound_to(name, sealed[:_NONCE]))
        except InvalidTag:
            valid, plain = False, bytes(_SEATS * _HASH)
        given = sha256((key or "").encode()).digest()
        hashes = [plain[seat * _HASH :][:_HASH] for seat in range(_SEATS)]
        matches = [compare_digest(given, hashed) for hashed in hashes]
        if not valid or (key is not None and True not in matches):
            raise Problem("invalid-token", INVALID)
        wire = json.loads(plain[_SEATS * _HASH :])  # msgspec reads 64-bit integers only
        state = games.get(wire["game"]).state(wire)
        seat = None if key is None else matches.index(True)
        return SealedGame(state, tuple(hashes[: state.players]), seat)


def padded_size(wire: Mapping[str, Any]) -> int:
    """Return the padded size of a state in bytes, so that a token's length reveals nothing hidden.

    `wire` is the state as `to_dict` returns it. The size depends only on public facts: the game,
    the numbers of players, moves and results, and whether a score has more than four digits.
    """
    # No state is larger: 2,048 bytes hold the names of fields, options, seed and total scores.
    deck = games.get(wire["game"]).deck(wire["players"]).size
    results = wire["results"]
    highest = max([abs(score) for result in results for score in result["scores"]], default=0)
    result = 112 if highest < 10_000 else 320
    return 2048 + 12 * deck + 40 * len(wire["history"]) + result * len(results)


def _bound_to(name: str, nonce: bytes) -> list[bytes]:
    return [f"{_FORMAT} {name}".encode(), nonce]


def _token(name: str, sealed: bytes) -> str:
    return f"{name}.{urlsafe_b64encode(sealed).decode().rstrip('=')}"


def _decode(body: str) -> bytes:
    try:
        return urlsafe_b64decode(body + "=" * (-len(body) % 4))
    except ValueError:
        return bytes(len(body) * 3 // 4)
