package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"runtime/debug"
)

// Request is the body of POST /move.
type Request struct {
	Protocol int      `json:"protocol"`
	Match    string   `json:"match"`
	Turn     int      `json:"turn"`
	View     View     `json:"view"`
	Moves    []string `json:"moves"`
	Clock    Clock    `json:"clock"`
}

// Clock is the time for this move, in milliseconds.
type Clock struct {
	MoveMs float64 `json:"move_ms"`
	BankMs float64 `json:"bank_ms"`
}

// View is what a seat may know. Fields that only some games have come last. docs/views.md
// lists all fields; add those that you use.
type View struct {
	Game    string         `json:"game"`
	Players int            `json:"players"`
	Options map[string]any `json:"options"`
	Deal    int            `json:"deal"`
	Phase   string         `json:"phase"`
	Turn    *int           `json:"turn"`
	Dealer  int            `json:"dealer"`
	Seat    int            `json:"seat"`
	Hand    []string       `json:"hand"`
	Counts  []int          `json:"counts"`
	History []Entry        `json:"history"`
	Scores  []int          `json:"scores"`

	Passes   int        `json:"passes"`   // not in 9-5-2
	Table    *Table     `json:"table"`    // the play to beat; not in 9-5-2
	Bid      int        `json:"bid"`      // Dou Dizhu, Dasan
	Declarer *int       `json:"declarer"` // Dou Dizhu, Dasan
	Talon    []string   `json:"talon"`    // not in Zheng Fen
	Called   *string    `json:"called"`   // Dasan
	Partner  *int       `json:"partner"`  // Dasan
	Out      []int      `json:"out"`      // Zheng Fen
	Targets  []int      `json:"targets"`  // 9-5-2
	Trump    *string    `json:"trump"`    // 9-5-2
	Tricks   []int      `json:"tricks"`   // 9-5-2
	Trick    any        `json:"trick"`    // Zheng Fen: cards; 9-5-2: seats and moves
	Taken    [][]string `json:"taken"`    // Zheng Fen
}

// Entry is one move of the history.
type Entry struct {
	Seat int    `json:"seat"`
	Move string `json:"move"`
}

// Table is the play to beat.
type Table struct {
	Seat     int    `json:"seat"`
	Move     string `json:"move"`
	Category string `json:"category"`
	Rank     string `json:"rank"`
	Length   int    `json:"length"`
}

// decide returns the answer to the body of POST /move. A panic in choose becomes an error.
func decide(body io.Reader) (answer any, err error) {
	// Without this, net/http would close the connection after a panic, without an answer.
	defer func() {
		if failure := recover(); failure != nil {
			debug.PrintStack()
			err = fmt.Errorf("choose panicked: %v", failure)
		}
	}()
	var request Request
	if err := json.NewDecoder(body).Decode(&request); err != nil {
		return nil, err
	}
	info := map[string]any{}
	chosen, err := choose(request, info)
	for key, value := range info {
		// A NaN or Inf cannot be written as JSON: send null, about which stich check warns.
		if _, err := json.Marshal(value); err != nil {
			info[key] = nil
		}
	}
	return map[string]any{"move": chosen, "info": info}, err
}

func handle(w http.ResponseWriter, r *http.Request) {
	status := http.StatusOK
	var body any = map[string]any{}
	switch r.Method + " " + r.URL.Path {
	case "GET /":
		body = map[string]any{"name": name, "version": version, "protocol": 1, "games": games}
	case "POST /move":
		answer, err := decide(r.Body)
		body = answer
		if err != nil {
			log.Print(err)
			status = http.StatusInternalServerError
			body = map[string]any{"error": err.Error()}
		}
	default:
		status = http.StatusNotFound
		body = map[string]any{"error": "The paths are GET / and POST /move."}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		log.Print(err)
	}
}

func main() {
	port := os.Getenv("PORT")
	if port == "" {
		port = "9000"
	}
	listener, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		log.Fatalf("%s: %v; set PORT to another port", name, err)
	}
	log.Printf("%s %s listens on http://%s", name, version, listener.Addr())
	log.Fatal(http.Serve(listener, http.HandlerFunc(handle)))
}
