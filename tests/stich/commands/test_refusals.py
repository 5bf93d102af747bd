"""What commands answer to a wrong call: a sentence, and an exit code."""

import shlex
import sys

import pytest

from tests.support.tournament.cups import bot, code_and_text

ENDS = shlex.join([sys.executable, "-c", "raise SystemExit('no cards today')"])
BENCH = ("--players", 3, "--rules", "usual", "--blocks", 2, "--no-sandbox")
DUEL = ("duel", "greedy", "random", "--game", "doudizhu")
ESTIMATE = ("run", "examples/cup.toml", "--estimate")


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (("bench", "compare", "none.json", "none.json"), 2, "none.json: cannot be read"),
        (("bench", "python", "bot.py"), 2, "needs quotes"),
        (("bench", "nothing-of-the-kind"), 1, "no program"),
        (("bench", ENDS, *BENCH), 1, "ended"),
        (("bench", bot("toy-1"), "--game", "zhengfen", *BENCH), 2, "it does not play zhengfen; it"),
        (("bench", "greedy", "--json", "none/a.json"), 2, "a folder that exists and"),
        (("bench", "greedy", "--json", "/proc/1/a.json"), 2, "and that you may write to"),
        (("bench", "greedy", "--game", "dasan", "--players", "6"), 2, ". It has: doudizhu, 3 "),
        (("bench", "greedy", "--quick", "--blocks", "3"), 2, "exclude each other"),
        (("bench", "greedy", "--at-least", "nan"), 2, "nan is not a number."),
        ((*ESTIMATE, "--out", "run"), 2, "use it alone"),
        ((*ESTIMATE, "--cluster", "tcp://127.0.0.1:8786"), 2, "use it alone"),
        (("export", "none", "--out", "a/run.sqlite"), 2, "is the store of a run; name another"),
        ((*DUEL, "--option", "deels=1"), 2, "options.deels: Dou Dizhu has only these"),
        ((*DUEL, "--option", "deals"), 2, "deals: write NAME=VALUE"),
        ((*DUEL, "--seed", ""), 2, "must have 1 to 128 characters, not 0"),
        ((*DUEL, "--seed", "\udcff"), 2, "is not UTF-8; write letters and digits."),
        ((*DUEL, "--env", "NO_SUCH_KEY"), 2, "first: export NO_SUCH_KEY=VALUE"),
        (("play", "zhengfen", "--players", "2"), 2, "players: Zheng Fen is played by 3 to 6"),
        (("play", "dasan", "--seat", "3"), 2, "0 to 2"),
        (("play", "dasan", "--option", "deals=0"), 2, "options.deals"),
        (("play", "ninefivetwo", *("--with", "greedy") * 3), 2, "3 bots are too many"),
        (("play", "dasan", "--with", "python 'bot.py"), 2, "cannot be split into words"),
        (("play", "dasan", "--no-sandbox", "--with", ENDS), 1, "no cards today"),
        (("play", "dasan", "--browser", "--with", "greedy"), 2, "With --browser, use only --port;"),
        (("play", "dasan", "--browser", "--no-sandbox"), 2, "With --browser, use only --port;"),
        (("play", "dasan", "--port", "8001"), 2, "--port needs --browser."),
    ],
)
def test_a_wrong_call_is_refused(words: tuple[object, ...], code: int, says: str) -> None:
    returned, text = code_and_text(*words)
    assert (returned, says in " ".join(text.split())) == (code, True), text
