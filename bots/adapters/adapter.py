"""What the adapters share: a program's answer in time, and `sensible` in its place otherwise."""

from __future__ import annotations

import os
import shutil
import sys
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from time import monotonic
from typing import Any, Final, Protocol

from bots import kit, sensible
from bots.adapters.deal import Answer, Deal, NoAnswer
from bots.cards import View

_RESERVE_S: Final = 0.25  # for the fallback and the way back
_MAX_MATCHES: Final = 64  # at once; a match that is forgotten is told again

Info = dict[str, str | float]


class Session(Protocol):
    """One match in a program's own protocol."""

    def answer(self, deal: Deal, until: float) -> tuple[Answer, str]:
        """What the program answers now, and what it says beside it.

        Raises NoAnswer if it has not answered until that time, by `time.monotonic`.
        """

    def close(self, score: int | None = None) -> None:
        """The match is over, with this score for the program if it is known."""


class Adapter:
    """Plays the moves of a program, and those of `sensible` where it has no legal one.

    `open_match` makes the session of a match. Without an `auction` of its own the program is not
    asked to bid, and `sensible` bids. Several threads may ask at once.
    """

    def __init__(self, open_match: Callable[[], Session], *, auction: bool) -> None:
        self._open_match = open_match
        self._auction = auction
        self._sessions: OrderedDict[str, Session] = OrderedDict()
        self._lock = Lock()

    def move(
        self, view: View, moves: Sequence[str], request: Mapping[str, Any]
    ) -> tuple[str, Info]:
        """The move, and how it came about: 1 or 0 for `fallback`, and 1 for its cause."""
        clock = request["clock"]
        seconds = (clock["move_ms"] + clock["bank_ms"]) / 1000
        until = monotonic() + max(seconds - _RESERVE_S, seconds / 2)
        if view["phase"] == "auction" and not self._auction:
            return sensible.move(view, moves), {"fallback": 0, "bid_by_sensible": 1}
        try:
            deal = Deal.of(view, moves)
            answer, comment = self._session(request["match"]).answer(deal, until)
            move = deal.move(answer)
        except NoAnswer as error:
            print(f"sensible plays: {error}", file=sys.stderr, flush=True)  # noqa: T201
            info: Info = {"fallback": 1, error.kind: 1, "comment": f"sensible plays: {error}"}
            return sensible.move(view, moves), info
        return move, {"fallback": 0, "comment": comment} if comment else {"fallback": 0}

    def _session(self, match: str) -> Session:
        with self._lock:
            if match not in self._sessions:
                self._sessions[match] = self._open_match()
            self._sessions.move_to_end(match)
            if len(self._sessions) > _MAX_MATCHES:
                self._sessions.popitem(last=False)[1].close()
            return self._sessions[match]

    def end(self, request: Mapping[str, Any]) -> None:
        """End the session of a match."""
        with self._lock:
            session = self._sessions.pop(request["match"], None)
        if session is not None:
            session.close(request["scores"][request["seat"]])


def serve(
    open_match: Callable[[], Session],
    *,
    name: str,
    version: str,
    auction: bool = True,
) -> None:
    """Serve an adapter as a bot; exits with a message if that is not possible."""
    adapter = Adapter(open_match, auction=auction)
    options = {"reveal_talon": [True]} | ({"single_round": [True]} if auction else {})
    kit.run(
        adapter.move,
        name=name,
        version=version,
        games=["doudizhu"],
        supports={"doudizhu": {"players": [3], "options": options}},
        end=adapter.end,
    )


def check_program(command: Sequence[str], folder: str) -> None:
    """Exit with a message unless the program and the folder in which it runs are there."""
    if not os.path.isdir(folder):
        sys.exit(f"There is no folder {folder}; write that of your program into FOLDER in bot.py.")
    path = os.path.join(folder, command[0]) if "/" in command[0] else command[0]
    if shutil.which(path) is None:
        sys.exit(f"There is no program {path}; write yours into PROGRAM in bot.py.")
