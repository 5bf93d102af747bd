"""The base class of errors that are shown to the user."""

from typing import ClassVar


class StichError(Exception):
    """An error whose message is a sentence for the user, with the fix if there is one.

    A command that fails with this error prints the message and exits with `exit_code`, which is 2
    for usage or configuration errors and 1 otherwise.
    """

    exit_code: ClassVar[int] = 1


class ReplayError(StichError):
    """A recorded match breaks the rules of its game."""

    def __init__(self, match: str, index: int, move: str, why: str) -> None:
        super().__init__(
            f"Move {index} ({move}) of match {match} is not legal: {why} `stich verify` tells more."
        )
