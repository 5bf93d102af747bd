"""Semantic validation of posted positions of Dou Dizhu."""

from games.climbing import auction
from games.climbing.trick import check_passing, read_table
from games.doudizhu.combinations import DECKS, MOST_DOUBLINGS, combinations
from games.game import JsonDict
from games.position import Table


def check_position(problems: list[str], data: JsonDict) -> Table | None:
    """Check a position of Dou Dizhu, and add a sentence to `problems` for each problem.

    Return the play on the table, or None if there is none or it is not valid. The number of players
    must be allowed.
    """
    players: int = data["players"]
    deck = DECKS[players]
    identify = combinations(players, bool(data["options"]["quad_pair_as_solos"])).identify
    table = read_table(problems, data["table"], deck, players, identify)
    if data["phase"] == "auction":
        auction.check_auction(problems, data, players - 1)
    elif data["phase"] == "over" and data["declarer"] is None:
        if data["table"] is not None or data["bid"] != 0 or data["passes"] != 0:
            problems.append("After a passed-out last deal table is null, bid 0 and passes 0.")
    else:
        auction.check_declared(problems, data)
        check_passing(problems, data, table, range(players), players - 1)
    if not 0 <= data["doublings"] <= MOST_DOUBLINGS:
        problems.append(f"doublings is {data['doublings']}, not 0 to {MOST_DOUBLINGS}.")
    auction.check_cards(problems, data, deck, table)
    return table
