"""Matches as steps that a page can show without knowing the rules."""

import base64
import json
import zlib
from collections import Counter
from collections.abc import Sequence
from typing import Any, TypedDict, TypeVar

import games
from games.game import Game, JsonDict, Phrase
from tournament.config.cup import Cup
from tournament.display.formatting import info_text
from tournament.display.replay import Step, cards_of, steps
from tournament.language import catalog, gettext
from tournament.records import MatchRecord, Pairing
from tournament.run.workers.live_table import LiveMatch
from web.ui.plots import series

PageFact = tuple[str, str, str, int | None, bool]
"""A fact of the game: label, value, cards in one string, seat, whether the cards lie on the
table."""
PageMove = tuple[int | None, str, float | None, str | None, bool]
"""A move: seat, text, time in ms, fault, whether the default move was played."""
_T = TypeVar("_T")


class _PagePosition(TypedDict):
    deal: int
    phase: str
    turn: int | None
    hands: list[str]  # by seat, such as "3c4d 5h": a space between groups, "??" for a hidden card
    roles: list[list[str]]
    scores: list[int]
    facts: list[PageFact]


class _DealEnd(TypedDict):
    scores: list[int]
    hands: list[str]  # when they were largest; for spectators of a match in progress, []
    left: list[str]  # in the hands at the end; likewise
    facts: list[PageFact]


class ShownPosition(_PagePosition):
    """A position, and what has just happened."""

    last: list[str | None]  # by seat, its latest move in this trick, or phase if it has no tricks
    trick_over: bool  # the trick on the table has just ended
    ended: _DealEnd | None  # the deal that the latest move ended


class PageStep(ShownPosition):
    """A step of a match: a position, and the move that led there, or None in the first step."""

    move: PageMove | None


class _ReplayStep(PageStep):
    times: list[tuple[str, bool] | None]  # by seat, of its latest move (see `_time`)
    infos: list[str | None]  # by seat, what its bot sent with its latest move
    forced: bool  # the move was the only legal one
    value: str | float | None


def match_data(match: MatchRecord | Pairing, cup: Cup, shown: Sequence[PageStep]) -> dict[str, Any]:
    """Return the data with which replay.js shows a match. `shown` are the steps of the match.

    Raises:
        ValueError: if a bot of the match is not in the cup.
    """
    text = json.dumps(shown, separators=(",", ":"))
    return {
        "match": match.match,
        "seats": match.seating,
        "series": [series(cup.names.index(bot)) for bot in match.seating],
        "clockwise": games.get(cup.game).clockwise,
        "steps": base64.b64encode(zlib.compress(text.encode(), 9)).decode("ascii"),
    }


class DealLog:
    """Follows a game move by move. `shown` is the position that a page shows after the latest move.

    `state` is the first state of the game, in wire form. Either this and all later states must be
    full, or all must be views of a spectator.
    """

    def __init__(self, game: Game, state: JsonDict) -> None:
        self._game = game
        self._state = state
        self._over = False
        self._largest: list[list[str]] = state.get("hands", [])
        self.shown: ShownPosition = {
            **position(game, state),
            "last": [None] * state["players"],
            "trick_over": False,
            "ended": None,
        }

    def add(self, move: str, after: JsonDict) -> None:
        """Update `shown` after a move, which led to the state `after`. The cards in `move` may be
        hidden."""
        before, self._state = self._state, after
        seat: int = before["turn"]
        was, now = self.shown, position(self._game, after)
        no_moves: list[str | None] = [None] * after["players"]
        last = _with(no_moves if self._over else was["last"], seat, move)
        deal_over = len(after["results"]) > len(before["results"])
        new_deal = after["deal"] != before["deal"]
        trick = [fact for fact in was["facts"] if fact[-1] and not was["trick_over"]]
        cleared = not any(fact[-1] for fact in now["facts"])
        next_phase = was["phase"] != now["phase"]
        self._over = deal_over or new_deal or next_phase or (bool(trick) and cleared)
        cards = cards_of(move) if move.startswith("play:") else []
        if cards:
            played: PageFact = ("", "", "".join(cards), seat, True)
            trick = [*trick, played] if self._game.keeps_trick else [played]
        stays = self._over and bool(trick) and cleared and not new_deal
        if stays:
            now["facts"] += trick
        ended: _DealEnd | None = None
        if deal_over:
            left = [Counter(hand) for hand in before.get("hands", ())]
            if left:
                left[seat] -= Counter(cards)
            ended = {
                "scores": after["results"][-1]["scores"],
                "hands": [_grouped(self._game, hand) for hand in self._largest],
                "left": ["".join(hand.elements()) for hand in left],
                "facts": [fact for fact in was["facts"] if not fact[-1]] + trick,
            }
        hands = after.get("hands", [])
        both = zip(hands, hands if new_deal else self._largest, strict=True)
        self._largest = [max(now, most, key=len) for now, most in both]
        self.shown = {
            **now,
            "last": no_moves if new_deal else last,
            "trick_over": stays,
            "ended": ended,
        }


