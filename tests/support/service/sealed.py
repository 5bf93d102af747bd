import string
from base64 import b64encode
from hashlib import sha256
from typing import Any

from games import State
from service.sealed import Sealer
from tests.support.service.contract import Service

KEY, OLD_KEY = bytes(range(32)), bytes(32)
SECRETS = [f"secret {seat}" for seat in range(6)]
URL_SAFE = set(string.ascii_letters + string.digits + "-._~")


def seal_keys(**keys: bytes) -> str:
    """The value of STICH_SEAL_KEYS for these keys."""
    return ",".join(f"{name}:{b64encode(key).decode()}" for name, key in keys.items())


SEAL_KEYS = seal_keys(test=KEY)


def hashed(secrets: list[str]) -> list[str]:
    """The value of `key_hashes` for these secrets."""
    return [sha256(secret.encode()).hexdigest() for secret in secrets]


def start(service: Service, game: str = "doudizhu", **fields: Any) -> tuple[str, list[str]]:
    """A new sealed game with keys from the service."""
    answer = service.post("/v1/sealed/start", {"game": game, **fields})
    assert answer.keys() == {"sealed", "keys"}, answer
    return answer["sealed"], answer["keys"]


def sealed_state(state: State) -> str:
    """The token of a state whose players have the first of `SECRETS`."""
    hashes = [sha256(secret.encode()).digest() for secret in SECRETS[: state.players]]
    return Sealer({"new": KEY}).seal(state, hashes)
