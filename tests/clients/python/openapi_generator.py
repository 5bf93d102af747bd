# mypy: disable-error-code="import-not-found"
"""Plays one whole game of each kind at a URL with `openapi_client`, made by openapi-generator."""

import json
import sys

import openapi_client as stich

with stich.ApiClient(stich.Configuration(host=sys.argv[1])) as client:
    play = stich.PlayApi(client)
    for brief in stich.GamesApi(client).list_games().games:
        start = {"game": brief.game.value, "seed": "python", "options": {"deals": 1}}
        state = play.start_game(stich.StartRequest.from_dict(start)).state
        while state.actual_instance.phase != "over":
            listed = play.list_moves(stich.MovesRequest(state=state, details=True))
            assert len(listed.details) == len(listed.moves)
            move = listed.moves[-1]
            assert play.validate_move(stich.ValidateRequest(state=state, move=move)).legal
            state = play.make_moves(stich.AdvanceRequest(state=state, moves=[move])).state
        over = state.actual_instance
        print(json.dumps({"game": over.game, "scores": over.scores, "results": len(over.results)}))
    try:
        play.list_moves(stich.MovesRequest())
    except stich.ApiException as error:
        print(json.dumps({"code": json.loads(error.body)["code"]}))
