"""What the adapters share: a program's answer in time, and `sensible` in its place otherwise."""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from time import monotonic
from typing import Any, Final

from bots import kit, lines, sensible
from bots.adapters.deal import Answer, Deal
from bots.cards import View
from bots.lines import NoAnswer

_MAX_COMMENT: Final = 1000
_RESERVE_S: Final = 0.25  # for the fallback and the way back
_MAX_MATCHES: Final = 16  # at once; a match that is forgotten is told again

Info = dict[str, str | float]

_CAUSES: Final = {
    "late": "the program did not answer in time",
    "ended": "the program ended",
    "unreadable": "the program's answer cannot be read",
    "illegal": "the program's move is not legal here",
    "untold": "the program cannot be told the position",
}
"""What a bot says of a fallback, by the kind of NoAnswer; its comment has the details."""


class AdaptedProgram(lines.LineProgram, ABC):
    """A match with a program."""

    @abstractmethod
    def answer(self, deal: Deal, until: float) -> tuple[Answer, str]:
        """What the program answers now, and what it says beside it; raises NoAnswer."""

    def close(self, score: int) -> None:
        """The match is over, with this score for the program."""
        self.stop()


class Adapter:
    """Plays the moves of a program, and those of `sensible` where it has no legal one.

    `open_match` makes a match with the program. Without an `auction` of its own it is not asked to
    bid, and `sensible` bids. Several threads may ask at once.
    """

    def __init__(self, open_match: Callable[[], AdaptedProgram], *, auction: bool) -> None:
        self._open_match = open_match
        self._auction = auction
        self._matches: dict[str, AdaptedProgram] = {}
        self._lock = Lock()

    def move(
        self, view: View, moves: Sequence[str], request: Mapping[str, Any]
    ) -> tuple[str, Info, str | None]:
        """The move, how it came about, and why it is not the program's own (None if it is)."""
        clock = request["clock"]
        seconds = (clock["move_ms"] + clock["bank_ms"]) / 1000
        until = monotonic() + max(seconds - _RESERVE_S, seconds / 2)
        if view["phase"] == "auction" and not self._auction:
            return sensible.move(view, moves), {"bid_by_sensible": 1}, None
        try:
            return *self._ask(Deal.of(view, moves), self._match(request["match"]), until), None
        except NoAnswer as error:
            said = f"sensible plays: {error}"
            print(said, file=sys.stderr, flush=True)  # noqa: T201 (what the author reads)
            info: Info = {error.kind: 1, "comment": said}
            return sensible.move(view, moves), info, _CAUSES[error.kind]

    def _ask(self, deal: Deal, match: AdaptedProgram, until: float) -> tuple[str, Info]:
        """The program's move; one that has ended is started again."""
        for ended in (False, True):
            try:
                answer, comment = match.answer(deal, until)
                break
            except NoAnswer as error:
                match.stop()
                if error.kind != "ended" or ended:
                    raise
        return deal.move(answer), {"comment": comment[:_MAX_COMMENT]} if comment else {}

    def _match(self, name: str) -> AdaptedProgram:
        with self._lock:
            match = self._matches.pop(name, None) or self._open_match()
            self._matches[name] = match
            if len(self._matches) > _MAX_MATCHES:
                self._matches.pop(next(iter(self._matches))).stop()
            return match

    def end(self, request: Mapping[str, Any]) -> None:
        """End a match."""
        with self._lock:
            match = self._matches.pop(request["match"], None)
        if match is not None:
            match.close(request["scores"][request["seat"]])


def serve(
    open_match: Callable[[], AdaptedProgram], *, name: str, version: str, auction: bool = True
) -> None:
    """Serve a program as a bot; exits with a message if it cannot be started."""
    match = open_match()
    try:
        match.start()
    except NoAnswer as error:
        match.stop()
        sys.exit(f"{error}; fix PROGRAM or FOLDER in bot.py.")
    match.close(0)
    adapter = Adapter(open_match, auction=auction)
    sensible.load("doudizhu", "strategy")  # import it before the clock runs
    options = {"reveal_talon": [True]} | ({"single_round": [True]} if auction else {})
    kit.run(
        adapter.move,
        name=name,
        version=version,
        games=["doudizhu"],
        supports={"doudizhu": {"players": [3], "options": options}},
        end=adapter.end,
    )
