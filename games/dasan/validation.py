"""Semantic validation of posted positions of Dasan."""

from games import validation
from games.climbing import auction
from games.climbing.trick import check_passing, read_table
from games.dasan.combinations import CALLABLE, DECK, identify
from games.game import JsonDict
from games.position import Table


def check_position(problems: list[str], data: JsonDict) -> Table | None:
    """Check a position of Dasan, and add a sentence to `problems` for each problem.

    Return the play on the table, or None if there is none or it is not valid. The number of players
    must be allowed.
    """
    players: int = data["players"]
    table = read_table(problems, data["table"], DECK, players, identify)
    if data["phase"] == "auction":
        auction.check_auction(problems, data, 0)
    else:
        auction.check_declared(problems, data)
        check_passing(problems, data, table, range(players), players - 1)
    if data["phase"] == "call":
        if players != 4:
            problems.append("The phase call exists only with four players.")
        if data["table"] is not None:
            problems.append("table must be null in the phase call.")
        if data["turn"] != data["declarer"]:
            problems.append("turn must be the declarer in the phase call.")
    if data["called"] is None:
        if players == 4 and data["phase"] in ("play", "over"):
            problems.append("called must be set once four players have started to play.")
        if data["partner"] is not None:
            problems.append("partner must be null if no card is called.")
    elif players == 3 or data["phase"] in ("auction", "call"):
        problems.append("called must be null with three players, and before the call.")
    else:
        _check_called(problems, data)
    auction.check_cards(problems, data, DECK, table)
    return table


def _check_called(problems: list[str], data: JsonDict) -> None:
    hands = validation.known_hands(data)
    called, declarer, partner = data["called"], data["declarer"], data["partner"]
    if called not in DECK.number or DECK.number[called] >= 4 * CALLABLE:
        problems.append(f"called is {called}, but only the ranks 4 to T can be called.")
        return
    holder = next((seat for seat, hand in hands.items() if called in hand), None)
    if declarer is not None and called in hands.get(declarer, ()):
        problems.append("The declarer holds the called card, but another seat must hold it.")
    if partner is not None and partner == declarer:
        problems.append("partner is the declarer, but must be another seat.")
    if holder is not None and partner != holder:
        seat = "null" if partner is None else partner
        problems.append(f"partner is {seat}, but seat {holder} holds {called}.")
