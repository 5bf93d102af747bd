"""What a run needs from the gateway to which bots connect."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from tournament.config.cup import Cup

Waiting = Callable[[Sequence[str], int, str], None]
"""Same as `RunObserver.waiting`."""


class Connections(Protocol):
    """What a ladder needs from the gateway of connecting bots."""

    def fail(self, bots: Mapping[str, str]) -> None:
        """Refuse bots until they are fixed. `bots` maps each to a sentence that says how to fix
        it."""

    def tables(self) -> Mapping[str, int]:
        """Return the connected bots, each with its number of tables."""

    def url_of(self, bot: str) -> str:
        """Return the URL at which a connected bot receives requests."""


class Gateway(Connections, Protocol):
    """The gateway of connecting bots."""

    def wait_for_bots(
        self, cup: Cup, absent: Callable[[], Mapping[str, str]], waiting: Waiting
    ) -> Cup:
        """Wait for all connecting bots except those that are `absent`.

        `absent` gives a sentence for each bot that says why the bot is absent. Return the cup with
        the URLs of the connected bots.
        """

    def exclude(self, bots: Mapping[str, str]) -> None:
        """Exclude exactly these bots, each with a sentence that says why."""
