"""How many tables are played at once."""

from dataclasses import replace

from tournament.config import Bot, Cup, Format, Run
from tournament.run.local_executor import tables_at_once


def seated(url: str | None, players: int, bots: int, **run: int) -> Cup:
    seats = tuple(Bot(f"b{at}", command="x") for at in range(1, bots))
    first = Bot("b0", url=url, max_matches=2) if url else Bot("b0", command="x")
    return Cup("c", "doudizhu", players, (first, *seats), run=Run(concurrency=run["concurrency"]))


def test_a_bot_by_url_that_sits_everywhere_bounds_the_tables() -> None:
    url = "http://127.0.0.1:1"
    assert tables_at_once(seated(None, 3, 5, concurrency=8), 10) == 8
    assert tables_at_once(seated(None, 3, 5, concurrency=8), 3) == 3
    assert tables_at_once(seated(url, 3, 5, concurrency=8), 10) == 8
    assert tables_at_once(seated(url, 3, 3, concurrency=8), 10) == 2
    gauntlet = Format(type="gauntlet", challenger="b0")
    assert tables_at_once(replace(seated(url, 3, 5, concurrency=8), format=gauntlet), 10) == 2
