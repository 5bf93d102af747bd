"""The runner, run as a program: whatever happens to it, the standings come out the same."""

import json
import os
import signal
from pathlib import Path

import pytest

from tests.tournament import hostile
from tests.tournament.cups import all_end, bot, events, standings, started, stich, toys, write
from tournament.run.runner import server
from tournament.store.store import Store


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, object]:
    """The standings of the toy cup, run in one go, one table at a time."""
    folder = tmp_path_factory.mktemp("undisturbed")
    done = stich("run", write(folder, toys(4), concurrency=1), "--out", folder / "run")
    assert done.returncode == 0, done.stderr
    assert "toy0" in done.stdout
    return standings(folder / "run")


def test_a_cup_of_four_bots(undisturbed: dict[str, object]) -> None:
    assert undisturbed["finished"] is True
    assert (undisturbed["blocks"], undisturbed["matches"]) == (16, 48)
    assert undisturbed["deals"] == 48
    lines = undisturbed["standings"]
    assert isinstance(lines, list)
    assert {line["bot"] for line in lines} == {"toy0", "toy1", "toy2", "toy3"}
    assert all(line["matches"] == 36 for line in lines)
    assert abs(sum(line["score"] for line in lines)) < 1e-9


def test_any_concurrency_gives_the_same(tmp_path: Path, undisturbed: dict[str, object]) -> None:
    cup = write(tmp_path, toys(4), concurrency=3)
    assert stich("run", cup, "--out", tmp_path / "run").returncode == 0
    assert standings(tmp_path / "run") == undisturbed


