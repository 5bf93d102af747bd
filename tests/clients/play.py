# mypy: disable-error-code="import-not-found"
"""Plays one whole game of each kind with the client made by openapi-python-client.

Usage: python play.py URL, with the generated package `stich_client` on the path.
"""

import json
import sys
from typing import Any


def main(url: str) -> None:
    """Play, and print a line for each game."""
    from stich_client import Client, models
    from stich_client.api.games import get_game, list_games
    from stich_client.api.play import list_moves, make_moves, start_game, validate_move

    starts = {
        "doudizhu": (models.DoudizhuStart, models.DoudizhuChoices),
        "dasan": (models.DasanStart, models.DasanChoices),
        "zhengfen": (models.ZhengfenStart, models.ZhengfenChoices),
        "ninefivetwo": (models.NinefivetwoStart, models.NinefivetwoChoices),
    }
    with Client(base_url=url, raise_on_unexpected_status=True) as client:
        for brief in list_games.sync(client=client).games:
            full = get_game.sync(brief.game, client=client)
            assert full.players == brief.players
            start, choices = starts[str(brief.game)]
            body: Any = start(game=brief.game, seed="python", options=choices(deals=1))
            state = start_game.sync(client=client, body=body).state
            while str(state.phase) != "over":
                moves = list_moves.sync(client=client, body=models.MovesInState(state=state)).moves
                request = models.MoveInState(state=state, move=moves[-1])
                assert validate_move.sync(client=client, body=request).legal
                advance = models.AdvanceState(state=state, moves=[moves[-1]])
                state = make_moves.sync(client=client, body=advance).state
            line = {"game": str(brief.game), "scores": state.scores, "results": len(state.results)}
            sys.stdout.write(json.dumps(line) + "\n")
        wrong = models.DasanStart(game=models.DasanStartGame.DASAN, players=9)
        problem = start_game.sync(client=client, body=wrong)
        sys.stdout.write(json.dumps({"code": str(problem.code)}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
