"""A person's game in the browser: whole games by the pages' own requests, and what is refused."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from flask.testing import FlaskClient

import games
from arena.app import create_app
from arena.play.choices import Choices
from arena.play.game import MAX_GAMES
from tournament.play.menu import cards_of

GAMES = [
    (game.name, n) for game in games.GAMES.values() for n in (game.min_players, game.max_players)
]


@contextmanager
def playing() -> Iterator[FlaskClient]:
    app = create_app(None)
    try:
        yield app.test_client()
    finally:
        app.extensions["stich-play"].close()


def begun(client: FlaskClient, game: str, players: int = 3) -> str:
    answer = client.post("/play", data={"game": game, "players": players, "bot": "random"})
    assert answer.status_code == 303, answer.text
    return answer.headers["Location"]


def my_turn(client: FlaskClient, path: str) -> dict[str, object]:
    """The position once it is the person's turn or the game is over."""
    for _ in range(100_000):
        now: dict[str, object] = client.get(f"{path}/position").get_json()
        turn = now["position"]["turn"]  # type: ignore[index]
        if turn in (0, None):
            return now
        threading.Event().wait(0.002)  # the bots move in a thread
    raise AssertionError("the bots do not move")


@pytest.mark.slow
@pytest.mark.parametrize("game", games.GAMES)
def test_a_whole_game_by_lit_cards(game: str) -> None:
    with playing() as client:
        path = begun(client, game)
        rules = games.get(game)
        while (now := my_turn(client, path))["position"]["turn"] is not None:  # type: ignore[index]
            text = now["others"][-1] if now["others"] else None  # type: ignore[index]
            chosen: list[str] = []
            lit = now["lit"]
            while (lit and text is None) or (lit and not chosen):
                chosen.append(lit[0])  # type: ignore[index]
                found = client.post(f"{path}/choose", json={"cards": chosen}).get_json()
                text, lit = (found["moves"] or [text])[0], found["lit"]
            answer = client.post(f"{path}/move", json={"move": text}).get_json()
            assert answer["why"] == "", (text, answer["why"])
        assert len(now["position"]["scores"]) == rules.min_players  # type: ignore[index]


@pytest.mark.parametrize(("game", "players"), GAMES)
def test_every_card_of_a_legal_play_lights_up_and_no_other(game: str, players: int) -> None:
    state = games.get(game).start(players, "lit", {})
    for _ in range(30):
        if state.turn is None:
            break
        view = state.view(state.turn)
        choices = Choices(view)
        hand = set(view.to_dict()["hand"])
        plays = [set(cards_of(move.text)) for move in view.moves()]
        exact = {card for play in plays if play <= hand for card in play}
        lit = set(choices.lit([]))
        assert exact <= lit
        ranks = {card[0] for card in exact}
        assert all(card[0] in ranks for card in lit)
        if lit:
            first = sorted(lit)[0]
            for card in choices.lit([first]):
                assert card in hand
        moves = view.moves()
        state = state.advance(moves[len(moves) // 2])


def test_an_illegal_choice_says_why() -> None:
    with playing() as client:
        path = begun(client, "ninefivetwo")
        now = my_turn(client, path)
        assert now["others"] == ["trump:c", "trump:d", "trump:h", "trump:s"]
        answer = client.post(f"{path}/move", json={"move": "play:2c"}).get_json()
        assert answer["why"]
        answer = client.post(f"{path}/choose", json={"cards": ["2c", "3c"]}).get_json()
        assert not answer["moves"]
        assert answer["why"]


@pytest.mark.parametrize(
    "body", [None, [], {}, {"cards": "2c"}, {"cards": ["2c"] * 65}, {"cards": [2]}]
)
def test_requests_that_are_no_choice_are_refused(body: object) -> None:
    with playing() as client:
        path = begun(client, "dasan")
        assert client.post(f"{path}/choose", json=body).status_code == 400
        assert client.post(f"{path}/move", json=body).status_code == 400


def test_what_cannot_begin_is_refused_with_a_sentence() -> None:
    with playing() as client:
        for data in ({"game": "chess"}, {"game": "dasan", "players": 9}):
            assert client.post("/play", data=data).status_code == 400
        assert client.get("/play/unknown").status_code == 404
        evil = {"Sec-Fetch-Site": "cross-site"}
        assert client.post("/play", data={"game": "dasan"}, headers=evil).status_code == 403


def test_only_some_games_go_on_at_once() -> None:
    with playing() as client:
        app_games = client.application.extensions["stich-play"]
        app_games._games.update({str(n): _Left() for n in range(MAX_GAMES)})
        answer = client.post("/play", data={"game": "dasan"})
        assert answer.status_code == 503
        assert "try again" in answer.text


class _Left:
    seen = float("inf")

    def close(self) -> None:
        pass
