# mypy: disable-error-code="import-not-found"
"""Plays one whole game of each kind at a URL with `stich_client`, made by openapi-python-client."""

import json
import sys

from stich_client import Client, models
from stich_client.api.games import list_games
from stich_client.api.play import list_moves, make_moves, start_game, validate_move

STARTS = {
    "doudizhu": (models.DoudizhuStart, models.DoudizhuOptions),
    "dasan": (models.DasanStart, models.DasanOptions),
    "zhengfen": (models.ZhengfenStart, models.ZhengfenOptions),
    "ninefivetwo": (models.NinefivetwoStart, models.NinefivetwoOptions),
}
with Client(base_url=sys.argv[1], raise_on_unexpected_status=True) as client:
    for brief in list_games.sync(client=client).games:
        start, options = STARTS[str(brief.game)]
        body = start(game=brief.game, seed="python", options=options(deals=1))
        state = start_game.sync(client=client, body=body).state
        while str(state.phase) != "over":
            request = models.MovesRequest(state=state, details=True)
            listed = list_moves.sync(client=client, body=request)
            move = listed.moves[-1]
            assert len(listed.details) == len(listed.moves)
            check = models.ValidateRequest(state=state, move=move)
            assert validate_move.sync(client=client, body=check).legal
            advance = models.AdvanceRequest(state=state, moves=[move])
            state = make_moves.sync(client=client, body=advance).state
        line = {"game": str(brief.game), "scores": state.scores, "results": len(state.results)}
        print(json.dumps(line))
    wrong = models.DasanStart(game=models.DasanStartGame.DASAN, players=9)
    print(json.dumps({"code": str(start_game.sync(client=client, body=wrong).code)}))
