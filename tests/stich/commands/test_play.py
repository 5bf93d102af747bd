import re

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

import games
from games import State
from stich.commands.play import play
from stich.console import screens
from stich.console.screens import card
from tests.support.bots.misbehaving import honest, running, says
from tournament.display.replay import cards_of


def started(name: str) -> State:
    return games.get(name).start(3, "play", {})


def sat_down(*arguments: str, typed: str = "") -> Result:
    """The command, against a bot in this process unless the arguments name one."""
    with running(honest) as url:
        bots = () if "--with" in arguments else ("--with", url)
        words = [*arguments, *bots, "--seed", "play", "--move-ms", "600000"]
        return CliRunner().invoke(play, words, input=typed)


def drawn(renderable: object) -> str:
    console = Console(width=200, color_system=None)
    with console.capture() as capture:
        console.print(renderable)
    return capture.get()


LEADER = started("doudizhu").advance("bid:3").view(1)


def test_a_move_is_chosen_by_number_string_or_cards() -> None:
    moves = LEADER.moves().texts()
    groups = screens.groups(LEADER.moves()).values()
    numbered = {number: move.text for group in groups for number, move in group.items()}
    assert [numbered[number] for number in range(1, len(moves) + 1)] == moves
    card = cards_of(moves[0])[0]
    for typed in ("1", moves[0], card, card.upper(), f" {card[0]} {card[1]} "):
        assert screens.choose(LEADER, typed).text == moves[0]
    view = started("ninefivetwo").advance("trump:h").view(0)
    held = view.to_dict()["hand"][0]
    assert screens.choose(view, held).text == f"discard:{held}"  # what its phase is about


@pytest.mark.parametrize("typed", ["0", "-1", "1000", "9" * 50, "two", "", "play:9c9c", "²"])
def test_what_is_no_move_gets_a_sentence(typed: str) -> None:
    with pytest.raises(screens.InputError, match=r"\.$"):
        screens.choose(LEADER, typed)


def test_the_name_of_a_bot_is_no_markup() -> None:
    names = ["you", "[b]bot[/b]", "[/x]"]
    shown = drawn(screens.position(started("doudizhu").view(0).to_dict(), names, "Dou Dizhu"))
    assert all(text in shown for text in (*names, "Dou Dizhu, deal 1, auction"))


def test_long_groups_are_cut_and_say_how_to_see_the_rest() -> None:
    groups = screens.groups(started("zhengfen").moves())
    biggest = max(groups, key=lambda title: len(groups[title]))
    more = len(groups[biggest]) - screens.MAX_SHOWN
    assert more > 0
    assert f"and {more} more: /{biggest}" in drawn(screens.menu(groups))
    assert "more: /" not in drawn(screens.menu(groups, limit=None))


@pytest.mark.parametrize("name", games.GAMES)
def test_a_whole_game(name: str) -> None:
    result = sat_down(name, "--option", "deals=1", typed="1\n" * 300)
    assert result.exit_code == 0, result.output
    ends = r"(?s)your hand.*Deal 10? is over: .*The game is over\. Winner"
    assert re.search(ends, result.output)


def test_the_persons_screen_hides_what_the_seat_may_not_know() -> None:
    output = sat_down("ninefivetwo", "--seat", "1", "--option", "deals=1", typed="1\n" * 40).output
    assert " (0): discard 1 hidden card\n" in output
    state = started("ninefivetwo")
    others = {held for seat in (0, 2) for held in state.view(seat).to_dict()["hand"]}
    before = output.partition("your move")[0]
    hidden = {drawn(card(name)).strip() for name in others}
    assert not hidden.intersection(before.split())


HELPED = [
    "suits are c ♣",
    "There are no legal moves of the kind 'nothing'.",
    "'what' is not a move",
    "you: pass",
    "You quit. To play the same deal, add --seed play.",
]
FOUR = "zhengfen --with greedy --with greedy --with random"


@pytest.mark.parametrize(
    ("arguments", "typed", "shown"),
    [
        ("doudizhu --seat 1", "?\n/bid\n/nothing\n\nplay:3c\nwhat\np\nq\n", HELPED),
        ("dasan", "", ["You quit."]),
        (FOUR, "", ["Zheng Fen, 4 players.", "greedy (2)"]),
    ],
)
def test_a_person_may_quit(arguments: str, typed: str, shown: list[str]) -> None:
    result = sat_down(*arguments.split(), typed=typed)
    assert result.exit_code == 0
    assert [words for words in shown if words not in result.output] == []


def test_a_bot_cannot_write_on_the_terminal() -> None:
    colours = says(b'{"move": "pass"}', "200 OK", "Content-Encoding: \x1b[31mred")
    with running(colours) as url:
        result = sat_down("dasan", "--with", url, typed="1\n" * 3)
    assert "not HTTP" in " ".join(result.output.split())
    assert "\x1b[31m" not in result.output
