"""Semantic validation of posted positions of Zheng Fen."""

from collections import Counter

from games import validation
from games.climbing.trick import check_passing, read_table
from games.game import JsonDict
from games.position import Table
from games.zhengfen.combinations import DECK, validate_play


def check_position(problems: list[str], data: JsonDict) -> Table | None:
    """Check a position of Zheng Fen, and add a sentence to `problems` for each problem.

    Return the play on the table, or None if there is none or it is not valid. The number of players
    must be allowed.
    """
    counts = validation.hand_sizes(data)
    validation.one_per_seat(problems, "taken", data["taken"], data["players"])
    table = read_table(
        problems, data["table"], DECK, data["players"], lambda move: validate_play(move, None)
    )
    active = [seat for seat, count in enumerate(counts) if count > 0]
    check_passing(problems, data, table, active, len(active))
    _check_out(problems, data, active)
    if data["phase"] != "over":
        _check_active(problems, data, active)
    _check_trick(problems, data, table)
    cards = list(data["trick"])
    for names in data["taken"]:
        cards += names
    if "seat" in data:
        validation.own_hand(problems, data, DECK, len(cards))
    for names in validation.known_hands(data).values():
        cards += names
    validation.check_cards(problems, DECK, cards)
    return table


def _check_trick(problems: list[str], data: JsonDict, table: Table | None) -> None:
    if data["table"] is None:
        if data["trick"]:
            problems.append("trick has cards, but without a play on the table it is empty.")
    elif table and Counter(DECK.names_of(table.move.cards)) - Counter(data["trick"]):
        problems.append("trick does not have all cards of the play on the table.")


def _check_out(problems: list[str], data: JsonDict, active: list[int]) -> None:
    out: list[int] = data["out"]
    players: int = data["players"]
    if len(out) > players:
        problems.append(f"out has {len(out)} seats, but there are {players} players.")
        return
    valid = [validation.seat(problems, "out", seat, players) for seat in out]
    if len(set(out)) < len(out):
        problems.append("out names a seat twice.")
    elif data["phase"] != "over" and all(valid):
        empty = [seat for seat in range(players) if seat not in active]
        if sorted(out) != empty:
            problems.append(f"out is {out}, but the seats without cards are {empty}.")


def _check_active(problems: list[str], data: JsonDict, active: list[int]) -> None:
    table = data["table"]
    if not active:
        problems.append("Nobody holds cards, but the game is not over.")
    elif len(active) == 1 and (table is None or table["seat"] == active[0]):
        problems.append(
            f"Only seat {active[0]} holds cards, which is possible only while another seat's play"
            " is on the table."
        )
    elif table is None and data["turn"] is not None and data["turn"] not in active:
        problems.append(f"turn is {data['turn']}, but that seat has no cards to lead.")
