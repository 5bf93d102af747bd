"""Runs in a store without HTTP: bots are objects, and the runner plays the matches."""

import io
import json
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.memory_run import MemoryRun
from tournament.bot.url_bot import Choice, Failure, Player
from tournament.config.cup import Bot, Clock, Cup, Format
from tournament.formats import Schedule, make_schedule
from tournament.formats.commitment import commitment
from tournament.formats.round_scores import RoundScores
from tournament.match.match import Match, Observer, Rules
from tournament.match.referee import Referee
from tournament.records import Answer, FaultKind, MatchRecord, Pairing
from tournament.results.export import export
from tournament.store.reader import StoreReader
from tournament.store.store import Store

MATCH_KEY = "2026-spring"


@dataclass
class Dice(Player):
    """A bot that plays at random, fails in `faulty` percent of the requests, and keeps them all."""

    name: str
    faulty: int = 0
    url: str = "http://127.0.0.1:9"

    def __post_init__(self) -> None:
        self.random = random.Random(0)
        self.asked: list[dict[str, Any]] = []

    def move(self, body: bytes, seconds: float) -> Choice | Failure:
        asked = json.loads(body)
        self.asked.append(asked)
        self.random.seed(f"{self.name} {asked['match']} {asked['turn']}")
        elapsed_s = 0.001 + self.random.random() / 100
        if self.random.randrange(100) < self.faulty:
            kind = self.random.choice([FaultKind.TIMEOUT, FaultKind.UNREACHABLE, FaultKind.INVALID])
            return Failure(kind, f"{kind} by plan", elapsed_s, Answer())
        if self.random.randrange(100) < self.faulty:
            return Choice("play:nonsense", elapsed_s)
        return Choice(self.random.choice(asked["moves"]), elapsed_s)

    def answer(self) -> Answer:
        return Answer(200, "", '{"move": "play:nonsense"}', 25)


def cup(
    names: Sequence[str] = ("ann", "bob", "cat"),
    *,
    game: str = "doudizhu",
    players: int = 3,
    deals: int = 2,
    options: dict[str, Any] | None = None,
    seating: str = "rotations",
    commit: bool = False,
    format: str = "round-robin",
) -> Cup:
    return Cup(
        name="Test cup",
        game=game,
        players=players,
        seed="2026-spring",
        commit=commit,
        bots=tuple(Bot(name, command="x") for name in names),
        options=options or {},
        format=Format(
            type=format,
            deals=deals,
            seating=seating,
            rounds=2,
            challenger=names[0] if format == "gauntlet" else None,
        ),
        clock=Clock(),
    )


def schedule(of: Cup) -> Schedule:
    """The plan of this cup."""
    return make_schedule(of, of.seed or "", MATCH_KEY)


def rules(of: Cup) -> Rules:
    """Those of its matches."""
    return Rules(of.game, of.players, of.options, of.clock, of.strikes)


def played(
    of: Cup, faulty: dict[str, int] | None = None, scores: RoundScores | None = None
) -> Iterable[MatchRecord]:
    """The matches of a cup in order; `scores` is called between rounds."""
    plan = schedule(of)
    results = scores or RoundScores(MemoryRun({}, []))
    for block in (block for part in plan.rounds(results) for block in part.blocks):
        for number, seating in enumerate(block.seatings):
            bots = [Dice(name, (faulty or {}).get(name, 0)) for name in seating]
            yield Match(rules(of), block.pairing(number), Referee(), bots).play()


def run(folder: Path, of: Cup, faulty: dict[str, int] | None = None) -> Store:
    """A finished run of this cup; close the store."""
    store = unfinished(folder, of)
    for record in played(of, faulty, RoundScores(store)):
        store.add(record)
    places = schedule(of).places(RoundScores(store))
    store.put({"finished": True, "places": places, "total": store.count()})
    return store


def unfinished(folder: Path, of: Cup, records: Iterable[MatchRecord] = (), **more: object) -> Store:
    """A run of this cup under way, with these matches and more facts; close the store."""
    store = Store.create(folder)
    store.put({**facts(of), **more})
    for record in records:
        store.add(record)
    return store


def exported(store: StoreReader, format: str) -> list[dict[str, Any]]:
    """The rows of an export."""
    out = io.BytesIO()
    export(store, format, out, text=True)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def facts(of: Cup) -> dict[str, Any]:
    return {
        "config": of.to_dict(),
        "total": schedule(of).matches,
        "seed": of.seed,
        "match_key": MATCH_KEY,
        "commitment": commitment(of.seed or "") if of.commit else None,
        "finished": False,
    }


def match(
    bots: Sequence[Player],
    game: str = "doudizhu",
    options: Mapping[str, Any] | None = None,
    clock: Clock | None = None,
    strikes: int = 3,
    referee: Referee | None = None,
    observer: Observer | None = None,
) -> MatchRecord:
    """A match of three bots that belongs to no cup."""
    rules = Rules(game, 3, options or {}, clock or Clock(), strikes)
    pairing = Pairing.alone("m", ("ann", "bob", "cat"), "seed")
    seen = observer or Observer()
    return Match(rules, pairing, referee or Referee(), bots, observer=seen).play()
