"""A person's game in the browser: which cards light up, what the page sees, what is refused."""

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import reduce
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import requests
from flask.testing import FlaskClient

import games
from games import State
from stich.processes import find_port, pages_served
from tests.support.service.connections import connections
from tests.support.tournament.cups import bot as hostile
from tests.support.tournament.cups import toys, write
from tests.support.tournament.played import cup, run, unfinished
from tournament.bot.launch import LaunchSettings
from tournament.config.cup import Bot, Clock
from tournament.config.parse import read_cup
from tournament.display.replay import cards_of
from tournament.run.workers.local_executor import LocalExecutor
from tournament.run.workers.machine import PLAY_SHARE
from tournament.store.store import Store
from web.arena.app import create_app
from web.arena.play import games as browser_games
from web.arena.play.choices import Choices
from web.arena.play.game import BrowserGame
from web.arena.play.games import MAX_BOTS, AvailableBots

GAMES = [
    (game.name, n) for game in games.GAMES.values() for n in (game.min_players, game.max_players)
]


@contextmanager
def playing(store: Store | None = None, cup: Path | None = None) -> Iterator[FlaskClient]:
    app = create_app(store, cup=cup)
    try:
        yield app.test_client()
    finally:
        app.extensions["stich-play"].close()


def begun(client: FlaskClient, game: str, players: int = 3, *bots: str) -> str:
    data = {"game": game, "players": players, "bot": list(bots) or ["random"]}
    return client.post("/play", data=data).headers["Location"]


def my_turn(client: FlaskClient, path: str) -> dict[str, Any]:
    """The position once it is the person's turn or the game is over."""
    now: dict[str, Any] = client.get(f"{path}/position").get_json()
    while not now["asked"] and now["frames"][-1]["turn"] is not None:
        threading.Event().wait(0.002)  # the bots move in a thread
        now = client.get(f"{path}/position").get_json()
    return now


def game_at(client: FlaskClient, path: str) -> BrowserGame:
    game: BrowserGame = client.application.extensions["stich-play"].get(path.rpartition("/")[2])
    return game


