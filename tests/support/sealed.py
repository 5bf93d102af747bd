"""Sealed games for the tests of sealed states."""

import string
from base64 import b64encode
from hashlib import sha256
from typing import Any

from flask.testing import FlaskClient

from games import State
from service.app import create_app
from service.sealed import Sealer
from service.settings import Settings
from tests.support.service import Service

KEY, OLD_KEY = bytes(range(32)), bytes(32)
URL_SAFE = set(string.ascii_letters + string.digits + "-._~")


def seal_keys(**keys: bytes) -> str:
    return ",".join(f"{name}:{b64encode(key).decode()}" for name, key in keys.items())


def application(**keys: bytes) -> FlaskClient:
    return create_app(Settings.from_environ({"STICH_SEAL_KEYS": seal_keys(**keys)})).test_client()


def hashed(secrets: list[str]) -> list[str]:
    return [sha256(secret.encode()).hexdigest() for secret in secrets]


def start(service: Service, game: str = "doudizhu", **fields: Any) -> tuple[str, list[str]]:
    """A new sealed game with keys of the service."""
    answer = service.post("/v1/sealed/start", {"game": game, **fields})
    assert answer.keys() == {"sealed", "keys"}, answer
    return answer["sealed"], answer["keys"]


def sealed_state(state: State, secrets: list[str]) -> str:
    token = Sealer({"new": KEY}).start(state, hashed(secrets))["sealed"]
    assert isinstance(token, str)
    return token


def secrets_of(state: State) -> list[str]:
    return [f"secret {seat}" for seat in range(state.players)]
