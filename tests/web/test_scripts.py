import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from selenium.webdriver import Chrome

from tests.support.browser import chromium
from tests.support.tournament.played import cup, run
from web.report import report

pytestmark = pytest.mark.slow

FIRST: Final[dict[str, Any]] = {
    **{"deal": 1, "phase": "play", "turn": 0, "scores": [0, 0], "facts": [], "roles": [[], []]},
    **{"hands": ["3c4d", "5c6d"], "last": [None] * 2, "times": [None] * 2, "infos": [None] * 2},
    **{"move": None, "forced": False, "value": None, "ended": None},
}
HANDS: Final = {"hands": ["3c4d", "5c6d 8c"], "left": ["", "6d"]}
ENDED: Final[dict[str, Any]] = {"scores": [1, -1], "facts": [["talon", "", "9h", None, False]]}


def step(seat: int, move: str, ms: float | None = 1, fault: str | None = None, **more: Any) -> Any:
    """A step of a replay. If there is no time or a fault, the move is the default move."""
    made = [seat, move, ms, fault, fault is not None or ms is None]
    return {**FIRST, "move": made, "ended": None, **more}


STEPS: Final = [
    FIRST,
    step(0, "play:3c", 12.5),
    step(1, "pass", 2500, times=[None, ["2500 ms", True]]),
    step(0, "play:4d", None),
    step(1, "pass", 3, "timeout: too late", deal=2, ended=ENDED | HANDS),
    step(1, "play:8c", deal=2, turn=None),
]
TOOLS: Final = """
    const root = document.getElementById("replay").cloneNode(true);
    const part = (name) => root.querySelector(`[data-part="${name}"]`);
    const all = (selector, box = root) => [...box.querySelectorAll(selector)];
    const texts = (selector, box) => all(selector, box).map((element) => element.textContent);
    const labels = (selector, box) => all(selector, box).map((card) => card.ariaLabel);
"""
REPLAY: Final = """
    const go = (name) => root.querySelector(`[data-go="${name}"]`).click();
    let timers = [];
    const tick = () => timers.forEach((call) => call());
    window.setInterval = (call) => timers.push(call);
    window.clearInterval = () => { timers = []; };
    document.body.append(root);
    const replay = new Replay(root, { address: (move) => `#move=${move}` });
    const seats = { seats: ["ann", "bob"], series: ["series-0", "series-1"], clockwise: true };
    replay.open(seats, arguments[0]);
"""


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    page = tmp_path_factory.mktemp("run") / "report.html"
    with run(page.parent, cup(deals=1)) as store, chromium() as opened:
        page.write_text(report(store))
        opened.get(page.as_uri())
        yield opened


def replayed(browser: Chrome, script: str, steps: list[Any] = STEPS) -> Any:
    """Run a script with a `replay` of these steps, whose timers only run at a `tick`."""
    return browser.execute_script(TOOLS + REPLAY + script, steps)


def test_a_sentence_the_address_and_the_list_follow_the_move(browser: Chrome) -> None:
    script = """return [0, 1, 3, 4, 99, 2].map((move) => {
        replay.show(move);
        const now = [location.hash, part("at").value, ...texts("[data-part=where]")];
        const marked = [texts("[aria-current]"), texts(".late", part("table"))];
        return [part("said").textContent, ...now, texts("li"), ...marked];
    })"""
    dealt, first, out, fault, end, second = replayed(browser, script)
    assert (dealt[0], first[0]) == ("The cards are dealt.", "ann 3♣  12.5 ms")
    assert "default move: the bot is struck out" in out[0]
    assert "default move after a fault. timeout: too late" in fault[0]
    assert "The deal is over: ann +1, bob −1." in fault[0]
    beyond = "This match ends with move 5. bob 8♣  1 ms"
    assert end == [beyond, "#move=5", "5", "5 / 5", ["1bob8♣"], ["1bob8♣"], []]
    assert second[:4] == ["bob pass  2500 ms", "#move=2", "2", "2 / 5"]
    moves = ["1ann3♣", "2bobpass", "3ann4♦", "4bobfault: pass"]
    assert second[4:] == [moves, ["2bobpass"], ["2 cards · 0 points · 2500 ms"]]


def test_a_result_stays_until_it_is_dismissed_then_play_ends(browser: Chrome) -> None:
    script = """
        const button = root.querySelector('[data-go="play"]');
        replay.show(3);
        go("play");
        for (let count = 0; count < 9; count++) tick();
        const shown = [replay.at, labels(".result .card"), labels(".left"), ...texts(".result")];
        go("on");
        shown.push(texts(".result"), button.ariaLabel);
        tick();
        shown.push(button.ariaLabel, timers.length);
        const deals = ["deal-back", "deal-back", "deal-next", "deal-next"];
        return [...shown, deals.map((name) => (go(name), replay.at))];
    """
    at, hands, left, text, *rest = replayed(browser, script)
    assert (at, left) == (4, ["6 of diamonds"])
    assert [card[0] for card in hands] == ["3", "4", "5", "6", "8"]
    assert re.fullmatch("Deal 1 is overNext dealann.*bob.*Outlined cards were.*talon 9♥", text)
    assert rest == [[], "Pause", "Run", 0, [4, 0, 4, 5]]
    # a spectator of a match in progress sees no hands
    steps = [*STEPS[:4], {**STEPS[4], "ended": {**ENDED, "hands": [], "left": []}}, STEPS[5]]
    (text,) = replayed(browser, 'replay.show(4); return texts(".result")', steps)
    assert text == "Deal 1 is overNext dealann+1 pointsbob−1 pointstalon 9♥"


def test_infos_stand_beside_moves_and_values_are_plotted(browser: Chrome) -> None:
    first, *others = [
        step(seat, "pass", value=value, infos=[f"<i>{value}", None])
        for seat, value in ((0, 1.5), (0, -2), (1, 0.5))
    ]
    script = """
        replay.show(2);
        const forced = part("said").textContent;
        replay.show(1);
        const dots = all("g", part("values")).map((line) => line.querySelectorAll("circle").length);
        return [forced, ...texts(".info"), dots, part("values").textContent];
    """
    steps = [FIRST, first, step(1, "pass", None, forced=True), *others]
    forced, info, dots, values = replayed(browser, script, steps)
    assert "the only legal move" in forced
    assert (info, dots) == ("<i>1.5", [2, 1])
    assert "Expected value of the deal, from -2.00 to 1.50: ann bob" in values


def test_cards_and_moves_are_words_for_screen_readers(browser: Chrome) -> None:
    cards = {"Th": "10 of hearts", "Qs": "queen of spades", "Rj": "red joker"}
    moves = {
        **{"play:3cTd": "3♣ 10♦", "bid:2": "bids 2", "trump:h": "trumps are hearts"},
        **{"pass": "pass", "play:RjBj=fullhouse": "red joker black joker (full house)"},
    }
    script = """return [arguments[0].map(CardTable.label),
        arguments[1].map((move) => CardTable.move(move).textContent)]"""
    spoken = [[*cards.values()], [*moves.values()]]
    assert browser.execute_script(script, [*cards], [*moves]) == spoken
