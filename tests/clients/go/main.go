// Plays one whole game of each kind at a URL with the Go client made by openapi-generator.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	stich "github.com/GIT_USER_ID/GIT_REPO_ID"
)

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func show(line map[string]any) {
	text, err := json.Marshal(line)
	check(err)
	fmt.Println(string(text))
}

func start(game string, deals int32) stich.StartRequest {
	switch game {
	case "doudizhu":
		request := stich.NewDoudizhuStart(game)
		request.SetOptions(stich.DoudizhuOptions{Deals: &deals})
		return stich.DoudizhuStartAsStartRequest(request)
	case "dasan":
		request := stich.NewDasanStart(game)
		request.SetOptions(stich.DasanOptions{Deals: &deals})
		return stich.DasanStartAsStartRequest(request)
	case "zhengfen":
		request := stich.NewZhengfenStart(game)
		options := stich.NewZhengfenOptions()
		options.SetDeals(deals)
		request.SetOptions(*options)
		return stich.ZhengfenStartAsStartRequest(request)
	}
	request := stich.NewNinefivetwoStart(game)
	request.SetOptions(stich.NinefivetwoOptions{Deals: &deals})
	return stich.NinefivetwoStartAsStartRequest(request)
}

// position is what all states have.
type position struct {
	Phase   string  `json:"phase"`
	Scores  []int64 `json:"scores"`
	Results []any   `json:"results"`
}

func common(state stich.State) position {
	text, err := json.Marshal(state)
	check(err)
	var found position
	check(json.Unmarshal(text, &found))
	return found
}

func main() {
	configuration := stich.NewConfiguration()
	configuration.Servers = stich.ServerConfigurations{{URL: os.Args[1]}}
	client, all := stich.NewAPIClient(configuration), context.Background()
	games, _, err := client.GamesAPI.ListGames(all).Execute()
	check(err)
	for _, game := range games.Games {
		begun, _, err := client.PlayAPI.StartGame(all).StartRequest(start(string(game.Game), 1)).Execute()
		check(err)
		state := begun.State
		for common(state).Phase != "over" {
			listing := stich.NewMovesRequest()
			listing.SetState(state)
			listing.SetDetails(true)
			listed, _, err := client.PlayAPI.ListMoves(all).MovesRequest(*listing).Execute()
			check(err)
			move := listed.Moves[len(listed.Details)-1]
			checking := stich.NewValidateRequest(move)
			checking.SetState(state)
			verdict, _, err := client.PlayAPI.ValidateMove(all).ValidateRequest(*checking).Execute()
			check(err)
			if !verdict.Legal {
				check(fmt.Errorf("%s is illegal", move))
			}
			making := stich.NewAdvanceRequest(state, []string{move})
			made, _, err := client.PlayAPI.MakeMoves(all).AdvanceRequest(*making).Execute()
			check(err)
			state = made.State
		}
		over := common(state)
		show(map[string]any{"game": game.Game, "scores": over.Scores, "results": len(over.Results)})
	}
	_, _, err = client.PlayAPI.StartGame(all).StartRequest(start("dasan", 2000)).Execute()
	refused, ok := err.(*stich.GenericOpenAPIError)
	if !ok {
		check(fmt.Errorf("a wrong start was not refused: %w", err))
	}
	show(map[string]any{"code": refused.Model().(stich.Problem).Code})
}
