"""Sealed states: whoever holds a token learns nothing from it but what its key may know."""

from __future__ import annotations

import json
import logging
import random
import string
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from hmac import compare_digest
from itertools import pairwise
from typing import Any

import pytest
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from flask.testing import FlaskClient

import games
from games import State
from service import sealed
from service.app import create_app
from service.json_codec import encode
from service.problems import Problem
from service.sealed import Sealer
from service.settings import ConfigError, Settings
from tests.games.test_all_games import IDS, TABLES, random_game, rename
from tests.service.support import Service

KEY, OLD_KEY = bytes(range(32)), bytes(32)
URL_SAFE = set(string.ascii_letters + string.digits + "-._~")


def seal_keys(**keys: bytes) -> str:
    return ",".join(f"{name}:{b64encode(key).decode()}" for name, key in keys.items())


def application(**keys: bytes) -> FlaskClient:
    return create_app({"seal_keys": seal_keys(**keys)}).test_client()


@pytest.fixture
def client() -> FlaskClient:
    client = application(new=KEY, old=OLD_KEY)
    client.environ_base["HTTP_X_REQUEST_ID"] = "test"  # equal answers name equal requests
    return client


@pytest.fixture
def service(client: FlaskClient) -> Service:
    return Service(client)


def hashed(secrets: list[str]) -> list[str]:
    return [sha256(secret.encode()).hexdigest() for secret in secrets]


def start(service: Service, game: str = "doudizhu", **fields: Any) -> tuple[str, list[str]]:
    """A new sealed game with keys of the service."""
    answer = service.post("/v1/start", {"game": game, "seal": True, **fields})
    assert answer.keys() == {"sealed", "keys"}, answer
    return answer["sealed"], answer["keys"]


def sealed_state(state: State, secrets: list[str]) -> str:
    token = Sealer({"new": KEY}).start(state, hashed(secrets))["sealed"]
    assert isinstance(token, str)
    return token


def secrets_of(state: State) -> list[str]:
    return [f"secret {seat}" for seat in range(state.players)]


# The operations


@pytest.mark.parametrize(("name", "players"), TABLES, ids=IDS)
def test_a_whole_game_is_played_with_keys_alone(
    client: FlaskClient, name: str, players: int
) -> None:
    def post(path: str, token: str, key: str | None = None, **more: Any) -> Any:
        body = {"sealed": token} | ({} if key is None else {"key": key}) | more
        return client.post(path, json=body).json

    secrets = [f"{name} {seat}" for seat in range(players)]
    game = {"game": name, "players": players, "options": {"deals": 1}}
    started = client.post(
        "/v1/start", json={**game, "seal": True, "key_hashes": hashed(secrets)}
    ).json
    assert started is not None
    token, keys = started["sealed"], started["keys"]
    assert keys == [None] * players
    rng = random.Random(name)
    played: list[str] = []
    while (public := post("/v1/view", token))["view"]["turn"] is not None:
        turn = public["view"]["turn"]
        assert public.keys() == {"view"}
        assert (public["view"]["seat"], public["view"]["hand"]) == (None, [])
        moves = post("/v1/moves", token, secrets[turn])["moves"]
        move = moves[max(rng.randrange(len(moves)) for _ in range(3))]
        assert post("/v1/validate", token, secrets[turn], move=move)["move"] == move
        token = post("/v1/advance", token, secrets[turn], moves=[move])["sealed"]
        played.append(move)
    # Now everybody knows the seed, and can deal and play the game again.
    state = games.get(name).start(players, public["seed"], {"deals": 1})
    for move in played:
        state = state.advance(move)
    assert public["view"] == state.view(None).to_dict()
    for seat in range(players):
        assert post("/v1/view", token, secrets[seat]) == {"view": state.view(seat).to_dict()}


def test_a_seat_sees_and_may_do_the_same_as_with_its_view(service: Service) -> None:
    token, keys = start(service, "ninefivetwo")
    turn = service.post("/v1/view", {"sealed": token})["view"]["turn"]
    for key in keys:
        view = service.post("/v1/view", {"sealed": token, "key": key})["view"]
        for path, more in (("moves", {}), ("validate", {"move": "trump:h"})):
            answers = [
                service.post(f"/v1/{path}", {**position, **more})
                for position in ({"view": view}, {"sealed": token, "key": key})
            ]
            assert answers[0] == answers[1]
    body = {"sealed": token, "key": keys[turn], "moves": ["trump:h"]}
    assert service.post("/v1/advance", body).keys() == {"sealed"}


