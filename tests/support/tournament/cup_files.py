GOOD = """\
name = "Spring cup"
game = "doudizhu"
players = 3
seed = "2026-spring"
[options]
deals = 1
[format]
type = "round-robin"
deals = 40
seating = "rotations"
[clock]
move_ms = 1000
bank_ms = 10000
start_ms = 10000
[faults]
strikes = 3
[run]
concurrency = 2
[[bots]]
name = "greedy"
command = "python -m bots.greedy"
[[bots]]
name = "mine"
url = "http://127.0.0.1:9000"
[[bots]]
name = "third"
command = "./third --fast"
"""

# changes of GOOD, and the one line of errors that results
WRONG = [
    (('name = "Spring cup"', ""), '1: name: is missing; write name = "…".'),
    (('game = "doudizhu"', 'game = "doudizuh"'), '2: game: unknown: "doudizuh"; did you mean "dou'),
    (("players = 3", 'players = "3"'), "3: players: must be an integer, not a string; write a"),
    (("players = 3", "plyers = 3"), '3: plyers: unknown key; did you mean "players"?'),
    (('seed = "2026-spring"', 'seed = ""'), "4: seed: must have 1 to 128 characters, not 0; write"),
    (('seed = "2026-spring"', "move_ms = 3"), "4: move_ms: unknown key; it belongs in [clock];"),
    (("[options]", "[optoins]"), '5: optoins: unknown key; did you mean "options"?'),
    (("deals = 1\n", "target = 1\n"), "6: options.target: Dou Dizhu has no such option; there"),
    (('"round-robin"', '"swis"'), '8: format.type: unknown: "swis"; did you mean "swiss"?'),
    (("move_ms = 1000", "move = 1000"), '12: clock.move: unknown key; did you mean "move_ms"?'),
    (('name = "mine"\n', ""), '22: bots[2].name: is missing; write name = "…".'),
    (("./third --fast", ""), "27: bots[3].command: must not be empty; write one like"),
    ((":9000", ':9000"\ntoken = "a b'), "25: bots[2].token: must have 1 to 1000 letters, digits a"),
    (("./third --fast", './third"\ndir = "" #"'), "28: bots[3].dir: must be the path of a folder"),
    (("./third --fast", './third"\nenv = { A = 1 } #"'), "28: bots[3].env: A must be a string"),
    (("./third --fast", './third"\nenv = { PORT = "1" } #"'), "28: bots[3].env: must not set PORT"),
    (("./third --fast", './third"\nenv = { "A-B" = "" } #"'), '28: bots[3].env: has "A-B"; name'),
    (("./third --fast", './third"\nenv_from = ["PORT"] #"'), "28: bots[3].env_from: must not set"),
    (("./third --fast", './third"\nenv_from = [1] #"'), "28: bots[3].env_from: must be an array o"),
    (("[clock]", "[stop]\ntop = 1\nconfidence = 1.5\n[clock]"), "13: stop.confidence: must be fro"),
]
# the same with changes that only `stich run` can find
BEYOND_SCHEMAS = [
    (("players = 3", "players = 5"), "3: players: Dou Dizhu is for 3 to 4, not 5; write 3."),
    (("players = 3", "players = 4"), "19: bots: 3 are too few for tables of 4; add 1, or fill the"),
    (('seed = "2026-spring"', "seed = 2026-01-01"), "4: seed: must be a string, not a date or tim"),
    (('"round-robin"', '"gauntlet"'), "7: format.challenger: is missing; write challenger"),
    (('"round-robin"', '"gauntlet"\nchallenger = "grедy"'), "9: format.challenger: there is no"),
    (("deals = 40", "rounds = 4"), '9: format.rounds: is for type = "swiss", not "round-robin";'),
    (("concurrency = 2", 'referee = "localhost"'), "18: run.referee: is not the URL of a server"),
    (('name = "mine"', 'name = "greedy"'), '23: bots[2].name: bot 1 is "greedy" too; rename one.'),
    (('name = "mine"', 'name = "Greedy"'), '23: bots[2].name: looks like "greedy", the name of bo'),
    (('name = "mine"', 'name = "a\\u001b"'), "23: bots[2].name: must not have control characters"),
    (('"http://127.0.0.1:9000"', '"http://x:99999"'), "24: bots[2].url: is not the URL of a serve"),
    (('"http://127.0.0.1:9000"', '"http://a..b"'), "24: bots[2].url: is not the URL of a server"),
    (('"http://127.0.0.1:9000"', '"http://[1:2]"'), "24: bots[2].url: is not the URL of a server"),
    (('"http://127.0.0.1:9000"', '"http://x/?a=b"'), "24: bots[2].url: is not the URL of a server"),
    (('command = "./third --fast"', ""), "25: bots[3].command: is missing; write a command or a"),
    (("./third --fast", "./third 'x"), "27: bots[3].command: cannot be split into words (No closi"),
    (("./third --fast", './third"\nurl = "http://x'), "28: bots[3].url: is given as well as"),
    (('url = "http://127.0.0.1:9000"', "connect = false"), "22: bots[2].command: is missing; writ"),
    (("./third --fast", './third"\ntoken = "abc" #"'), "28: bots[3].token: is for a bot by url on"),
    (("./third --fast", './third"\nmax_matches = 2 #"'), "28: bots[3].max_matches: is for a bot"),
    (("[clock]", "[stop]\ntop = 3\n[clock]"), "12: stop.top: must be less than the number of bots"),
    (("[clock]", "[stop]\nconfidence = 0.9\n[clock]"), "11: stop.top: is missing; write how many"),
    (("players = 3", ".".join(["players"] * 1500) + " = 3"), "3: players: must be an integer, not"),
    (("strikes = 3", f"{'x' * 5000} = 1"), f"16: faults.{'x' * 59}…: unknown key; there"),
    (('seed = "2026-spring"', "commit = yes"), "4: commit: is not valid TOML: "),
    (("[clock]", "[clock"), "11: clock: is not valid TOML: "),
    (("[run]", "[clock]"), "17: clock: is not valid TOML: Cannot declare"),
    (("bank_ms", "move_ms"), "13: clock.move_ms: is not valid TOML: "),
    (('"rotations"', '"rotations'), "10: format.seating: is not valid TOML: "),
    (("deals = 40", "seeds = ["), "9: format.seeds: is not valid TOML: "),
    (("deals = 40", "deals: 40"), "9: TOML: is not valid TOML: "),
    (("./third --fast", ".\\qhird"), "27: bots[3].command: is not valid TOML: "),
    (("players = 3", "players = " + "9" * 5000), "3: players: has a number that is too long, or"),
    (("deals = 1\n", "deals = " + "[" * 5000), "6: options.deals: has a number that is too long, "),
]