def test_killed_again_and_again_it_ends_the_same(
    tmp_path: Path, undisturbed: dict[str, object]
) -> None:
    alive = tmp_path / "alive"
    alive.mkdir()
    cup = write(tmp_path, toys(4, str(alive)), concurrency=2)
    kept = 0
    for stop_after in (1, 5, 11):
        process = started("run", cup, "--out", tmp_path / "run", "--json")
        seen = 0
        for event in events(process):
            if event["event"] == "begin":
                assert event["done"] >= kept
            if event["event"] == "match":
                seen += 1
                if seen == stop_after:
                    process.kill()
                    break
        process.communicate()
        kept += seen
        with Store.open(tmp_path / "run") as store:
            assert store.count() >= kept
            kept = store.count()
            assert len(list(store.matches())) == kept
        all_end(int(path.name) for path in alive.iterdir())
    done = stich("run", cup, "--out", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert f"48 matches, {kept} of them done already" in done.stdout
    assert standings(tmp_path / "run") == undisturbed
    again = stich("run", cup, "--out", tmp_path / "run", "--json")
    assert [json.loads(line)["event"] for line in again.stdout.splitlines()] == ["finished"]


@pytest.mark.parametrize(
    "format_",
    [
        ['[format] type = "swiss"', "[format] rounds = 3"],
        ['[format] type = "knockout"', '[format] seeds = ["toy3"]'],
        ['[format] type = "gauntlet"', '[format] challenger = "toy2"'],
    ],
    ids=["swiss", "knockout", "gauntlet"],
)
def test_every_format_goes_on_to_the_same_end(tmp_path: Path, format_: list[str]) -> None:
    """Later rounds are drawn from the store alone, however they came into it."""
    one = write(tmp_path, toys(6), *format_, deals=1, concurrency=1)
    assert stich("run", one, "--out", tmp_path / "one").returncode == 0
    two = write(tmp_path, toys(6), *format_, deals=1, concurrency=2)
    for _ in range(3):
        process = started("run", two, "--out", tmp_path / "two", "--json")
        matches = (event for event in events(process) if event["event"] == "match")
        for _ in range(3):
            next(matches)
        process.kill()
        process.communicate()
    assert stich("run", two, "--out", tmp_path / "two").returncode == 0
    assert standings(tmp_path / "two") == standings(tmp_path / "one")
    assert stich("verify", tmp_path / "two").returncode == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_stopped_it_says_how_to_go_on(tmp_path: Path, number: signal.Signals) -> None:
    alive = tmp_path / "alive"
    alive.mkdir()
    cup = write(tmp_path, toys(3, str(alive)), deals=1000)
    process = started("run", cup, "--out", tmp_path / "run", "--json")
    next(event for event in events(process) if event["event"] == "match")
    process.send_signal(number)
    _, errors = process.communicate()
    assert process.returncode == 1
    assert f"Resume with: stich run {cup} --out {tmp_path / 'run'}" in errors
    assert "Traceback" not in errors
    all_end(int(path.name) for path in alive.iterdir())


def test_a_second_runner_is_refused(tmp_path: Path) -> None:
    cup = write(tmp_path, toys(3), deals=1000)
    process = started("run", cup, "--out", tmp_path / "run", "--json")
    next(event for event in events(process) if event["event"] == "match")
    second = stich("run", cup, "--out", tmp_path / "run")
    assert second.returncode == 1
    assert second.stderr == (
        f"{tmp_path / 'run'}: another runner is at work here (process {process.pid});"
        " wait for it, or stop it first.\n"
    )
    assert process.poll() is None
    process.kill()
    process.communicate()


def test_more_deals_and_bots_are_the_cup_that_would_have_been(tmp_path: Path) -> None:
    small, large = tmp_path / "small", tmp_path / "large"
    small.mkdir()
    large.mkdir()
    assert stich("run", write(small, toys(3), deals=2), "--out", small / "run").returncode == 0
    grown = write(small, toys(4), deals=3)
    done = stich("run", grown, "--out", small / "run")
    assert done.returncode == 0, done.stderr
    assert "6 of them done already" in done.stdout
    assert stich("run", write(large, toys(4), deals=3), "--out", large / "run").returncode == 0
    assert standings(small / "run") == standings(large / "run")


def test_a_changed_cup_is_refused_with_what_differs(tmp_path: Path) -> None:
    run = tmp_path / "run"
    assert stich("run", write(tmp_path, toys(3), deals=2), "--out", run).returncode == 0
    before = standings(run)
    bots = {**toys(2), "toy2": bot("honest")}
    done = stich("run", write(tmp_path, bots, "[faults]\nstrikes = 1", deals=1), "--out", run)
    assert done.returncode == 1
    for differs in (
        "strikes was 3 and is 1",
        "format.deals was 2 and is 1",
        'command of "toy2" was "',
    ):
        assert differs in done.stderr
    assert done.stderr.count("\n") == 1
    done = stich("run", write(tmp_path, toys(2), '[format] fill = "greedy"'), "--out", run)
    assert 'bot "toy2" is gone' in done.stderr
    assert standings(run) == before


def test_a_bot_that_dies_is_started_again_for_its_next_match(tmp_path: Path) -> None:
    bots = {"dies": bot("dies"), **toys(2)}
    assert stich("run", write(tmp_path, bots, deals=1), "--out", tmp_path / "run").returncode == 0
    with Store.open(tmp_path / "run") as store:
        for match in store.matches():
            seat = match.seating.index("dies")
            mine = [fault for fault in match.faults if fault.seat == seat]
            assert len(mine) == len(match.faults)
            assert [fault.turn for fault in mine] == [3, 4, 5][: len(mine)]
            assert {fault.kind for fault in mine} == {"unreachable"}
            assert all(fault.output == "out of luck\n" for fault in mine)
            assert match.outputs[seat] == "out of luck\n"


def test_a_bot_that_hangs_is_started_again_for_its_next_match(tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    alive.mkdir()
    cup = write(tmp_path, {"hang": bot("hang", str(alive)), **toys(2)}, deals=1)
    cup.write_text(cup.read_text().replace("move_ms = 2000", "move_ms = 50\nbank_ms = 0"))
    assert stich("run", cup, "--out", tmp_path / "run").returncode == 0
    assert len(list(alive.iterdir())) == 3  # one for each match


def test_who_floods_its_output_is_kept_to_the_end_of_it(tmp_path: Path) -> None:
    bots = {"floods": bot("floods"), **toys(2)}
    assert stich("run", write(tmp_path, bots, deals=1), "--out", tmp_path / "run").returncode == 0
    with Store.open(tmp_path / "run") as store:
        for match in store.matches():
            assert not match.faults
            assert len(match.outputs[match.seating.index("floods")]) == 64 * 1024


def test_hostile_bots_cost_the_others_nothing(tmp_path: Path) -> None:
    """The honest ones at a table of hang and deep have no fault and keep their scores."""
    bots = {"hang": bot("hang"), "deep": bot("deep"), "honest": bot("honest")}
    cup = write(tmp_path, bots, deals=1)
    cup.write_text(cup.read_text().replace("move_ms = 2000", "move_ms = 50\nbank_ms = 50"))
    assert stich("run", cup, "--out", tmp_path / "run").returncode == 0
    table = {line["bot"]: line for line in standings(tmp_path / "run")["standings"]}
    assert sum(table["honest"]["faults"].values()) == 0
    assert table["hang"]["struck_out"] == table["deep"]["struck_out"] == 3
    assert table["hang"]["faults"]["timeout"] == 9
    assert table["deep"]["faults"]["invalid"] == 9


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("no-such-program --fast", 'wrong: "no-such-program --fast" cannot be started: No such'),
        ("false", 'wrong: "false" ended with code 1 before it answered GET /.'),
        ("sleep 1000", 'wrong: "sleep 1000" did not answer GET / on 127.0.0.1:'),
        ("http://127.0.0.1:1", "wrong: nothing takes a connection at http://127.0.0.1:1 (Conn"),
        ("http://no.such.host.invalid", "wrong: its host is not known ("),
    ],
)
def test_a_bot_that_never_starts_is_told_before_the_first_match(
    tmp_path: Path, command: str, says: str
) -> None:
    cup = write(tmp_path, {**toys(2), "wrong": command})
    cup.write_text(cup.read_text().replace("[clock]", "[clock]\nstart_ms = 4000"))
    done = stich("run", cup, "--out", tmp_path / "run")
    assert done.returncode == 1
    assert done.stderr.startswith(says)
    assert done.stderr.count("\n") == 1
    with Store.open(tmp_path / "run") as store:
        assert store.count() == 0