def test_the_service_makes_a_key_for_each_seat_if_the_players_have_none(service: Service) -> None:
    token, keys = start(service, "zhengfen", players=6)
    assert len(set(keys)) == 6
    views = [service.post("/v1/view", {"sealed": token, "key": key})["view"] for key in keys]
    assert [view["seat"] for view in views] == list(range(6))
    cards = [card for view in views for card in view["hand"]]
    assert len(set(cards)) == len(cards) == 54


def test_a_key_plays_only_its_own_seat(service: Service) -> None:
    token, keys = start(service)
    turn = service.post("/v1/view", {"sealed": token})["view"]["turn"]
    other = {"sealed": token, "key": keys[turn - 1]}
    assert service.post("/v1/moves", other) == {"seat": turn, "moves": []}
    verdict = service.post("/v1/validate", {**other, "move": "pass"})
    assert verdict["reason"] == "not-your-turn"
    for moves, index, reason in (
        (["pass"], 0, "not-your-turn"),
        (["pas"], 0, "syntax"),
    ):
        problem = service.post("/v1/advance", {**other, "moves": moves})
        assert (problem["code"], problem["reason"]) == ("illegal-move", reason)
        assert problem["index"] == index
    problem = service.post(
        "/v1/advance", {"sealed": token, "key": keys[turn], "moves": ["pass", "pass"]}
    )
    assert (problem["reason"], problem["index"]) == ("not-your-turn", 1)


def test_a_view_of_everybody_can_be_posted_like_any_view(service: Service) -> None:
    token, _ = start(service)
    view = service.post("/v1/view", {"sealed": token})["view"]
    assert service.post("/v1/moves", {"view": view}) == {"seat": view["turn"], "moves": []}
    verdict = service.post("/v1/validate", {"view": view, "move": "pass"})
    assert verdict["reason"] == "not-your-turn"
    problem = service.post("/v1/moves", {"view": {**view, "hand": ["3c"]}})
    assert problem["problems"] == ["hand must be empty in a view without a seat."]


def test_any_of_the_keys_opens_and_the_first_seals(service: Service) -> None:
    old = Service(application(old=OLD_KEY))
    token, keys = start(old)
    turn = old.post("/v1/view", {"sealed": token})["view"]["turn"]
    me = {"sealed": token, "key": keys[turn]}
    newer = service.post("/v1/advance", {**me, "moves": ["pass"]})["sealed"]
    assert (token[:4], newer[:4]) == ("old.", "new.")
    assert old.post("/v1/view", {"sealed": newer})["code"] == "invalid-token"


# Refusals


@pytest.mark.parametrize("path", ["moves", "validate", "advance", "view", "start"])
def test_without_seal_keys_every_sealed_request_is_refused(path: str) -> None:
    service = Service(create_app({"seal_keys": ""}).test_client())
    body: dict[str, Any] = {"sealed": "x.y"} | ({} if path == "view" else {"key": "k"})
    if path == "validate":
        body["move"] = "pass"
    elif path == "advance":
        body["moves"] = ["pass"]
    elif path == "start":
        body = {"game": "dasan", "seal": True}
    problem = service.post(f"/v1/{path}", body)
    assert (problem["status"], problem["code"]) == (503, "sealing-unavailable")


