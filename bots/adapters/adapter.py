"""What all adapters share: asking a program for a move, or falling back on `sensible`."""

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
_RESERVE_S: Final = 0.25  # for the fallback and the network
_MAX_MATCHES: Final = 16  # at once; a dropped match is told to the program again from its start

Info = dict[str, str | float]

_CAUSES: Final = {  # of a fallback, by the kind of NoAnswer
    "late": "the program did not answer in time",
    "ended": "the program ended",
    "unreadable": "the program's answer cannot be read",
    "illegal": "the program's move is not legal here",
    "untold": "the program cannot be told the position",
}


class AdaptedProgram(lines.LineProgram, ABC):
    """A program that plays one match, or all matches of a bot."""

    @abstractmethod
    def answer(self, deal: Deal, until: float) -> tuple[Answer, str]:
        """Return the program's answer, which need not be legal, and its comment or "".

        Start the program if it is not running. `until` is the deadline, as a `monotonic` time.

        Raises:
            NoAnswer: if the program cannot be started or asked, or gives no usable answer in time.
        """

    def close(self, score: int) -> None:
        """End the match. By default, stop the program. `score` is the program's final score."""
        self.stop()


class Adapter:
    """A bot that plays a program's moves. If the program fails, `sensible` moves instead.

    `open_match` returns the program for a new match. Besides the programs that are answering, only
    those of the `_MAX_MATCHES` matches with the latest answers are kept. If `auction` is False,
    `sensible` bids. Methods are thread-safe.
    """

    def __init__(self, open_match: Callable[[], AdaptedProgram], *, auction: bool) -> None:
        self._open_match = open_match
        self._auction = auction
        self._matches: dict[str, AdaptedProgram] = {}
        self._lock = Lock()

    def move(
        self, view: View, moves: Sequence[str], request: Mapping[str, Any]
    ) -> tuple[str, Info, str | None]:
        """Return the move, its info (see `kit`), and the reason for a fallback, or None.

        `request` is the body of `POST /move`. A bid that `sensible` makes because `auction` is
        False is not a fallback. Fallbacks are also reported on stderr.
        """
        clock = request["clock"]
        seconds = (clock["move_ms"] + clock["bank_ms"]) / 1000
        until = monotonic() + max(seconds - _RESERVE_S, seconds / 2)
        if view["phase"] == "auction" and not self._auction:
            return sensible.move(view, moves), {"bid_by_sensible": 1}, None
        try:
            return *self._ask_match(request["match"], Deal.of(view, moves), until), None
        except NoAnswer as error:
            comment = f"sensible plays: {error}"
            print(comment, file=sys.stderr, flush=True)  # noqa: T201 (the author reads stderr)
            info: Info = {error.kind: 1, "comment": comment}
            return sensible.move(view, moves), info, _CAUSES[error.kind]

    def _ask_match(self, name: str, deal: Deal, until: float) -> tuple[str, Info]:
        """Ask the program of a match, as `_ask` does. Other requests do not stop it meanwhile."""
        with self._lock:
            match = self._matches.pop(name, None) or self._open_match()
        try:
            return self._ask(deal, match, until)
        finally:
            with self._lock:
                dropped = [self._matches.pop(name, match)]  # another, if it was asked twice at once
                self._matches[name] = match
                if len(self._matches) > _MAX_MATCHES:
                    dropped.append(self._matches.pop(next(iter(self._matches))))
                for program in dropped:
                    if program not in self._matches.values():  # one program may play all matches
                        program.stop()

    def _ask(self, deal: Deal, match: AdaptedProgram, until: float) -> tuple[str, Info]:
        """Return the program's move, and information about it.

        If the program cannot be started, or ends instead of answering, try once more. `until` is
        the deadline, as a `monotonic` time.

        Raises:
            NoAnswer: if the program gives no legal move in time. If `match.answer` raised the
                error, the program has been stopped.
        """
        for ended in (False, True):
            try:
                answer, comment = match.answer(deal, until)
                break
            except NoAnswer as error:
                match.stop()
                if ended:
                    why = f"{error}; the program was started again because it had ended"
                    raise NoAnswer(error.kind, why) from None
                if error.kind != "ended":
                    raise
        return deal.move(answer), {"comment": comment[:_MAX_COMMENT]} if comment else {}

    def end(self, request: Mapping[str, Any]) -> None:
        """Close the match that the body of a `POST /end` names. Ignore an unknown match."""
        with self._lock:
            match = self._matches.pop(request["match"], None)
        if match is not None:
            match.close(request["scores"][request["seat"]])


def serve(
    open_match: Callable[[], AdaptedProgram], *, name: str, version: str, auction: bool = True
) -> None:
    """Serve a program for three-player Dou Dizhu as a bot (see `kit.run`).

    `open_match` and `auction` are as in `Adapter`. First start the program once as a test. Exit
    with a message if the program cannot be started, or if the port is not available.
    """
    match = open_match()
    try:
        match.start()
    except NoAnswer as error:
        match.stop()
        sys.exit(f"{error}; fix PROGRAM or FOLDER in bot.py.")
    match.close(0)
    adapter = Adapter(open_match, auction=auction)
    sensible.load("doudizhu")  # import it before the clock runs
    options = ("reveal_talon", "single_round") if auction else ("reveal_talon",)
    kit.run(
        adapter.move,
        name=name,
        version=version,
        games=["doudizhu"],
        supports={"doudizhu": {"players": [3], "options": {name: [True] for name in options}}},
        end=adapter.end,
    )