def page_steps(record: MatchRecord, cup: Cup) -> list[_ReplayStep]:
    """Return the steps of a finished match, with texts in the reader's language: the position
    before the first move, then a step for each move.

    Raises:
        ReplayError: if a move is not legal or comes after the end of the game.
        games.OptionError, games.UnknownGame: if the match cannot be started.
    """
    times: list[tuple[str, bool] | None] = [None] * record.players
    infos: list[str | None] = [None] * record.players
    banks: tuple[float, ...] = ()
    log: DealLog | None = None
    page: list[_ReplayStep] = []
    for step in steps(record, cup):
        log = log or DealLog(games.get(record.game), step.state)
        move: PageMove | None = None
        if step.seat is not None and step.move is not None:
            fault = None if step.fault is None else f"{step.fault.kind}: {step.fault.detail}"
            ms = None if step.ms is None else round(step.ms, 1)
            move = step.seat, step.move, ms, fault, step.default
            log.add(step.move, step.state)
            times = _with(times, step.seat, _time(step, banks[step.seat]))
            infos = _with(infos, step.seat, info_text(step.info, step.fallback))
        page.append(
            {
                **log.shown,
                "times": times,
                "infos": infos,
                "move": move,
                "forced": step.forced,
                "value": step.info.get("value"),
            }
        )
        banks = step.banks
    return page


def live_steps(match: LiveMatch, cup: Cup) -> list[PageStep]:
    """Return the steps of a match in progress, as a spectator sees them. What could betray a hand,
    such as times and faults, is left out."""
    game = games.get(cup.game)
    state = game.start(cup.players, match.pairing.seed, cup.options)
    log = DealLog(game, state.view(None).to_dict())
    page: list[PageStep] = [{**log.shown, "move": None}]
    for move in match.moves:
        seat, state = state.turn, state.advance(move)
        view = state.view(None).to_dict()
        history = view["history"]  # without the move that ended a deal
        shown = history[-1]["move"] if history else move
        log.add(shown, view)
        page.append({**log.shown, "move": (seat, shown, None, None, False)})
    return page


def position(game: Game, data: JsonDict) -> _PagePosition:
    """Return the position that a page shows, with texts in the reader's language. `data` is a state
    or a view in wire form. Hands that a view lacks become hidden cards."""
    known = dict(enumerate(data.get("hands", ()))) or {data["seat"]: data["hand"]}
    seats = range(data["players"])
    return {
        "deal": data["deal"],
        "phase": _say(data["phase"]),
        "turn": data["turn"],
        "hands": [
            _grouped(game, known[seat]) if seat in known else "??" * data["counts"][seat]
            for seat in seats
        ],
        "roles": [[_say(role) for role in game.roles(data, seat)] for seat in seats],
        "scores": data["scores"],
        "facts": [
            (_say(fact.label), _say(fact.value), "".join(fact.cards), fact.seat, fact.on_table)
            for fact in game.facts(data)
        ],
    }


def _say(words: str | Phrase) -> str:
    """Return a game's words in the reader's language. Cards and numbers stay as they are."""
    if isinstance(words, Phrase):
        return gettext(words.message, **words.values)
    return catalog().gettext(words) if words else ""


def _grouped(game: Game, cards: Sequence[str]) -> str:
    return " ".join("".join(group) for group in game.groups(cards))


def _time(step: Step, bank: float) -> tuple[str, bool] | None:
    """Return the time of a move as a string, and whether the move took time from the bank. If it
    did, the string ends with the time left in the bank. `bank` is the bank in ms before the move.
    Return None if the bot was not asked."""
    if step.ms is None or step.seat is None:
        return None
    left = step.banks[step.seat]
    late = left < bank
    return f"{step.ms:.1f} ms" + (f", bank {left / 1000:.1f} s" if late else ""), late


def _with(values: list[_T], seat: int, value: _T) -> list[_T]:
    return [*values[:seat], value, *values[seat + 1 :]]
