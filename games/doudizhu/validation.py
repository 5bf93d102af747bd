"""Semantic validation of posted positions of Dou Dizhu."""

from games import validation
from games.climbing import auction
from games.climbing.trick import Table, check_passing, read_table
from games.doudizhu.combinations import MOST_DOUBLINGS, combinations
from games.errors import InvalidState
from games.game import Game, JsonDict


def validate_position(game: Game, data: JsonDict) -> Table | None:
    """Validate a state or a view in wire form. Return the play on the table, or None.

    Raises:
        InvalidState: if the position breaks a rule. The error lists every problem.
    """
    problems: list[str] = []
    data = validation.with_valid_players(problems, game, data)
    players: int = data["players"]
    deck = game.deck(players)
    validation.check_common(problems, game, data)
    identify = combinations(players, bool(data["options"]["quad_pair_as_solos"])).identify
    table = read_table(problems, data["table"], deck, players, identify)
    if data["phase"] == "auction":
        auction.check_auction(problems, data, players - 1)
        if data["options"]["single_round"]:
            auction.check_single_round(problems, data)
    elif data["phase"] == "over" and data["declarer"] is None:
        if data["table"] is not None or data["bid"] != 0 or data["passes"] != 0:
            problems.append("After a passed-out last deal table is null, bid 0 and passes 0.")
    else:
        auction.check_declared(problems, data)
        check_passing(problems, data, table, range(players), players - 1)
    if not 0 <= data["doublings"] <= MOST_DOUBLINGS:
        problems.append(f"doublings is {data['doublings']}, not 0 to {MOST_DOUBLINGS}.")
    auction.check_cards(problems, data, deck, table)
    if problems:
        raise InvalidState(problems)
    return table
