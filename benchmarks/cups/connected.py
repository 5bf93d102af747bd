"""Moves of a connecting bot, compared with those of the same bot by URL."""

import json
import statistics
import tempfile
import threading
from contextlib import closing
from pathlib import Path

from benchmarks.figures import Figure, Section
from stich.processes import find_port, gateway_served
from tools import hostile
from tournament.bot.client import dial_url
from tournament.bot.launch import LaunchSettings
from tournament.bot.protocol import Choice
from tournament.bot.started_bot import reach
from tournament.bot.url_bot import HttpBot
from tournament.config.cup import Bot, Cup, Limits
from web.gateway.connector import Connector
from web.gateway.invitations import Invitations

MOVES = 1500
AIM_MS = 2.0


def sections() -> list[Section]:
    """The time of a move over the gateway, in turns with that of the same bot by URL."""
    body = json.dumps({"match": "m", "turn": 1, "moves": ["pass"], "view": "x" * 3000}).encode()
    cup = Cup("Cup", "doudizhu", 3, (Bot("bot", connect=True),))
    with tempfile.TemporaryDirectory() as folder, hostile.running(hostile.first) as url:
        port = find_port("127.0.0.1", 0)
        with gateway_served("127.0.0.1", port, folder, cup, "stich invite", "127.0.0.1") as server:
            token = Invitations(Path(folder)).invite("bot", 1)
            connected = threading.Event()
            played = reach(Bot("bot", url=url), LaunchSettings(Limits(), 60_000))
            connector = Connector(
                f"http://127.0.0.1:{port}", token, [played], lambda _: connected.set()
            )
            threading.Thread(target=connector.run, daemon=True).start()
            connected.wait()
            gateway = server.url_of("bot")
            with (
                closing(HttpBot(gateway, dial_url(gateway))) as remote,
                closing(HttpBot(url, dial_url(url))) as local,
            ):
                over: list[float] = []  # in ms, as the next
                direct: list[float] = []
                for _ in range(MOVES):
                    for bot, times in ((remote, over), (local, direct)):
                        outcome = bot.move(body, 60)
                        if not isinstance(outcome, Choice):
                            raise RuntimeError(outcome.detail)
                        times.append(outcome.elapsed_s * 1000)
            server.end()
    extra = statistics.median(a - b for a, b in zip(over, direct, strict=True))
    ours, peers = statistics.median(over), statistics.median(direct)
    figures = [
        Figure.less("median of the differences", extra, "limit", AIM_MS, "ms", 1),
        Figure.less("a move, median", ours, "the same bot by URL", peers, "ms"),
    ]
    how = (
        f"{MOVES} moves of a bot through the gateway and `stich connect`, on one machine, each"
        " followed by a move of the same bot by URL."
    )
    return [Section("Bots that connect", how, figures)]
