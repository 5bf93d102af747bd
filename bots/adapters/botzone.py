"""Programs for Botzone's Dou Dizhu: *FightTheLandlord*, and *FightTheLandlord2* with an auction.

For each move, a program is started, reads one line of JSON with all requests and its responses so
far, and writes one line. If it also writes `KEEP_RUNNING`, it is kept, and reads only new requests.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any, Final

from bots.adapters import adapter
from bots.adapters.deal import Answer, Deal, named, numbers
from bots.lines import NoAnswer

KEEP_RUNNING: Final = ">>>BOTZONE_REQUEST_KEEP_RUNNING<<<"
_END_S: Final = 1.0  # for a program to end, or to write KEEP_RUNNING, after its response

Request = dict[str, Any]
Response = int | list[int]


def conversation(deal: Deal, auction: bool) -> tuple[list[Request], list[Response]]:
    """Return the requests for a deal, and the moves played in response to all but the last one.

    Both are in Botzone's form. If `auction` is False, the auction must be over, and is left out.

    Raises:
        NoAnswer: if the program would have to bid a second time, which Botzone does not allow.
    """
    requests: list[Request] = []
    responses: list[Response] = []
    if auction:
        bids = [bid for _, bid in deal.calls[: deal.position]]
        own_bids = [bid for position, bid in deal.calls if position == deal.position]
        if deal.landlord is None and own_bids:
            raise NoAnswer("untold", 'the program bids once; play with options = "botzone"')
        if deal.landlord is None or own_bids:
            requests.append({"own": numbers(deal.dealt), "bid": bids})
        responses += own_bids[:1]
    if deal.landlord is None:
        return requests, responses
    past: list[list[int]] = [[], []]
    has_hand = False
    for position, cards in (*deal.plays, (deal.position, None)):
        if position == deal.position:
            first = {} if has_hand else _first_fields(deal, auction)
            requests.append({"history": past[-2:]} | first)
            has_hand = True
            if cards is not None:
                responses.append(numbers(cards))
        if cards is not None:
            past.append(numbers(cards))
    return requests, responses


def _first_fields(deal: Deal, auction: bool) -> Request:
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
    """A Botzone program that plays one match."""

    def __init__(self, command: Sequence[str], folder: Path, auction: bool) -> None:
        super().__init__(command, folder)
        self._auction = auction
        self._deal = 0
        self._data: object = ""
        self._given: list[Response] = []  # the responses of the running process

    def answer(self, deal: Deal, until: float) -> tuple[Answer, str]:
        """Return the response, and its debug information as a comment, or "" if it has none (see
        `AdaptedProgram.answer`)."""
        requests, responses = conversation(deal, self._auction)
        if deal.number != self._deal:
            self.stop()
            self._deal, self._data = deal.number, ""
        output = self._go_on(requests, responses, until)
        if output is None:
            self.start()
            self._given = list(responses)
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
        """Return the program's output for the last request, or None if a restart is needed.

        First send the program the earlier requests that it has not had, such as those for forced
        moves. A restart is needed if the program is not running, has answered the last request
        already, or has given an answer that differs from the move that was played.

        Raises:
            NoAnswer: if an answer does not come before `until`, or cannot be read.
        """
        output = None
        for number, request in enumerate(requests):
            if not self.running:
                return None
            if number == len(self._given):
                output = self._ask(request, until)
            if number < len(responses) and self._given[number] != responses[number]:
                return None
        return output

    def _ask(self, value: Request, until: float) -> dict[str, Any]:
        """Send a request to the program, append the response to `_given`, and return the output.

        Stop the program unless it asks to be kept running.

        Raises:
            NoAnswer: as in `_go_on`.
        """
        self.write(json.dumps(value), until)
        line = self.read(until)
        try:
            output: dict[str, Any] = json.loads(line)
            response = output["response"]
        except (ValueError, RecursionError, TypeError, LookupError):
            raise NoAnswer("unreadable", f"the program wrote {line[:60]!r}") from None
        self._given.append(response if type(response) is int else numbers(named(response)))
        with suppress(NoAnswer):
            if self.read(min(until, monotonic() + _END_S)) == KEEP_RUNNING:
                return output
        self.stop()
        return output


def serve(
    program: Sequence[str], folder: Path, *, name: str, version: str, auction: bool = True
) -> None:
    """Serve a program as a bot (see `adapter.serve`). `program` is a command to run in `folder`.

    If `auction` is False, the program is for *FightTheLandlord*, which has no auction.
    """
    adapter.serve(
        lambda: BotzoneMatch(program, folder, auction), name=name, version=version, auction=auction
    )
