"""Programs for Botzone's Dou Dizhu, *FightTheLandlord* and, with an auction, *FightTheLandlord2*.

A program is started for each move, reads one line of JSON (all requests and its responses so far)
and writes one. One that writes `KEEP_RUNNING` after its response runs on, and reads only the next
request.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from time import monotonic
from typing import Any, Final

from bots.adapters import adapter
from bots.adapters.deal import Answer, Deal, named, numbers
from bots.lines import NoAnswer

KEEP_RUNNING: Final = ">>>BOTZONE_REQUEST_KEEP_RUNNING<<<"
_END_S: Final = 1.0  # for a program to end, or to write that, after its response

Request = dict[str, Any]
Response = int | list[int]


def conversation(deal: Deal, auction: bool) -> tuple[list[Request], list[Response]]:
    """The requests of a deal up to the present one, and the responses to all but that.

    Raises NoAnswer if the program is to bid a second time, which Botzone does not know.
    """
    requests: list[Request] = []
    responses: list[Response] = []
    if auction:
        bids = [bid for _, bid in deal.calls[: deal.position]]
        own = [bid for position, bid in deal.calls if position == deal.position]
        if deal.landlord is None and own:
            raise NoAnswer("untold", 'the program bids once; play with options = "botzone"')
        if deal.landlord is None or own:
            requests.append({"own": numbers(deal.dealt), "bid": bids})
        responses += own[:1]
    if deal.landlord is None:
        return requests, responses
    past: list[list[int]] = [[], []]
    told = False
    for position, cards in (*deal.plays, (deal.position, None)):
        if position == deal.position:
            requests.append({"history": past[-2:]} | ({} if told else _first(deal, auction)))
            told = True
            if cards is not None:
                responses.append(numbers(cards))
        if cards is not None:
            past.append(numbers(cards))
    return requests, responses


def _first(deal: Deal, auction: bool) -> Request:
    """What the first request of the play has besides."""
    if auction:
        return {
            "own": numbers(deal.dealt),
            "publiccard": numbers(deal.talon),
            "landlord": deal.landlord,
            "pos": deal.position,
            "finalbid": deal.bid,
        }
    talon = deal.talon if deal.position == deal.landlord else ()
    return {"own": numbers((*deal.dealt, *talon)), "publiccard": numbers(deal.talon)}


class BotzoneMatch(adapter.AdaptedProgram):
    """A match with such a program."""

    def __init__(self, command: Sequence[str], folder: Path, auction: bool) -> None:
        super().__init__(command, folder)
        self._auction = auction
        self._deal = 0
        self._data: object = ""
        self._said: list[Response] = []  # by the program that is running

    def answer(self, deal: Deal, until: float) -> tuple[Answer, str]:
        """The response to the last request, and the debug information."""
        requests, responses = conversation(deal, self._auction)
        if deal.number != self._deal:
            self.stop()
            self._deal, self._data = deal.number, ""
        output = self._go_on(requests, responses, until)
        if output is None:
            self.start()
            self._said = list(responses)
            everything = {"requests": requests, "responses": responses, "data": self._data}
            output = self._ask(everything | {"globaldata": ""}, until)
        self._data = output.get("data", "")
        response, debug = output["response"], output.get("debug", "")
        comment = debug if isinstance(debug, str) else json.dumps(debug)
        if deal.landlord is not None:
            return named(response), comment
        if type(response) is not int or not 0 <= response <= 3:
            raise NoAnswer("unreadable", f"the program wrote no bid, but {str(response)[:60]!r}")
        return response, comment

    def _go_on(
        self, requests: list[Request], responses: list[Response], until: float
    ) -> dict[str, Any] | None:
        """The output of the running program; None if it must be started to know the match.

        It is asked now what it was not asked before because only one move was legal. Where it says
        anything else than was played, it cannot be used any more.
        """
        output = None
        for number, request in enumerate(requests):
            if not self.running:
                return None
            if number == len(self._said):
                output = self._ask(request, until)
            if number < len(responses) and self._said[number] != responses[number]:
                return None
        return output

    def _ask(self, value: Request, until: float) -> dict[str, Any]:
        self.write(json.dumps(value), until)
        line = self.read(until)
        try:
            output: dict[str, Any] = json.loads(line)
            response = output["response"]
        except (ValueError, RecursionError, TypeError, LookupError):
            raise NoAnswer("unreadable", f"the program wrote {line[:60]!r}") from None
        self._said.append(response if type(response) is int else numbers(named(response)))
        try:
            runs_on = self.read(min(until, monotonic() + _END_S)) == KEEP_RUNNING
        except NoAnswer:
            runs_on = False
        if not runs_on:
            self.stop()
        return output


def serve(
    program: Sequence[str], folder: Path, *, name: str, version: str, auction: bool = True
) -> None:
    """Serve a program as a bot; without `auction` it is one for *FightTheLandlord*."""
    adapter.serve(
        lambda: BotzoneMatch(program, folder, auction), name=name, version=version, auction=auction
    )
