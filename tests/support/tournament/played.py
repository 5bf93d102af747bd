"""Cups and runs without HTTP: bots are objects, and matches are played one after the other."""

import io
import json
import random
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.tournament.memory_run import run_of
from tournament.bot.protocol import NOTHING, Choice, Info
from tournament.bot.url_bot import Failure, Player
from tournament.config.cup import Bot, Clock, Cup
from tournament.formats import FORMATS, Block, Plan
from tournament.formats.scores import Scores
from tournament.formats.seeds import commitment
from tournament.match.match import Match, MatchObserver, Referee, Rules
from tournament.model import Present, Run
from tournament.paths import STORE_FILE
from tournament.records import Answer, FaultKind, MatchRecord, Pairing
from tournament.results.files.export import export
from tournament.store.reader import StoreReader
from tournament.store.store import Store

MATCH_KEY = "2026-spring"


@dataclass
class Dice(Player):
    """A bot that plays at random, records requests, and fails in `faulty` percent of them."""

    name: str
    faulty: int = 0
    url: str = "http://127.0.0.1:9"
    info: Info = NOTHING
    fallback: str | None = None

    def __post_init__(self) -> None:
        self.random = random.Random(0)
        self.asked: list[dict[str, Any]] = []

    def move(self, body: bytes, seconds: float) -> Choice | Failure:
        request = json.loads(body)
        self.asked.append(request)
        self.random.seed(f"{self.name} {request['match']} {request['turn']}")
        elapsed_s = 0.001 + self.random.random() / 100
        if self.random.randrange(100) < self.faulty:
            kind = self.random.choice([FaultKind.TIMEOUT, FaultKind.UNREACHABLE, FaultKind.INVALID])
            return Failure(kind, f"{kind} by plan", elapsed_s, Answer())
        if self.random.randrange(100) < self.faulty:
            return Choice("play:nonsense", elapsed_s)
        return Choice(self.random.choice(request["moves"]), elapsed_s, self.info, self.fallback)

    def answer(self) -> Answer:
        return Answer(200, "", '{"move": "play:nonsense"}', 25)


def cup(
    names: Sequence[str] = ("ann", "bob", "cat"),
    *,
    deals: int = 2,
    seating: str = "rotations",
    format: str = "round-robin",
    **fields: Any,
) -> Cup:
    """A cup of these bots. Keys that the format needs have a value."""
    keys: dict[str, dict[str, Any]] = {name: {"deals": deals} for name in FORMATS}
    keys["ladder"] = {}
    keys["swiss"]["rounds"] = 2
    keys["gauntlet"]["challenger"] = names[0]
    bots = tuple(Bot(name, command="x") for name in names)
    kind = FORMATS[format](seating=seating, **keys[format])
    usual: dict[str, Any] = {"game": "doudizhu", "players": 3, "seed": MATCH_KEY, "format": kind}
    return Cup(name="Test cup", bots=bots, **usual | fields)


def plan(of: Cup) -> Plan:
    return of.plan(of.seed or "", MATCH_KEY)


def first_block(of: Cup) -> Block:
    """The first block of a cup."""
    rounds = plan(of).rounds(Run(cup=of, finished=False), Scores(run_of([])))
    return next(iter(next(rounds).blocks))


def rules(of: Cup) -> Rules:
    return Rules(of.game, of.players, of.options, of.clock, of.strikes)


def played(
    of: Cup,
    faulty: dict[str, int] | None = None,
    scores: Scores | None = None,
    player: Callable[[str, int], Player] = Dice,
) -> Iterable[MatchRecord]:
    """Play the matches of a cup in order, with bots that fail in `faulty` percent of requests."""
    rounds = plan(of).rounds(Run(cup=of, finished=False), scores or Scores(run_of([])))
    for block in (block for part in rounds for block in part.blocks):
        for number, seating in enumerate(block.seatings):
            bots = [player(name, (faulty or {}).get(name, 0)) for name in seating]
            yield Match(rules(of), block.pairing(number), Referee(), bots).play()


def run(folder: Path, of: Cup, faulty: dict[str, int] | None = None) -> Store:
    """The open store of a finished run of a cup."""
    store = unfinished(folder, of)
    for record in played(of, faulty, Scores(store)):
        store.add(record)
    store.finish(plan(of).places(store.run(), Scores(store)))
    return store


def unfinished(
    folder: Path, of: Cup, records: Iterable[MatchRecord] = (), present: Present | None = None
) -> Store:
    """The open store of a run under way with these matches."""
    store = Store.create(folder)
    seed = of.seed or ""
    store.begin(of, seed, MATCH_KEY, commitment(seed) if of.commit else None, plan(of).matches)
    if present is not None:
        store.show(present)
    for record in records:
        store.add(record)
    return store


def change(folder: Path, statements: str) -> None:
    """Change the rows of a run's store in SQL, as another of the user's programs could."""
    with sqlite3.connect(folder / STORE_FILE) as database:
        database.executescript(statements)
    database.close()


def exported(store: StoreReader, format: str) -> list[dict[str, Any]]:
    """The rows of an export, or its lines."""
    out = io.BytesIO()
    export(store, format, out, text=True)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def match(
    bots: Sequence[Player],
    referee: Referee | None = None,
    observer: MatchObserver | None = None,
    **fields: Any,
) -> MatchRecord:
    """Play a match of three bots outside of any cup, under rules with these fields."""
    usual: dict[str, Any] = {"game": "doudizhu", "players": 3, "options": {}, "clock": Clock()}
    pairing = Pairing.alone("m", ("ann", "bob", "cat"), "seed")
    seen = observer or MatchObserver()
    return Match(Rules(**usual | fields), pairing, referee or Referee(), bots, observer=seen).play()