def positions(game: str, players: int) -> Iterator[tuple[State, str]]:
    """Yield each position of a game of two deals in which somebody moves, and the move."""
    state = games.get(game).start(players, "two deals", {"deals": 2})
    while state.turn is not None:
        moves = state.moves().texts()
        yield state, moves[len(moves) // 2]
        state = state.advance(moves[len(moves) // 2])


@pytest.mark.parametrize(("game", "players"), GAMES)
def test_a_person_sees_what_to_do_and_with_which_cards(game: str, players: int) -> None:
    tasks = set[str]()
    for state, _ in positions(game, players):
        view = state.view(state.turn)
        choices, data = Choices(view), view.to_dict()
        tasks.add(choices.task)
        hand = set(data["hand"])
        if choices.verb in ("discard", "give"):
            (count,) = (int(word) for word in choices.task.split() if word.isdigit())
            together = data["hand"][:count]
            assert together[0] in choices.lit(together[1:])
            assert choices.moves(together)[0]
        elif choices.verb:
            leads = not data.get("table", data.get("trick"))
            assert choices.task.startswith("You lead") == leads
            plays = [set(cards_of(move.text)) for move in view.moves()]
            exact = {card for play in plays if play <= hand for card in play}
            lit = choices.lit([])
            assert exact <= set(lit)
            assert {card[0] for card in lit} <= {card[0] for card in exact}
            assert hand.issuperset(choices.lit(lit[:1]))
        else:
            assert choices.others
            assert not choices.lit([])
    assert "You lead: tap cards, then Play." in tasks
    assert ("Lay 4 cards away: tap them, then Discard." in tasks) == (game == "ninefivetwo")


@pytest.mark.parametrize(("game", "players"), GAMES)
def test_a_page_sees_every_move_as_its_seat_may(game: str, players: int) -> None:
    """Also the exchange and the discards of others in 9-5-2, which nobody else sees."""
    first, _ = next(positions(game, players))
    shown = BrowserGame(first, [Bot("toy", command="x")] * (players - 1), Clock())
    moves = list[tuple[int, str]]()
    for before, move in positions(game, players):
        state, seat = before.advance(move), before.turn
        assert seat is not None
        shown.moved(seat, move, forced=True)  # also for seat 0, the person's
        moves += list(state.view(0).history)[-1:] or [(seat, move)]
        (frame,) = shown.position(len(moves) - 1)["frames"]
        assert (frame["number"], frame["moves"][-1]) == (len(moves), moves[-1])
        hand, *others = frame["hands"]
        counts = state.view(0).to_dict()["counts"]
        assert others == ["??" * count for count in counts[1:]]
        assert len(hand.replace(" ", "")) == 2 * counts[0]
        assert {move for move in frame["last"] if move} <= {text for _, text in moves}
    frames = shown.position(0)["frames"]
    assert [frame["number"] for frame in frames] == list(range(1, len(moves) + 1))[-300:]
    ended = [frame["ended"] for frame in frames if frame["ended"]]
    assert ended[-1]["scores"] == list(state.results[-1]["scores"])
    assert all(ended[-1]["hands"])
    assert len(shown.position()["frames"]) == 1
    assert shown.make_move("pass") == shown.choose([])["why"] == "It is not your turn."


def test_a_person_chooses_the_length_and_the_options() -> None:
    with playing() as client:
        assert client.get("/play").text.count('name="deals"') == 4
        chosen = {"game": "zhengfen", "target": "100", "deals": "", "bot": "random"}
        game = game_at(client, client.post("/play", data=chosen).headers["Location"])
        assert (game._state.options["target"], game._state.options["deals"]) == (100, None)
        for wrong in ("0", "many", "1" * 5000):
            answer = client.post("/play", data={"game": "dasan", "deals": wrong})
            assert answer.status_code == 400
            assert "Deals: choose a whole number from 1 to 1000." in answer.text


def test_what_is_no_game_and_no_choice_is_refused_and_says_why() -> None:
    bodies: list[object] = [None, [], {}]
    bodies += [{"cards": cards} for cards in ("2c", ["2c"] * 65, [2])]
    with playing() as client:
        path = begun(client, "ninefivetwo")
        now = my_turn(client, path)
        assert now["others"] == ["trump:c", "trump:d", "trump:h", "trump:s"]
        assert client.post(f"{path}/move", json={"move": "play:2c"}).get_json()["why"]
        answer = client.post(f"{path}/choose", json={"cards": ["2c", "3c"]}).get_json()
        assert (answer["moves"], bool(answer["why"])) == ([], True)
        assert client.post(f"{path}/move", json={"move": "trump:c"}).get_json() == {"why": ""}
        first = client.get(f"{path}/position?after={now['frames'][-1]['number']}").get_json()
        assert first["frames"][0]["moves"] == [[0, "trump:c"]]
        for body, call in product(bodies, ("choose", "move")):
            assert client.post(f"{path}/{call}", json=body).status_code == 400
        for data in ({"game": "chess"}, *({"game": "dasan", "players": n} for n in (9, "x", ""))):
            assert client.post("/play", data=data).status_code == 400, data
        assert "There is no such game." in client.get("/play/unknown").text
        # who plays alone has pages of this machine only
        for host, status in (("evil.example:8000", 403), ("127.0.0.1:8000", 200), ("[::1]", 200)):
            assert client.get("/play", headers={"Host": host}).status_code == status


def test_only_some_games_go_on_at_once() -> None:
    with playing() as client:
        for _ in range(MAX_BOTS // 5):
            begun(client, "zhengfen", 6)
        answer = client.post("/play", data={"game": "zhengfen", "players": 6})
        assert (answer.status_code, "try again" in answer.text) == (503, True)


def test_the_game_whose_bots_grow_too_large_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser_games, "_MEASURE_S", 0.0)
    with playing() as client:
        where = begun(client, "dasan")
        assert client.get(f"{where}/position").status_code == 200
        assert "the bots used too much memory" in client.get(where).text, "for its script to show"
        monkeypatch.setattr(AvailableBots, "memory_mb", 1.0)
        assert client.get(f"{where}/position").status_code == 404
        answer = client.post("/play", data={"game": "dasan"})
        assert (answer.status_code, "too much memory" in answer.text) == (503, True)


def test_bots_of_games_and_of_the_cup_share_its_memory(tmp_path: Path) -> None:
    path = write(tmp_path, toys(3), memory_mb=400)
    cup = read_cup(path)
    with closing(LocalExecutor(cup, LaunchSettings(cup.limits, 1), 2, 1 - PLAY_SHARE)) as tables:
        assert AvailableBots(path).memory_mb + 2 * tables.memory_mb == 400


def test_bodies_that_never_end_stop_no_page() -> None:
    port = find_port("127.0.0.1", 0)
    head = b"POST /play HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 100\r\n\r\ngame="
    with pages_served("127.0.0.1", port), connections(port, 40, head):
        assert requests.get(f"http://127.0.0.1:{port}/play", timeout=60).status_code == 200


def test_bots_of_the_cup_play_its_game_with_its_options(tmp_path: Path) -> None:
    bots = {"</option>": hostile("toy-0"), "greedy": hostile("toy-1"), "far": "http://127.0.0.1:1"}
    bots["secret"] = "false --password x"
    lines = ('[format] type = "gauntlet"', '[format] challenger = "far"', "[options]\ndeals = 2")
    path = write(tmp_path, bots, *lines)
    with unfinished(tmp_path / "run", read_cup(path)) as store, playing(store, path) as client:
        page = client.get("/play").text
        assert page.count('value="cup:greedy"') == 2, "for one game, for two seats"
        assert "&lt;/option&gt;" in page
        assert "cup:far" not in page
        for game, chosen, names in (
            ("doudizhu", ["cup:greedy", "greedy"], ["you", "greedy", "greedy (reference)"]),
            ("doudizhu", ["cup:far", "cup:</option>"], ["you", "1. </option>", "2. </option>"]),
            ("dasan", ["cup:greedy"], ["you", "sensible", "greedy (reference)"]),
        ):
            where = begun(client, game, 3, *chosen)
            assert game_at(client, where).names == names
            if game == "doudizhu":
                assert game_at(client, where)._state.options["deals"] == 2
                my_turn(client, where)
        answer = client.post("/play", data={"game": "doudizhu", "bot": "cup:secret"})
    assert (answer.status_code, "does not start; choose another" in answer.text) == (503, True)
    assert "password" not in answer.text


def test_a_person_plays_on_from_any_move_of_a_finished_match(tmp_path: Path) -> None:
    with run(tmp_path, cup(deals=1)) as store, playing(store) as client:
        record = next(iter(store.matches()))
        path = f"/matches/{record.match}"
        assert f'action="{path}/play"' in client.get(path).text
        last = len(record.moves) - 1
        for move, seat in ((0, 0), (last // 2, 2), (last, 1)):
            answer = client.post(f"{path}/play", data={"move": move, "seat": seat})
            where = answer.headers["Location"]
            assert game_at(client, where).names.index("you") == seat
            state = games.get(record.game).start(record.players, record.seed, record.options)
            state = reduce(lambda state, text: state.advance(text), record.moves[:move], state)
            first = client.get(f"{where}/position?after=-1").get_json()
            assert first["own"] == seat
            shown = first["frames"][0]["hands"][seat].replace(" ", "")
            assert shown == "".join(state.view(seat).to_dict()["hand"])
            my_turn(client, where)
        for wrong in ((-1, 0), (last + 1, 0), ("x", 0), (0, 3), (0, "x")):
            form = dict(zip(("move", "seat"), wrong, strict=True))
            answer = client.post(f"{path}/play", data=form)
            assert (answer.status_code, "choose" in answer.text) == (404, True)
        answer = client.post("/matches/none/play", data={"move": 0, "seat": 0})
        assert "There is no finished match" in answer.text
    with playing() as alone:
        assert alone.post("/matches/none/play").status_code == 404
