"""The errors that games raise."""

from collections.abc import Sequence
from enum import StrEnum


class Reason(StrEnum):
    """The reasons why a move may be illegal, in the order in which they are checked."""

    SYNTAX = "syntax"
    GAME_OVER = "game-over"
    NOT_YOUR_TURN = "not-your-turn"
    WRONG_PHASE = "wrong-phase"
    MUST_BID = "must-bid"
    BID_TOO_LOW = "bid-too-low"
    MUST_LEAD = "must-lead"
    NOT_CALLABLE = "not-callable"
    NOT_HELD = "not-held"
    WRONG_NUMBER = "wrong-number"
    NOT_A_COMBINATION = "not-a-combination"
    WRONG_CATEGORY = "wrong-category"
    NOT_HIGHER = "not-higher"
    AMBIGUOUS = "ambiguous"
    MUST_FOLLOW = "must-follow"


class IllegalMove(ValueError):
    """A move is not legal in a position. `detail` is a sentence that explains `reason`."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(f"{reason.value}: {detail}")
        self.reason = reason
        self.detail = detail


class InvalidState(ValueError):
    """A state or view breaks a rule of its game. `problems` has a sentence for each problem."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__(" ".join(problems))
        self.problems = tuple(problems)


class OptionError(ValueError):
    """The game does not accept a number of players, a seed or an option.

    `field` is `players`, `seed` or the name of an option, such as `options.deals`. `message` is a
    sentence that says what the game accepts.
    """

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


class UnknownGame(LookupError):
    """No game has this name."""
