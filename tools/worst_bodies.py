"""Large and unusual request bodies, good and bad, for the operations of the service."""

import json
from collections.abc import Iterator
from typing import Any

from flask.testing import FlaskClient

import games
from service.app import create_app
from service.schemas.fields import MAX_RESULTS, TOLERANCE
from service.settings import MEBIBYTE, Settings

OPERATIONS = ("start", "moves", "validate", "advance", "view")

Body = tuple[str, str, bytes]
"""An operation, what is bad about the body, and the body."""

FLAT = {
    "numbers": "1",
    "large numbers": "12345678901234567890",
    "fractions": "0.1",
    "exponents": "1e308",
    "nulls": "null",
    "escaped strings": r'"\u0033\u0063"',
    "long strings": '"' + "x" * 2000 + '"',
    "lone surrogates": r'"\ud800"',
    "lists": "[]",
    "lists with much space": "[" + " " * 12 + "]",
    "objects": "{}",
    "objects with a field": '{"a":1,"b":2,"c":3,"d":4}',
    "entries": '{"seat":0,"move":"pass"}',
    "wrong entries": '{"seat":"0","move":0}',
}
"""Items for arrays, as JSON, by description."""


def array(item: str, size: int) -> str:
    """A JSON array of as many copies of `item` as fit into `size` bytes, at least one."""
    return "[" + ",".join([item] * max(1, size // (len(item) + 1))) + "]"


def fields(size: int, value: str = "0", name: str = "f%d") -> str:
    """The fields of a JSON object, with at least `size` bytes in total.

    A `%d` in `name` becomes the number of the field.
    """
    members: list[str] = []
    length = 0
    while length < size:
        key = name % len(members) if "%" in name else name
        members.append(f'"{key}":{value}')
        length += len(members[-1]) + 1
    return ",".join(members)


def anywhere(size: int) -> Iterator[tuple[str, str]]:
    """Yield bodies that are bad for every operation, as (what is bad, text)."""
    yield "unknown fields", "{" + fields(size) + "}"
    yield "unknown fields with long names", "{" + fields(size, name="x" * 900 + "%d") + "}"
    yield "one field again and again", "{" + fields(size, name="state") + "}"
    yield "escaped names", "{" + fields(size, name="\\u0061%d") + "}"
    yield "nesting", '{"a":' * (size // 5) + "1" + "}" * (size // 5)
    yield "nested arrays", "[" * (size // 2) + "]" * (size // 2)
    yield "nesting of 32 levels", '{"a":' + array("[" * 30 + "]" * 30, size) + "}"
    yield "a long string", '{"state":"' + "x" * size + '"}'
    yield "a long string of emoji", '{"state":"' + "🂡" * (size // 4) + '"}'
    yield "a long number", '{"state":' + "9" * size + "}"
    yield "long numbers", '{"state":' + array("9" * 4000, size) + "}"
    yield "a long fraction", '{"state":0.' + "9" * size + "}"
    yield "spaces", " " * size
    yield "broken at the end", '{"state":' + array('{"seat":0}', size) + "x"
    for name, item in FLAT.items():
        yield f"an array of {name}", array(item, size)
        yield f"an object with an array of {name}", '{"state":' + array(item, size) + "}"


def inside(value: dict[str, Any], size: int) -> Iterator[tuple[str, str]]:
    """Yield objects with unknown fields or one bad value, as (what is bad, text)."""
    text = json.dumps(value)
    yield "unknown fields within", text[:-1] + "," + fields(size) + "}"
    yield "a field repeated within", text[:-1] + "," + fields(size, name="deal") + "}"
    for name, old in value.items():
        if isinstance(old, dict):
            for kind, bad in inside(old, size):
                yield (
                    f"{name}: {kind}",
                    json.dumps({**value, name: 0})[:-1].replace(f'"{name}": 0', f'"{name}": {bad}')
                    + "}",
                )
            continue
        bad_values = {"a long string": '"' + "x" * size + '"', "a long number": "9" * size}
        if isinstance(old, list):
            bad_values |= {f"an array of {kind}": array(item, size) for kind, item in FLAT.items()}
            bad_values["arrays of cards"] = array(array('"3c"', 800), size)
            bad_values["arrays of nulls"] = array(array("null", 800), size)
            bad_values["arrays of numbers"] = array(array("0", 400), size)
            if old:
                bad_values["its items again"] = array(json.dumps(old[0]), size)
        for kind, bad in bad_values.items():
            changed = json.dumps({**value, name: "REPLACED"}).replace('"REPLACED"', bad)
            yield f"{name}: {kind}", changed


def position(name: str, players: int) -> games.State:
    """A state with at least one finished deal and eight moves of history."""
    state = games.get(name).start(players, "worst", {} if name == "zhengfen" else {"deals": 900})
    while not state.results or len(state.history) < 8:
        moves = state.moves()
        state = state.advance(moves[len(moves) // 2])
    return state


def long_game(wire: dict[str, Any]) -> dict[str, Any]:
    """The wire form of a state, with the highest limit on deals that its game allows."""
    deals = None if wire["game"] == "zhengfen" else 1000
    return {**wire, "options": {**wire["options"], "deals": deals}}


def with_position(size: int) -> Iterator[Body]:
    """Yield bodies with a state or a view that is partly bad or very long."""
    operations: dict[str, dict[str, Any]] = {
        "moves": {},
        "validate": {"move": "pass"},
        "advance": {"moves": ["pass"]},
        "view": {"seat": 0},
    }
    for game in games.GAMES.values():
        state = position(game.name, game.max_players)
        wire, view = state.to_dict(), state.view(0).to_dict()
        for kind, bad in inside(wire, size):
            yield "moves", f"{game.name} state, {kind}", f'{{"state":{bad}}}'.encode()
        private = {name: view[name] for name in view if name not in wire}
        for kind, bad in inside(private, size):
            whole = json.dumps({name: view[name] for name in view if name not in private})
            yield (
                "moves",
                f"{game.name} view, {kind}",
                f'{{"view":{whole[:-1]},{bad[1:]}}}'.encode(),
            )
        result = wire["results"][0]
        results = [result] * (size // len(json.dumps([result])))
        too_many = [0.0] * (len(result["scores"]) * TOLERANCE)
        long_results = [{**result, "scores": too_many}] * (size // len(json.dumps(too_many)) // 2)
        exponents = [{**result, "scores": [1e35] * len(result["scores"])}]
        entries = [{"seat": 0, "move": "x" * 900}] * 1000
        most = MAX_RESULTS if game.name == "zhengfen" else 1000
        for count, deal in ((len(results), 1), (most, 1.0), (most, 0)):
            long = {**long_game(wire), "results": results[:count], "deal": deal}
            body = json.dumps({"state": long}).encode()
            yield "moves", f"{game.name}, {count} results and deal {deal}", body
        for kind, part in {
            "long results": {"results": results[:most]},
            "long results with long scores": {"results": long_results[:most]},
            "long results with exponents": {"results": exponents * most},
            "a history of long moves": {"history": entries},
            "999 of them": {"history": entries[1:]},
        }.items():
            long = {**long_game(wire), **part}
            for operation, rest in operations.items():
                body = json.dumps({"state": long, **rest}).encode()
                yield operation, f"{game.name}, {kind}", body


def moves_of(size: int) -> Iterator[Body]:
    """Yield bodies with bad, long or very many moves."""
    for game in games.GAMES.values():
        state = game.start(None, "worst", {})
        wire = json.dumps(state.to_dict())
        played: list[str] = []
        many = state if game.name == "zhengfen" else game.start(None, "worst", {"deals": 1000})
        start = json.dumps(many.to_dict())
        while many.turn is not None and len(played) < 1000:
            moves = many.moves()
            played.append(str(moves[len(played) % 3 * (len(moves) - 1) // 2]))
            many = many.advance(played[-1])
        for kind, moves_ in {
            "passes": array('"pass"', size),
            "1,000 passes": json.dumps(["pass"] * 1000),
            "a long move": '["' + "play:" + "3c" * (size // 2) + '"]',
            "1,000 long moves": json.dumps(["play:" + "3c" * 490] * 1000),
            "empty moves": array('""', size),
            "wrong moves": array("0", size),
        }.items():
            body = f'{{"state":{wire},"moves":{moves_}}}'.encode()
            yield "advance", f"{game.name}, {kind}", body
        body = f'{{"state":{start},"moves":{json.dumps(played)}}}'.encode()
        yield "advance", f"{game.name}, {len(played)} legal moves", body
        for kind, move in {"a long move": "3c" * (size // 2), "a longest move": "3c" * 497}.items():
            body = f'{{"state":{wire},"move":"play:{move}"}}'.encode()
            yield "validate", f"{game.name}, {kind}", body


def starts(size: int) -> Iterator[Body]:
    """Yield bodies that are bad for starting a game."""
    for game in games.GAMES.values():
        start = {"game": game.name, "players": 3, "seed": "x", "options": {}}
        for kind, bad in inside(start, size):
            yield "start", f"{game.name}, {kind}", bad.encode()
        hashes = array('"' + "a" * 64 + '"', size)
        body = f'{{"game":"{game.name}","key_hashes":{hashes}}}'
        yield "sealed/start", f"{game.name}, hashes", body.encode()


def bodies(size: int = MEBIBYTE) -> Iterator[Body]:
    """Yield all bodies. Nearly all have at most `size` bytes."""
    for operation in OPERATIONS:
        for kind, text in anywhere(size - 2000):
            yield operation, kind, text.encode()[:size]
    yield from with_position(size - 20_000)
    yield from moves_of(size - 10_000)
    yield from starts(size - 2000)


def client() -> FlaskClient:
    """A test client for an application with a seal key."""
    return create_app(Settings(seal_keys={"1": bytes(32)})).test_client()