HASHES = hashed(["a", "b", "c"])


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"seal": True, "seed": "mine"}, "seed"),
        ({"seal": True, "seed": None}, "seed"),
        ({"seal": 1}, "seal"),
        ({"seal": "true"}, "seal"),
        ({"seal": None}, "seal"),
        ({"key_hashes": HASHES}, "key_hashes"),
        ({"seal": False, "key_hashes": HASHES}, "key_hashes"),
        ({"seal": True, "key_hashes": None}, "key_hashes"),
        ({"seal": True, "key_hashes": []}, "key_hashes"),
        ({"seal": True, "key_hashes": HASHES[:2]}, "key_hashes"),
        ({"seal": True, "key_hashes": [*HASHES, HASHES[0]]}, "key_hashes"),
        ({"seal": True, "key_hashes": [*HASHES[:2], HASHES[0]]}, "key_hashes"),
        ({"seal": True, "key_hashes": HASHES, "players": 4}, "key_hashes"),
        ({"seal": True, "key_hashes": dict.fromkeys(HASHES)}, "key_hashes"),
        ({"seal": True, "key_hashes": [*HASHES[:2], None]}, "key_hashes.2"),
        ({"seal": True, "key_hashes": [*HASHES[:2], HASHES[2].upper()]}, "key_hashes.2"),
        ({"seal": True, "key_hashes": [*HASHES[:2], HASHES[2][1:]]}, "key_hashes.2"),
        ({"seal": True, "key_hashes": [*HASHES[:2], HASHES[2] + "\n"]}, "key_hashes.2"),
        ({"seal": True, "key_hashes": [*HASHES[:2], "g" * 64]}, "key_hashes.2"),
        ({"seal": True, "key_hashes": ["x"] * 150_000}, "key_hashes"),
    ],
)
def test_a_wrong_start_is_refused(service: Service, fields: Any, field: str) -> None:
    problem = service.post("/v1/start", {"game": "dasan", **fields})
    assert problem["code"] == "invalid-request"
    assert field in problem["errors"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"sealed": 1},
        {"sealed": None},
        {"sealed": ["x"]},
        {"sealed": "\ud800"},
        {"key": 7},
        {"key": None},
        {"key": "\udfff"},
        {"seat": 0},
        {"state": {}},
    ],
)
def test_fields_of_a_wrong_type_are_refused(service: Service, wrong: Any) -> None:
    token, keys = start(service)
    problem = service.post("/v1/view", {"sealed": token, "key": keys[0], **wrong})
    assert problem["code"] == "invalid-request"
    assert problem["errors"].keys() & {*wrong, "sealed"}


def altered(token: str, place: int) -> str:
    other = "B" if token[place] == "A" else "A"
    return token[:place] + other + token[place + 1 :]


def with_version(version: int, state: State, secrets: list[str]) -> str:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sealed, "_FORMAT", sealed._FORMAT.replace("1", str(version), 1))
        return sealed_state(state, secrets)


