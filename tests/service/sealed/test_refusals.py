from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from hmac import compare_digest
from types import SimpleNamespace
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESSIV

from service import sealed
from service.app import create_app
from service.problems import Problem
from service.sealed import Sealer
from service.settings import ConfigError, Settings
from tests.support.games.random_games import random_game
from tests.support.service.contract import Service
from tests.support.service.sealed import (
    KEY,
    OLD_KEY,
    SECRETS,
    URL_SAFE,
    hashed,
    seal_keys,
    sealed_state,
)

HASHES = hashed(["a", "b", "c"])
WRONG: dict[str, Callable[[str, str], tuple[str, str]]] = {
    "empty": lambda token, key: ("", key),
    "no ID": lambda token, key: (token.partition(".")[2], key),
    "another ID": lambda token, key: (token.replace("new.", "old."), key),
    "an unknown ID": lambda token, key: (token.replace("new.", "newer."), key),
    "cut by one": lambda token, key: (token[:-1], key),
    "cut to the nonce": lambda token, key: (token[:26], key),
    "longer by one": lambda token, key: (token + "A", key),
    "padded": lambda token, key: (token + "=", key),
    "a line longer": lambda token, key: (token + "\n", key),
    "standard base64": lambda token, key: (token.replace("-", "+").replace("_", "/") + "+", key),
    "not base64": lambda token, key: ("new." + "!" * 2000, key),
    "not ASCII": lambda token, key: (token + "é", key),
    "huge": lambda token, key: ("new." + "A" * 1_000_000, key),
    "an empty key": lambda token, key: (token, ""),
    "a cut key": lambda token, key: (token, key[:-1]),
    "a huge key": lambda token, key: (token, "k" * 1_000_000),
    "the hash of the key": lambda token, key: (token, sha256(key.encode()).hexdigest()),
}


def test_sealed_requests_need_seal_keys() -> None:
    service = Service(create_app(Settings()).test_client())
    token = {"sealed": "x.y", "key": "k"}
    for path, fields in (
        ("start", {"game": "dasan"}),
        ("view", token),
        ("moves", token),
        ("describe", token),
        ("validate", {**token, "move": "pass"}),
        ("advance", {**token, "moves": ["pass"]}),
    ):
        problem = service.post(f"/v1/sealed/{path}", fields)
        assert (problem["status"], problem["code"]) == (503, "sealing-unavailable")


def test_a_wrong_start_is_refused(service: Service) -> None:
    starts: list[tuple[str, Any]] = [
        ("seed", {"seed": "mine"}),
        ("seal", {"seal": True}),
        ("key_hashes", {"key_hashes": HASHES, "players": 4}),
        *(
            ("key_hashes", {"key_hashes": hashes})
            for hashes in (HASHES[:2], [*HASHES, HASHES[0]], [*HASHES[:2], HASHES[0]], ["x"] * 9999)
        ),
        *(
            ("key_hashes.2", {"key_hashes": [*HASHES[:2], third]})
            for third in (None, HASHES[2].upper(), HASHES[2] + "\n", "g" * 64)
        ),
    ]
    for field, fields in starts:
        problem = service.post("/v1/sealed/start", {"game": "dasan", **fields})
        assert problem["code"] == "invalid-request"
        assert field in problem["errors"]


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_every_wrong_token_or_key_gets_the_same_answer(service: Service, wrong: Any) -> None:
    state = next(random_game("doudizhu", 3, 0))
    token, key = wrong(sealed_state(state), SECRETS[0])
    move, moves = {"move": "pass"}, {"moves": ["pass"]}
    for path, fields in (("moves", {}), ("view", {}), ("validate", move), ("advance", moves)):
        body: dict[str, Any] = {"sealed": token, "key": key, **fields}
        problem = service.post(f"/v1/sealed/{path}", body)
        assert problem.pop("request_id")
        assert problem == {
            "type": "/docs#invalid-token",
            "title": "The token or key is not valid",
            "status": 403,
            "detail": sealed.INVALID,
            "code": "invalid-token",
        }


def test_no_single_character_can_be_altered() -> None:
    state = next(random_game("dasan", 4, 0))
    token = sealed_state(state)
    sealer = Sealer({"new": KEY})
    assert sealer.open(token, None).state.to_dict() == state.to_dict()
    places = [*range(0, len(token), 7), *range(len(token) - 8, len(token))]
    altered = [(place, "B" if token[place] == "A" else "A") for place in places]
    altered += [(len(token) - 1, last) for last in URL_SAFE - {token[-1]}]  # may be ignored bits
    for place, character in altered:
        with pytest.raises(Problem, match="invalid-token"):
            sealer.open(token[:place] + character + token[place + 1 :], None)


def test_every_refusal_takes_the_same_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    state = next(random_game("doudizhu", 3, 0))
    token = sealed_state(state)
    steps: list[str] = []

    def counted(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            steps.append(name)
            return function(*arguments)

        return call

    def cipher(key: bytes) -> Any:
        return SimpleNamespace(decrypt=counted("decrypt", AESSIV(key).decrypt))

    monkeypatch.setattr(sealed, "AESSIV", cipher)
    monkeypatch.setattr(sealed, "compare_digest", counted("compare", compare_digest))
    monkeypatch.setattr("service.sealed.json.loads", lambda _: pytest.fail("read too early"))
    sealer = Sealer({"new": KEY, "old": OLD_KEY})
    for name, wrong in WRONG.items():
        steps.clear()
        with pytest.raises(Problem, match="invalid-token"):
            sealer.open(*wrong(token, SECRETS[0]))
        assert steps == ["decrypt", *["compare"] * 6], name


def test_wrong_seal_keys_are_refused_and_none_is_shown() -> None:
    for text, words in (
        ("k1", "ID:BASE64"),
        ("k1=" + "A" * 43, "its ID must have"),
        ("k.1:" + b64encode(KEY).decode(), "its ID must have"),
        ("k1:" + b64encode(KEY[1:]).decode(), 'after "k1:" must be the base64 of 32 bytes'),
        ("k1:hunter2-hunter2", "openssl rand -base64 32"),
        (seal_keys(k1=KEY) + ",k1:" + b64encode(OLD_KEY).decode(), "number 2, its ID k1 occurs"),
        (seal_keys(k1=KEY) + ";" + seal_keys(k2=KEY), 'k1:" must be the base64'),
        (seal_keys(k1=KEY) + ",,", "number 2"),
    ):
        with pytest.raises(ConfigError, match=f"^STICH_SEAL_KEYS must be.*{words}") as raised:
            Settings.from_environ({"STICH_SEAL_KEYS": text})
        for part in (b64encode(KEY).decode(), "hunter2"):
            assert part not in str(raised.value)
    spaced = f" {seal_keys(a=KEY)} , {seal_keys(b=OLD_KEY)} "
    settings = Settings.from_environ({"STICH_SEAL_KEYS": spaced})
    assert settings.seal_keys == {"a": KEY, "b": OLD_KEY}
    assert "seal" not in repr(settings)
    assert Settings.from_environ({"STICH_SEAL_KEYS": ""}).seal_keys == {}
