"""What a check of a bot finds: outcomes, and for each failure the request and how to fix it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, field
from typing import NamedTuple

from tournament.check.advice import Advice
from tournament.records import Answer, FaultKind


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request to the bot and what came back: GET if it has no body, else POST."""

    url: str
    body: bytes = b""
    answer: Answer = field(default_factory=Answer)
    elapsed_ms: float = 0.0

    @property
    def method(self) -> str:
        """GET or POST."""
        return "POST" if self.body else "GET"

    @property
    def curl(self) -> str:
        """A command that sends the same request again."""
        words = ["curl", "-sS", "-i", "-m", "60"]
        if self.body:
            words += ["-H", "Content-Type: application/json", "-d", self.body.decode()]
        return shlex.join([*words, self.url])


@dataclass(frozen=True, slots=True)
class CheckFailure:
    """A sentence that says what is wrong, the exchange that shows it, the rule and the fix.

    `exchange` is None if the bot could not be asked. `output` is the end of what a bot started
    here wrote.
    """

    problem: str
    exchange: Exchange | None
    advice: Advice
    kind: FaultKind | None = None
    output: str = ""

    @property
    def final(self) -> bool:
        """Whether asking again would only wait for another deadline."""
        return self.kind in (FaultKind.TIMEOUT, FaultKind.UNREACHABLE)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a check found. `note` is a short line of facts, or why it was `skipped`; `output` is the
    end of what the bot wrote if that is what was checked.

    `warnings` are sentences about what costs the bot nothing in a cup, but is probably not meant.
    A check is `inconclusive`, and not passed, if it got too few answers to judge.
    """

    note: str
    failures: tuple[CheckFailure, ...] = ()
    skipped: bool = False
    inconclusive: bool = False
    output: str = ""
    warnings: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether it was run, was conclusive, and found no failure."""
        return not (self.failures or self.skipped or self.inconclusive)


class CheckResult(NamedTuple):
    """A numbered check and its outcome."""

    number: int
    title: str
    outcome: Outcome
