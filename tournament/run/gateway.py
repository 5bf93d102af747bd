"""The interface between a run and the gateway of connecting bots."""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from tournament.config.cup import Cup

Waiting = Callable[[Sequence[str], int, str], None]
"""A function that receives the missing bots, the number of all connecting bots, and the command
that creates a token for a bot."""


class Connections(Protocol):
    """The part of the gateway that a ladder uses."""

    def fail(self, bots: Mapping[str, str]) -> None:
        """Disconnect these bots, which may connect again. `bots` maps the name of each bot to a
        sentence for its author on what to fix.

        Raises:
            StichError: if the gateway no longer answers.
        """

    def tables(self) -> Mapping[str, int]:
        """Return the number of tables at which each connected bot can play at once, by the bot's
        name.

        Raises:
            StichError: if the gateway no longer answers, or cannot read the tokens.
        """

    def url_of(self, bot: str) -> str:
        """Return the URL at which a connecting bot receives requests."""


class Gateway(Connections, Protocol):
    """The gateway of connecting bots."""

    def wait_for_bots(
        self, cup: Cup, absent: Callable[[], Mapping[str, str]], waiting: Waiting
    ) -> Cup:
        """Wait, without a time limit, until all connecting bots are connected. Return a copy of the
        cup with their URLs, and their numbers of tables as `max_matches`.

        `absent` is called repeatedly. It returns the bots that are not waited for, each with a
        sentence for its author that says why. These bots are excluded, but get a URL, and one table
        if they are not connected. `waiting` is called whenever the set of missing bots changes.
        Errors that `absent` or `waiting` raises pass through.

        Raises:
            StichError: if the gateway no longer answers, or cannot read the tokens.
        """

    def exclude(self, bots: Mapping[str, str]) -> None:
        """Disconnect these bots, and refuse their connections. Each call replaces the bots of the
        previous call. `bots` maps each bot to a sentence for its author that gives the reason.

        Raises:
            StichError: if the gateway no longer answers.
        """