WRONG: dict[str, Callable[[str, str], tuple[str, str]]] = {
    "empty": lambda token, key: ("", key),
    "the ID alone": lambda token, key: ("new.", key),
    "no ID": lambda token, key: (token.partition(".")[2], key),
    "another ID": lambda token, key: (token.replace("new.", "old."), key),
    "an unknown ID": lambda token, key: (token.replace("new.", "newer."), key),
    "ID in capitals": lambda token, key: (token.replace("new.", "NEW."), key),
    "cut in the middle": lambda token, key: (token[: len(token) // 2], key),
    "cut by one": lambda token, key: (token[:-1], key),
    "cut to the nonce": lambda token, key: (token[:26], key),
    "longer by one": lambda token, key: (token + "A", key),
    "padded": lambda token, key: (token + "=", key),
    "a line longer": lambda token, key: (token + "\n", key),
    "a space before": lambda token, key: (" " + token, key),
    "standard base64": lambda token, key: (token.replace("-", "+").replace("_", "/") + "+", key),
    "not base64": lambda token, key: ("new." + "!" * 2000, key),
    "not ASCII": lambda token, key: (token + "é", key),
    "NUL": lambda token, key: (token + "\0", key),
    "twice": lambda token, key: (token + token, key),
    "huge": lambda token, key: ("new." + "A" * 1_000_000, key),
    "a huge ID": lambda token, key: ("A" * 1_000_000 + ".AAAA", key),
    "an empty key": lambda token, key: (token, ""),
    "a cut key": lambda token, key: (token, key[:-1]),
    "a longer key": lambda token, key: (token, key + " "),
    "a key in capitals": lambda token, key: (token, key.upper()),
    "a huge key": lambda token, key: (token, "k" * 1_000_000),
    "the hash of the key": lambda token, key: (token, sha256(key.encode()).hexdigest()),
    "the token as key": lambda token, key: (token, token),
}


@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_every_wrong_token_or_key_gets_the_same_answer(service: Service, wrong: Any) -> None:
    state = next(random_game("doudizhu", 3, 0))
    secrets = secrets_of(state)
    token, key = wrong(sealed_state(state, secrets), secrets[0])
    operations: list[tuple[str, dict[str, Any]]] = [
        ("moves", {}),
        ("view", {}),
        ("validate", {"move": "pass"}),
        ("advance", {"moves": ["pass"]}),
    ]
    for path, more in operations:
        problem = service.post(f"/v1/{path}", {"sealed": token, "key": key, **more})
        assert problem.pop("request_id")
        assert problem == {
            "type": "/docs#invalid-token",
            "title": "The token or key is not valid",
            "status": 403,
            "detail": sealed.INVALID,
            "code": "invalid-token",
        }


def test_no_single_character_can_be_altered(service: Service) -> None:
    state = next(random_game("dasan", 4, 0))
    token = sealed_state(state, secrets_of(state))
    sealer = Sealer({"new": KEY})
    assert sealer.open(token, None).state.to_dict() == state.to_dict()
    for place in [*range(0, len(token), 7), *range(len(token) - 8, len(token))]:
        with pytest.raises(Problem, match="invalid-token"):
            sealer.open(altered(token, place), None)
    for last in URL_SAFE - {token[-1]}:  # base64 may ignore the last bits
        with pytest.raises(Problem, match="invalid-token"):
            sealer.open(token[:-1] + last, None)


def test_a_key_belongs_to_one_game_and_a_token_to_one_version(service: Service) -> None:
    (token, keys), (other, other_keys) = start(service), start(service)
    assert set(keys).isdisjoint(other_keys)
    state = next(random_game("doudizhu", 3, 0))
    secrets = secrets_of(state)
    for sealed_, key in (
        (token, other_keys[0]),
        (other, keys[0]),
        (with_version(2, state, secrets), secrets[0]),
    ):
        problem = service.post("/v1/view", {"sealed": sealed_, "key": key})
        assert problem["code"] == "invalid-token"


def test_every_refusal_takes_the_same_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    state = next(random_game("doudizhu", 3, 0))
    secrets = secrets_of(state)
    token = sealed_state(state, secrets)
    steps: list[str] = []

    class Counted:
        def __init__(self, key: bytes) -> None:
            self.cipher = AESSIV(key)

        def decrypt(self, data: bytes, bound_to: list[bytes]) -> bytes:
            steps.append("decrypt")
            return self.cipher.decrypt(data, bound_to)

    def compared(first: bytes, second: bytes) -> bool:
        steps.append("compare")
        return compare_digest(first, second)

    monkeypatch.setattr(sealed, "AESSIV", Counted)
    monkeypatch.setattr(sealed, "compare_digest", compared)
    monkeypatch.setattr("service.sealed.json.loads", lambda _: pytest.fail("read too early"))
    sealer = Sealer({"new": KEY, "old": OLD_KEY})
    for name, wrong in WRONG.items():
        steps.clear()
        with pytest.raises(Problem, match="invalid-token"):
            sealer.open(*wrong(token, secrets[0]))
        assert steps == ["decrypt", *["compare"] * 6], name


# Secrecy


def permuted(state: State, seats: list[int | None], rng: random.Random) -> State:
    """The same position with the cards exchanged that none of these seats can see."""
    names = tuple(dict.fromkeys(state.game.deck(state.players).cards))
    seen = json.dumps([state.view(seat).to_dict() for seat in seats])
    unseen = [card for card in names if card not in seen]
    wire = rename(
        state.to_dict(), dict(zip(unseen, rng.sample(unseen, len(unseen)), strict=True)), names
    )
    return state.game.state(wire)


@pytest.mark.parametrize(("name", "players"), TABLES, ids=IDS)
def test_hidden_cards_change_no_answer(
    client: FlaskClient, name: str, players: int, caplog: pytest.LogCaptureFixture
) -> None:
    """Two games that differ in hidden cards only: same answers to the seat, and equal lengths."""
    rng = random.Random(name)
    caplog.set_level(logging.DEBUG)
    changed = 0
    for step, state in enumerate(random_game(name, players, 1)):
        if step % 9:
            continue
        secrets = secrets_of(state)
        seat = rng.choice([*range(players), state.turn, None])
        other = permuted(state, [seat], rng)
        changed += other.to_dict() != state.to_dict()
        answers = []
        for position in (state, other):
            caplog.clear()
            token = sealed_state(position, secrets)
            body = {"sealed": token} | ({} if seat is None else {"key": secrets[seat]})
            requests: list[tuple[str, dict[str, Any]]] = [("view", {}), ("moves", {})]
            for move in ("pass", "bid:3", "call:5h", "play:3c3d", "give:4h", "play:??", "trump:c"):
                requests += [("validate", {"move": move}), ("advance", {"moves": [move, move]})]
            found = [client.post(f"/v1/{path}", json={**body, **more}) for path, more in requests]
            texts = [answer.text for answer in found if "sealed" not in (answer.json or {})]
            sizes = [len(answer.data) for answer in found]
            answers.append((len(token), texts, sizes, caplog.messages))
        assert answers[0] == answers[1]
    assert changed > 2


@pytest.mark.parametrize(("name", "players"), TABLES, ids=IDS)
def test_the_length_of_a_token_follows_from_the_number_of_moves(name: str, players: int) -> None:
    lengths: dict[tuple[int, int], set[int]] = {}
    spare = []
    for number in (0, 2):  # two games with the same options
        for state in random_game(name, players, number):
            wire = state.to_dict()
            token = sealed_state(state, secrets_of(state))
            assert set(token) <= URL_SAFE
            lengths.setdefault((len(wire["results"]), len(wire["history"])), set()).add(len(token))
            spare.append(sealed.padded_size(wire) - len(encode(wire)))
    assert all(len(found) == 1 for found in lengths.values())
    ordered = [found.pop() for _, found in sorted(lengths.items())]
    assert len(ordered) > 20
    assert min(spare) > 200  # no state is longer than what it is padded to
    first_deal = [length for length, _ in zip(ordered, range(15), strict=False)]
    assert all(shorter < longer for shorter, longer in pairwise(first_deal))


def test_the_largest_scores_fit_and_come_back_exactly(service: Service) -> None:
    state = games.get("doudizhu").start(4, "large", {"deals": 3})
    wire = state.to_dict() | {"scores": [-(10**36), 10**36, 10**36, -(10**36)], "deal": 2}
    result = {"declarer": 0, "bid": 3, "doublings": 10**15, "out": 0}
    wire["results"] = [{"deal": 1, "scores": wire["scores"], **result}]
    secrets = secrets_of(state)
    token = sealed_state(state.game.state(wire), secrets)
    view = service.post("/v1/view", {"sealed": token, "key": secrets[0]})["view"]
    assert (view["scores"], view["results"]) == (wire["scores"], wire["results"])
    assert sealed.padded_size(wire) > len(encode(wire))


def test_two_tokens_of_one_state_differ() -> None:
    state = next(random_game("zhengfen", 4, 0))
    assert sealed_state(state, secrets_of(state)) != sealed_state(state, secrets_of(state))


def test_metrics_and_logs_name_no_token_key_or_card(
    service: Service, client: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    token, keys = start(service)
    for key in (keys[0], "wrong"):
        view = service.post("/v1/view", {"sealed": token, "key": key}).get("view", {"hand": []})
        told = client.get("/metrics").text + caplog.text
        for secret in (token, token[10:40], key, *view["hand"]):
            assert f"{secret}" not in told or secret == "wrong"
    counted = 'stich_problems_total{code="invalid-token",route="/v1/view"} 1.0'
    assert counted in client.get("/metrics").text


# Settings


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("k1", "ID:BASE64"),
        ("k1=" + "A" * 43, "its ID must have"),
        (":" + b64encode(KEY).decode(), "its ID must have"),
        ("k.1:" + b64encode(KEY).decode(), "its ID must have"),
        ("k" * 33 + ":" + b64encode(KEY).decode(), "its ID must have"),
        ("k1:" + b64encode(KEY[1:]).decode(), "k1: must be the base64 of 32 bytes"),
        ("k1:" + b64encode(KEY + b"x").decode(), "k1: must be the base64 of 32 bytes"),
        ("k1:hunter2-hunter2", "openssl rand -base64 32"),
        (seal_keys(k1=KEY) + ",k1:" + b64encode(OLD_KEY).decode(), "number 2, its ID k1 occurs"),
        (seal_keys(k1=KEY) + ";" + seal_keys(k2=KEY), "k1: must be the base64"),
        (seal_keys(k1=KEY) + ",,", "number 2"),
    ],
)
def test_wrong_seal_keys_are_refused_at_the_start(text: str, words: str) -> None:
    with pytest.raises(ConfigError) as raised:
        Settings.from_environ({"STICH_SEAL_KEYS": text})
    assert str(raised.value).startswith("STICH_SEAL_KEYS must be")
    assert words in str(raised.value)
    for part in (b64encode(KEY).decode(), "hunter2"):
        assert part not in str(raised.value)


def test_seal_keys_are_not_shown() -> None:
    settings = Settings.from_environ(
        {"STICH_SEAL_KEYS": f" {seal_keys(a=KEY)} , {seal_keys(b=OLD_KEY)} "}
    )
    assert settings.seal_keys == {"a": KEY, "b": OLD_KEY}
    assert "seal" not in repr(settings)
    assert Settings.from_environ({"STICH_SEAL_KEYS": ""}).seal_keys == {}
