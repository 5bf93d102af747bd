"""RLCard agents. They run in `bots.adapters.rlcard_worker`, in a Python that has RLCard."""

import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from threading import RLock
from time import monotonic
from typing import Any, Final

from bots.adapters import adapter, rlcard_worker
from bots.adapters.deal import CARDS, Answer, Deal
from bots.cards import cards_of
from bots.lines import NoAnswer

_RANKS: Final = "3456789TJQKA2BR"
_START_S: Final = 600.0  # longer than any runner waits


def raw_state(deal: Deal) -> dict[str, Any]:
    """Return a deal as RLCard's `raw_obs`. The auction must be over. The landlord is player 0."""
    landlord = deal.landlord or 0
    trace = [((position - landlord) % 3, cards) for position, cards in deal.plays]
    played = [[card for who, cards in trace if who == n for card in cards] for n in range(3)]
    seen = _ranks(deal.talon)
    for card in played[0]:
        seen = seen.replace(card[0], "")  # as RLCard does it: the whole rank
    unseen = set(CARDS).difference(deal.hand, *played)
    return {
        "seen_cards": seen,
        "landlord": 0,
        "trace": [(who, _ranks(cards) or "pass") for who, cards in trace],
        "played_cards": [_ranks(cards) for cards in played],
        "self": (deal.position - landlord) % 3,
        "current_hand": _ranks(deal.hand),
        "others_hand": _ranks(unseen),
        "num_cards_left": [20 - len(played[0]), 17 - len(played[1]), 17 - len(played[2])],
        "actions": [_ranks(cards_of(move)) or "pass" for move in deal.moves],
    }


def _ranks(cards: Iterable[str]) -> str:
    return "".join(sorted((card[0] for card in cards), key=_RANKS.index))


class Agent(adapter.AdaptedProgram):
    """An agent in one process, which plays all matches."""

    def __init__(self, command: Sequence[str], folder: Path) -> None:
        super().__init__(command, folder)
        self._lock = RLock()

    def start(self) -> None:
        """Start a new process, and wait up to ten minutes for it to load the agent.

        Raises:
            NoAnswer: if the process cannot be started or does not load the agent in time.
        """
        self._load(monotonic() + _START_S)

    def _load(self, until: float) -> None:
        super().start()
        line = self.read(until)
        if line != rlcard_worker.READY:
            raise NoAnswer("ended", f"the agent cannot be loaded: {line}")

    def answer(self, deal: Deal, until: float) -> tuple[Answer, str]:
        """Return the agent's cards, and "" as the comment (see `AdaptedProgram.answer`).

        If the agent is answering for another match, wait for that answer, even beyond `until`.
        """
        with self._lock:
            if not self.running:
                self._load(until)
            self.write(json.dumps(raw_state(deal)), until)
            action = self.read(until)
        left, cards = list(deal.hand), []
        for rank in "" if action == "pass" else action:
            card = next((card for card in left if card[0] == rank), None)
            if card is None:
                raise NoAnswer("illegal", f"the agent played {action[:60]!r} and does not hold it")
            left.remove(card)
            cards.append(card)
        return cards, ""

    def stop(self) -> None:
        """Wait for any answer in progress, then kill the process. The next question restarts it."""
        with self._lock:
            super().stop()

    def close(self, score: int) -> None:
        """Do nothing: the process is kept for the next match."""


def serve(program: Sequence[str], folder: Path, *, name: str, version: str) -> None:
    """Serve an RLCard agent for Dou Dizhu as a bot (see `adapter.serve`). `sensible` bids.

    The last word of `program` names the agent as `module:name`. The words before it, by default the
    path of the bot's own Python, start a Python that has RLCard. The agent runs in `folder`.
    """
    *python, agent = program
    command = [*(python or [sys.executable]), str(Path(rlcard_worker.__file__)), agent]
    session = Agent(command, folder)
    adapter.serve(lambda: session, name=name, version=version, auction=False)