def test_a_bot_that_does_not_play_the_game_is_told(tmp_path: Path) -> None:
    cup = write(tmp_path, toys(3))
    cup.write_text(cup.read_text().replace("doudizhu", "dasan"))
    done = stich("run", cup, "--out", tmp_path / "run")
    assert done.returncode == 1
    assert "toy0: it does not play dasan; it says that it plays doudizhu." in done.stderr


def test_bots_by_url_sit_at_one_table_at_a_time(tmp_path: Path) -> None:
    """A server that notes when two matches overlap."""
    open_matches: set[str] = set()
    overlaps = []

    def watch(connection, request) -> None:  # type: ignore[no-untyped-def]
        if request["turn"] == 1:
            open_matches.clear()
        open_matches.add(request["match"])
        overlaps.append(len(open_matches))
        hostile.first(connection, request)

    with hostile.running(watch) as url:
        cup = write(tmp_path, {"mine": url, **toys(3)}, deals=3, concurrency=3)
        assert stich("run", cup, "--out", tmp_path / "run").returncode == 0
    assert overlaps
    assert max(overlaps) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("http://h:9000", "http://h:9000/"),
        ("http://h:80/bot", "HTTP://H/bot/"),
        ("https://h:443", "https://h"),
    ],
)
def test_one_server_is_one_however_it_is_written(one: str, other: str) -> None:
    assert server(one) == server(other)
    assert server(one) != server(one + "/else")


def test_a_full_disk_is_a_sentence_and_costs_nothing_finished(tmp_path: Path) -> None:
    cup = write(tmp_path, toys(3), deals=3)
    room = tmp_path / "room"
    room.mkdir()
    if os.geteuid() != 0 or os.system(f"mount -t tmpfs -o size=300k none {room}"):
        pytest.skip("a file system of 300 KiB can only be mounted by root")
    try:
        filler = room / "filler"
        filler.write_bytes(b"x" * 100_000)
        done = stich("run", cup, "--out", room / "run")
        assert done.returncode == 1
        assert "the disk is full; what was finished is kept" in done.stderr
        assert "Traceback" not in done.stderr
        filler.unlink()
        with Store.open(room / "run") as store:
            kept = store.count()
            assert len(list(store.matches())) == kept
    finally:
        os.system(f"umount {room}")
