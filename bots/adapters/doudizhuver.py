"""Programs of the Chinese student contest of computer games: DOUDIZHUVER 1.0, a process a deal."""

import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Final

from bots.adapters import adapter
from bots.adapters.deal import Answer, Deal, named, numbers
from bots.lines import NoAnswer

_LETTERS: Final = "ABC"
_END_S: Final = 0.5  # for the answer to GAMEOVER


def script(deal: Deal) -> list[tuple[str, str]]:
    """The lines of the platform up to the question of now, each with the answer to it.

    The last answer is empty. Raises NoAnswer if the program is to bid a second time.
    """
    me, calls = _LETTERS[deal.position], deal.calls
    steps = [
        ("DOUDIZHUVER 1.0", "NAME"),
        ("INFO 1,1,1,1,1,0,15", "OK INFO"),
        (f"DEAL {me}{_cards(deal.dealt)}", "OK DEAL"),
    ]
    own = [n for n, (position, _) in enumerate(calls) if position == deal.position]
    for number, (position, bid) in enumerate(calls):
        line = f"BID {_LETTERS[position]}{bid}"
        if number not in own:
            steps.append((line, "OK BID"))
        elif number == own[0]:
            steps.append(("BID WHAT", line))
    if deal.landlord is None:
        if own:
            raise NoAnswer("untold", 'the program bids once; play with options = "botzone"')
        return [*steps, ("BID WHAT", "")]
    steps.append((f"LEFTOVER {_LETTERS[deal.landlord]}{_cards(deal.talon)}", "OK LEFTOVER"))
    for position, cards in deal.plays:
        line = f"PLAY {_LETTERS[position]}{_cards(cards)}"
        steps.append(("PLAY WHAT", line) if position == deal.position else (line, "OK PLAY"))
    return [*steps, ("PLAY WHAT", "")]


def _cards(cards: Sequence[str]) -> str:
    return ",".join(map(str, numbers(cards))) or "-1"


class DoudizhuverMatch(adapter.AdaptedProgram):
    """A match with such a program."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        super().__init__(command, folder)
        self._deal: Deal | None = None
        self._said: list[str] = []  # by the program, a line for each step
        self._lost = False

    def answer(self, deal: Deal, until: float) -> tuple[Answer, str]:
        """The answer to the question of now, and no comment.

        What was played for the program, because it had to be or since `sensible` plays, cannot be
        told: it is asked, and if it answers anything else, it is of no use until the next deal.
        """
        if self._deal is None or self._deal.number != deal.number:
            self.close(deal.score)
            self._lost = False
        self._deal = deal
        self._lost = self._lost or not self._tell(script(deal), until)
        if self._lost:
            raise NoAnswer("untold", "the program cannot be told what was played for it")
        found = [int(number) for number in self._said[-1].partition(" ")[2][1:].split(",")]
        if deal.landlord is None:
            return found[0], ""
        return named([] if found == [-1] else found), ""

    def _tell(self, steps: list[tuple[str, str]], until: float) -> bool:
        """Whether the program has answered all steps as was played, also those told before."""
        if not self.running:
            self.start()
            self._said = []
        for number, (line, expected) in enumerate(steps):
            if number == len(self._said):
                self.write(line, until)
                self._said.append(_read(self.read(until), line, expected))
            if expected not in ("", self._said[number]):
                return False
        return True

    def close(self, score: int) -> None:
        """Tell the program who has won the deal, by its score now, and end it."""
        deal = self._deal
        if self.running and deal is not None and deal.landlord is not None:
            winner = deal.landlord
            if score > deal.score:
                winner = deal.position
            elif deal.position == deal.landlord:
                winner = (deal.landlord + 1) % 3
            with suppress(NoAnswer):
                until = monotonic() + _END_S
                self.write(f"GAMEOVER {_LETTERS[winner]}", until)
                self.read(until)
        self.stop()


def _read(answer: str, line: str, expected: str) -> str:
    """An answer to a line, written as in `script`; raises NoAnswer if it is none."""
    text = answer.upper()
    if line.endswith(" WHAT"):
        verb = line.removesuffix("WHAT")
        found = re.fullmatch(rf"{verb}([ABC]) ?(-1|\d\d?(?: ?, ?\d\d?)*)", text)
        if found is not None:
            cards = sorted(map(int, found[2].split(",")))
            return f"{verb}{found[1]}{','.join(map(str, cards))}"
    else:
        return expected  # an acknowledgement carries nothing, and real programs confuse them
    raise NoAnswer("unreadable", f"the program answered {answer[:60]!r} to {line[:20]!r}")


def serve(program: Sequence[str], folder: Path, *, name: str, version: str) -> None:
    """Serve a program as a bot."""
    adapter.serve(lambda: DoudizhuverMatch(program, folder), name=name, version=version)
