"""Programs for DOUDIZHUVER 1.0, the protocol of the Chinese student contest in computer games."""

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
    """Return the lines to send to the program in this deal, each with the expected answer.

    The last line asks for the current move, and expects "". Earlier questions expect the moves that
    were played.

    Raises:
        NoAnswer: if the program would have to bid a second time, which the protocol does not allow.
    """
    me, calls = _LETTERS[deal.position], deal.calls
    steps = [
        ("DOUDIZHUVER 1.0", "NAME"),
        ("INFO 1,1,1,1,1,0,15", "OK INFO"),
        (f"DEAL {me}{_cards(deal.dealt)}", "OK DEAL"),
    ]
    own_calls = [n for n, (position, _) in enumerate(calls) if position == deal.position]
    for number, (position, bid) in enumerate(calls):
        line = f"BID {_LETTERS[position]}{bid}"
        if number not in own_calls:
            steps.append((line, "OK BID"))
        elif number == own_calls[0]:
            steps.append(("BID WHAT", line))
    if deal.landlord is None:
        if own_calls:
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
    """A DOUDIZHUVER program that plays one match. The program is restarted for each deal."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        super().__init__(command, folder)
        self._deal: Deal | None = None
        self._answers: list[str] = []  # the program's answer to each line
        self._lost: str | None = None  # why the program cannot be used until the next deal

    def answer(self, deal: Deal, until: float) -> tuple[Answer, str]:
        """Return the program's bid or cards, and "" as its comment (see `AdaptedProgram.answer`).

        The protocol cannot tell a program that a move was played for it, so the program is asked
        for that move too. If it answers with another move, this question and all others until the
        next deal raise NoAnswer. The first question about a new deal closes the previous deal.
        """
        if self._deal is None or self._deal.number != deal.number:
            self.close(deal.score)
            self._lost = None
        self._deal = deal
        self._lost = self._lost or self._tell(script(deal), until)
        if self._lost is not None:
            raise NoAnswer("untold", self._lost)
        numbers = [int(number) for number in self._answers[-1].partition(" ")[2][1:].split(",")]
        if deal.landlord is None:
            return numbers[0], ""
        return named([] if numbers == [-1] else numbers), ""

    def _tell(self, steps: list[tuple[str, str]], until: float) -> str | None:
        """Send the program the lines in `steps` that it has not had. If necessary, start it.

        Stop at the first answer that differs from the move that was played, and return a message
        about this answer. Return None if no answer differs.

        Raises:
            NoAnswer: if the program cannot be started, ends, or gives no answer that can be read
                before `until`.
        """
        if not self.running:
            self.start()
            self._answers = []
        for number, (line, expected) in enumerate(steps):
            if number == len(self._answers):
                self.write(line, until)
                self._answers.append(_read(self.read(until), line, expected))
            given = self._answers[number]
            if expected not in ("", given):
                return f"the program cannot be told that {expected} was played for its {given[:60]}"
        return None

    def close(self, score: int) -> None:
        """Tell the program who won, if it is running and the deal had a landlord. Then stop it.

        The winner follows from `score`, the score of the program's seat after the deal.
        """
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
    """Return the answer in the notation of `script`, or `expected` if `line` is not a question.

    Raises:
        NoAnswer: if the answer to a question cannot be read.
    """
    if not line.endswith(" WHAT"):
        return expected  # real programs mix up their acknowledgements
    verb = line.removesuffix("WHAT")
    match = re.fullmatch(rf"{verb}([ABC]) ?(-1|\d\d?(?: ?, ?\d\d?)*)", answer.upper())
    if match is None:
        raise NoAnswer("unreadable", f"the program answered {answer[:60]!r} to {line[:20]!r}")
    cards = sorted(map(int, match[2].split(",")))
    return f"{verb}{match[1]}{','.join(map(str, cards))}"


def serve(program: Sequence[str], folder: Path, *, name: str, version: str) -> None:
    """Serve a program as a bot (see `adapter.serve`). `program` is a command to run in `folder`."""
    adapter.serve(lambda: DoudizhuverMatch(program, folder), name=name, version=version)
