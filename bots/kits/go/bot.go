package main

import "strings"

// The answer to GET /.
const (
	name    = "my-go-bot"
	version = "0.1"
)

var games = []string{"doudizhu", "dasan", "zhengfen", "ninefivetwo"}

// cards returns the number of cards in a move: "play:3s3h" has two.
func cards(move string) int {
	_, after, _ := strings.Cut(move, ":")
	list, _, _ := strings.Cut(after, "=")
	return len(list) / 2
}

// choose picks one of request.Moves, exactly as written.
//
// The moves are all legal ones: "pass" first, then plays in order of number of cards and rank.
// request.View is what your seat knows. Several requests may come at once. A comment and numbers in
// info are sent with the move: info["comment"] = "a bluff", info["nodes"] = 480.
func choose(request Request, info map[string]any) (string, error) {
	view := request.View
	var plays []string
	for _, move := range request.Moves {
		if move != "pass" {
			plays = append(plays, move)
		}
	}
	switch {
	case len(plays) == 0:
		return "pass", nil
	case view.Phase == "auction" && plays[0] != "bid:1":
		return "pass", nil
	case view.Phase == "auction":
		return "bid:1", nil
	case view.Table != nil && view.Table.Seat == view.Seat:
		return "pass", nil // Zheng Fen: take my trick
	case view.Table != nil:
		return plays[0], nil // the lowest play that wins
	}
	most := plays[0]
	for _, move := range plays {
		if cards(move) > cards(most) {
			most = move
		}
	}
	return most, nil // lead as many cards as possible
}
