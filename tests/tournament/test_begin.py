"""Beginning a run and going on with it: what may be mended, and when."""

from dataclasses import replace
from pathlib import Path

from tests.tournament import played
from tests.tournament.cups import bot, stich, toys, write
from tournament.begin import begin, differences
from tournament.config import Clock, Limits
from tournament.store import Store


def test_a_cup_that_never_played_may_be_mended(tmp_path: Path) -> None:
    run = tmp_path / "run"
    wrong = write(tmp_path, {**toys(2), "toy2": "no-such-program"}, deals=1)
    assert stich("run", wrong, "--out", run).returncode == 1
    mended = write(tmp_path, {**toys(2), "mended": bot("toy-2")}, deals=1)
    done = stich("run", mended, "--out", run)
    assert done.returncode == 0, done.stderr
    with Store.open(run) as store:
        assert store.get("bots") == ["toy0", "toy1", "mended"]
        assert store.count() == store.get("total")


def test_a_drawn_seed_stays_while_the_cup_is_mended(tmp_path: Path) -> None:
    cup = replace(played.cup(commit=True), seed=None)
    with Store.open(tmp_path / "run", create=True) as store:
        seed, _ = begin(store, cup)
        committed = store.get("commitment")
        again, _ = begin(store, replace(cup, sandbox=True, clock=Clock(7, 7, 7)))
        assert (again, store.get("commitment")) == (seed, committed)
        assert store.get("config")["sandbox"] is True
        named, _ = begin(store, replace(cup, seed="named"))
        assert named == store.get("seed") == "named"
        assert store.get("commitment") != committed
        assert begin(store, cup)[0] not in ("named", seed)


def test_what_decides_no_result_may_change_on_the_way() -> None:
    cup = played.cup()
    assert not differences(cup, replace(cup, clock=Clock(start_ms=60_000), limits=Limits(64, 99)))
    assert differences(cup, replace(cup, clock=Clock(move_ms=7)))
