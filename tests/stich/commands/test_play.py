"""`stich play`: what a person sees, types, and reads."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

import games
from games import State
from stich.commands.play import play
from stich.console import play_screen as screen
from stich.console.cards import card, cards, move_text
from stich.console.play_screen import InputError, Menu
from stich.processes import find_port
from tests.tournament.check.misbehaving import Call, honest, only_move, running, says
from tournament.bot.supports import everything
from tournament.check.positions import questions
from tournament.config.arguments import fill_seats
from web.ui.replay import cards_of


def started(name: str, players: int | None = None, seed: str = "play") -> State:
    return games.get(name).start(players, seed, {})


def sat_down(*arguments: str, typed: str = "") -> Result:
    """The command, against a bot in this process unless the arguments name one."""
    with running(honest) as url:
        bots = () if "--with" in arguments else ("--with", url)
        words = [*arguments, *bots, "--seed", "play", "--move-ms", "600000"]
        if "--move-ms" in arguments:
            words = words[:-2]
        return CliRunner().invoke(play, words, input=typed)


def drawn(renderable: object, width: int = 200) -> str:
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(renderable)
    return capture.get()


# the menu


def lead() -> State:
    """Three-player Dou Dizhu, the declarer to lead."""
    state = started("doudizhu")
    return state.advance("bid:3")


def test_the_menu_has_every_move_once_by_its_number() -> None:
    state = lead()
    moves = state.moves()
    menu = Menu(state.view(state.turn or 0))
    listed = {n: move for group in menu.groups().values() for n, move in group.items()}
    assert [listed[number].text for number in sorted(listed)] == moves.texts()
    for title, group in menu.groups().items():
        assert {move.category for move in group.values()} == {title}


def test_a_move_is_chosen_by_number_string_or_cards() -> None:
    state = lead()
    menu = Menu(state.view(state.turn or 0))
    first = state.moves()[0]
    card = cards_of(first.text)[0]
    for typed in ("1", first.text, card, card.upper(), f" {card[0]} {card[1]} "):
        assert menu.choose(typed).text == first.text


@pytest.mark.parametrize("typed", ["0", "-1", "1000", "9" * 50, "two", "", "play:9c9c", "²"])
def test_what_is_no_move_gets_a_sentence(typed: str) -> None:
    state = lead()
    menu = Menu(state.view(state.turn or 0))
    with pytest.raises(InputError, match=r"\.$"):
        menu.choose(typed)


def test_cards_alone_mean_what_the_phase_is_about() -> None:
    state = started("ninefivetwo").advance("trump:h")
    card = state.view(0).to_dict()["hand"][0]
    assert Menu(state.view(0)).choose(card).text == f"discard:{card}"


def test_moves_of_a_kind_are_found_by_its_beginning() -> None:
    state = lead()
    menu = Menu(state.view(state.turn or 0))
    assert set(menu.groups("pair")) <= {"pair", "pair-run"}
    with pytest.raises(InputError, match="There are no legal moves of the kind 'nothing'"):
        menu.groups("nothing")


# the screen


@pytest.mark.parametrize("name", games.GAMES)
def test_positions_of_every_phase_are_drawn_and_show_the_own_hand(name: str) -> None:
    for question in questions(everything(name), 26):
        view = question.position.view(question.view["seat"]).to_dict()
        names = [f"player {seat}" for seat in range(question.position.players)]
        text = drawn(screen.position(view, names, "Title"))
        assert drawn(cards(view["hand"])).strip() in text
        drawn(screen.history(view, names))
        drawn(screen.menu(Menu(question.position.view(view["seat"])).groups()))
        for result in view["results"]:
            assert f"Deal {result['deal']} is over" in drawn(screen.result(result, names))


def test_the_name_of_a_bot_is_no_markup() -> None:
    names = ["you", "[b]bot[/b]", "[/x]"]
    view = games.get("doudizhu").start(3, "seed", {}).view(0).to_dict()
    assert all(name in drawn(screen.seats(view, names)) for name in names)


@pytest.mark.parametrize(
    ("move", "words"),
    [
        ("pass", "pass"),
        ("discard:??", "discard 1 hidden card"),
        ("give:3h????", "give 3♥ 2 hidden cards"),
        ("bid:2", "bid 2"),
        ("trump:s", "trumps are ♠"),
        ("call:Th", "call 10♥"),
        ("play:3s3hRj", "3♠ 3♥ red-joker"),
        ("play:5s6s7sBjRj=flush", "5♠ 6♠ 7♠ black-joker red-joker as flush"),
    ],
)
def test_moves_in_words(move: str, words: str) -> None:
    assert drawn(move_text(move)).strip() == words


def test_long_groups_are_cut_and_say_how_to_see_the_rest() -> None:
    state = started("zhengfen", 3)
    groups = Menu(state.view(state.turn or 0)).groups()
    biggest = max(groups, key=lambda title: len(groups[title]))
    more = len(groups[biggest]) - screen.MAX_SHOWN
    assert more > 0
    assert f"and {more} more: /{biggest}" in drawn(screen.menu(groups))
    assert "more: /" not in drawn(screen.menu(groups, limit=None))


def test_the_number_of_a_choice_cannot_be_taken_for_its_bid() -> None:
    state = started("doudizhu").advance("bid:1")
    bids = screen.menu(Menu(state.view(state.turn or 0)).groups())
    assert [line.strip() for line in drawn(bids).splitlines()] == ["1) pass", "2) bid 2   3) bid 3"]


@pytest.mark.parametrize("name", ["zhengfen", "doudizhu"])
def test_the_cards_of_a_choice_stand_apart(name: str) -> None:
    position = next(
        each.position for each in questions(everything(name), 26) if len(each.moves) > 20
    )
    groups = Menu(position.view(position.turn or 0)).groups()
    shown = drawn(screen.menu(groups, limit=None))
    for group in groups.values():
        for number, move in group.items():
            if "=" not in move.text:
                assert f"{number}) {drawn(move_text(move.text)).strip()}" in shown


# the command


@pytest.mark.parametrize("name", games.GAMES)
def test_a_whole_game(name: str) -> None:
    result = sat_down(name, "--option", "deals=1", typed="1\n" * 300)
    assert result.exit_code == 0, result.output
    assert "Deal 1 is over: " in result.output or "Deal 10 is over: " in result.output
    assert "The game is over. Winner" in result.output


def test_the_persons_screen_hides_what_the_seat_may_not_know() -> None:
    result = sat_down("ninefivetwo", "--seat", "1", "--option", "deals=1", typed="1\n" * 40)
    assert " (0): discard 1 hidden card\n" in result.output
    assert "discard" in result.output
    state = started("ninefivetwo", seed="play")
    others = {held for seat in (0, 2) for held in state.view(seat).to_dict()["hand"]}
    before = result.output.partition("your move")[0]
    shown = {drawn(card(name)).strip() for name in others}
    words = set(before.replace("\n", " ").split())
    played = {word for line in before.splitlines() if line.startswith("http") for word in line}
    assert not (shown & words) - played


def test_help_history_search_and_mistakes() -> None:
    typed = "?\nh\n/bid\n/nothing\n\nplay:3c\nwhat\np\nq\n"
    result = sat_down("doudizhu", "--seat", str(started("doudizhu").turn), typed=typed)
    assert result.exit_code == 0
    for words in (
        "suits are c ♣",
        "Nobody has moved in this deal.",
        "There are no legal moves of the kind 'nothing'.",
        "'what' is not a move",
        "you: pass",
        "You quit. To play the same deal, add --seed play.",
    ):
        assert words in result.output


def test_the_end_of_input_is_a_polite_end() -> None:
    result = sat_down("dasan")
    assert result.exit_code == 0
    assert "You quit." in result.output
    assert "Traceback" not in result.output


def test_enter_makes_the_only_move() -> None:
    game = games.get("dasan")
    state = game.start(3, "play", {})
    first = state.turn
    result = sat_down("dasan", "--seat", str(first), typed="\nq\n")
    assert "you: bid 1" in result.output


def test_a_bot_that_fails_again_and_again_is_struck_out_and_left_alone() -> None:
    asked: list[str] = []

    def act(call: Call) -> None:
        asked.append(call.path)
        only_move(lambda call: call.send(b"null"))(call)

    with running(act) as url:
        arguments = ["--with", url, "--with", "greedy", "--option", "deals=3"]
        result = sat_down("dasan", *arguments, typed="1\n" * 90)
    words = " ".join(result.output.split())
    assert "The game is over." in words
    assert words.count("failed; a default move is played") == 3
    assert words.count("That was strike 3 of 3: it is not asked again in this game.") == 1
    assert words.index("strike 3 of 3") > words.rindex("failed; a default move is played")
    assert asked == ["/start", "/move", "/move", "/move"]


def test_a_bot_knows_one_game_from_the_next() -> None:
    requests: list[tuple[str, dict[str, Any]]] = []

    def act(call: Call) -> None:
        requests.append((call.path, json.loads(call.body)))
        honest(call)

    with running(act) as url:
        for _ in range(2):
            arguments = ["--with", url, "--with", "greedy", "--option", "deals=1"]
            result = sat_down("dasan", *arguments, typed="1\n" * 60)
            assert "The game is over." in result.output
    matches = [body["match"] for _, body in requests]
    assert len(set(matches)) == 2
    assert [path for path, _ in requests if path != "/move"] == ["/start", "/end"] * 2


def test_a_bot_that_is_not_running() -> None:
    url = f"http://127.0.0.1:{find_port('127.0.0.1', 0)}"
    result = sat_down("dasan", "--with", url)
    assert result.exit_code == 1
    assert f"{url}: nothing accepts connections at {url} (Connection refused)" in result.output


def test_a_command_that_does_not_start(tmp_path: Path) -> None:
    program = tmp_path / "bot.py"
    program.write_text("raise SystemExit('no cards today')")
    command = shlex.join([sys.executable, str(program)])
    result = sat_down("dasan", "--with", command)
    assert result.exit_code == 1
    assert "no cards today" in result.output


def test_bots_sit_down_in_turn() -> None:
    assert fill_seats([], 3) == ["sensible", "greedy", "sensible"]
    assert fill_seats(["a", "b", "c"], 5) == ["a", "b", "c", "a", "b"]


def test_as_many_seats_as_bots_are_named() -> None:
    result = sat_down("zhengfen", "--with", "greedy", "--with", "random", "--with", "greedy")
    assert "Zheng Fen, 4 players." in result.output
    assert "random (2)" in result.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["skat"], "'skat' is not one of"),
        (["dasan", "--players", "7"], "players"),
        (["dasan", "--seat", "3"], "0 to 2"),
        (["dasan", "--seat", "-1"], "0 to 2"),
        (["dasan", "--option", "deals"], "NAME=VALUE"),
        (["dasan", "--option", "deals=many"], "must be a number"),
        (["dasan", "--option", "deals=0"], "options.deals"),
        (["dasan", "--option", "nothing=1"], "options.nothing"),
        (["ninefivetwo", *["--with", "greedy"] * 3], "3 bots are too many"),
        (["dasan", "--with", "http://localhost:1/", "--move-ms", "0"], "--move-ms"),
        (["dasan", "--with", "python 'bot.py"], "cannot be split into words"),
        (["dasan", "--with", ""], "A bot is a URL, a command, or one of"),
    ],
)
def test_a_wrong_command_line(arguments: list[str], words: str) -> None:
    result = sat_down(*arguments)
    assert result.exit_code == 2
    assert words in result.output


def test_a_bot_cannot_write_on_the_terminal() -> None:
    colours = says(b'{"move": "pass"}', "200 OK", "Content-Encoding: \x1b[31mred")
    with running(colours) as url:
        result = sat_down("dasan", "--with", url, typed="1\n" * 3)
    assert "not HTTP" in " ".join(result.output.split())
    assert "\x1b[31m" not in result.output
