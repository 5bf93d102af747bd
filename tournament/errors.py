"""The base class of errors that are shown to the user."""

from typing import ClassVar


class StichError(Exception):
    """An error whose message is a sentence for the user, with the fix if there is one.

    The failing command exits with `exit_code`: 2 for usage or configuration errors, otherwise 1.
    """

    exit_code: ClassVar[int] = 1


class ReplayError(StichError):
    """A recorded match breaks the rules of its game."""

    def __init__(self, match: str, index: int, move: str, why: str) -> None:
        super().__init__(
            f"Move {index} ({move}) of match {match} is not legal: {why} `stich verify` tells more."
        )
